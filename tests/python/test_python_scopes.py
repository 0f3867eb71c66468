"""Scopes, steps and ranges of the Python package dagtap, in programs on the software GPU that run
under `dagtap record` and without it; read back with the package."""

import asyncio
import collections
import json
import os
import pathlib
import subprocess
import sys
import unittest

import dagtap

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
WORK = pathlib.Path(os.environ["TMPDIR"])
PROGRAM = pathlib.Path(__file__).with_name("scoped.py")


def run(what, *options):
    """The recording, if OPTIONS are given, and what the program says of itself."""
    dagtap_command, out, result = BUILD / "bin" / "dagtap", WORK / "out.dagtap", WORK / "result"
    words = [sys.executable, "-B", PROGRAM, what]
    if options:
        words = [dagtap_command, "record", "--softgpu", *options, "-f", "-o", out, "--", *words]
    else:
        words = [dagtap_command, "softgpu", "--", *words]
    done = subprocess.run(
        words,
        env={**os.environ, "RESULT": str(result)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        raise unittest.SkipTest("no HIP runtime")
    if done.returncode:
        raise AssertionError(done.stderr)
    return dagtap.open(out) if options else None, json.loads(result.read_text())


def kernels_by(recording, column):
    kernels = (row for row in recording["activities"] if row["kind"] == "kernel")
    return collections.Counter(row[column] for row in kernels)


class Scopes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recording, cls.said = run("scopes", "--calls=selected")
        cls.rows = {row["scope_id"]: row for row in cls.recording["scopes"]}

    def only(self, name):
        (found,) = [row for row in self.rows.values() if row["text"] == name]
        return found

    def test_work_belongs_to_its_scope(self):
        self.assertEqual(
            kernels_by(self.recording, "scope"),
            {"forward": 2, "update": 2, "train/nul\ufffd ?": 4, "raises": 2, "outer/inner": 2},
        )

    def test_attributes_keep_their_types(self):
        scope = self.only("forward")
        found = {
            row["key"]: (row["kind"], row["int64"], row["uint64"], row["double"], row["text"])
            for row in self.recording["scope_attributes"]
            if row["scope_id"] == scope["scope_id"]
        }
        self.assertEqual(
            found,
            {
                "layer": ("int64", 3, None, None, None),
                "rate": ("double", None, None, 0.5, None),
                "kind": ("text", None, None, None, "gelu"),
                "on": ("int64", 1, None, None, None),
                "big": ("uint64", None, 2**64 - 1, None, None),
            },
        )

    def test_steps_have_their_numbers(self):
        steps = [row for row in self.rows.values() if row["scope"] == "train"]
        self.assertEqual([row["kind"] for row in steps], ["step", "step"])
        numbers = [
            row["int64"] for row in self.recording["scope_attributes"] if row["key"] == "step_num"
        ]
        self.assertEqual(numbers, [0, 1])
        inside = [row["parent_id"] for row in self.rows.values() if row["text"] == "nul\ufffd ?"]
        self.assertEqual(inside, [row["scope_id"] for row in steps])

    def test_work_of_another_thread_belongs_to_the_path(self):
        inner, outer = self.only("inner"), self.only("outer")
        self.assertEqual(inner["parent_id"], outer["scope_id"])
        self.assertNotEqual(inner["thread"], outer["thread"])

    def test_scopes_close(self):
        self.assertEqual([row["scope"] for row in self.rows.values() if row["open"]], [])

    def test_functions_stay_what_they_are(self):
        self.assertEqual(self.said, [3, "update", "Two kernels more.", "through", 1, True])

    def test_notes(self):
        texts = [message["text"] for message in self.recording.check()["messages"]]
        self.assertIn("a line of the program", texts)


class Graphs(unittest.TestCase):
    def test_replays_have_both_scopes(self):
        recording, _ = run("graph", "--calls=selected")
        self.assertEqual(kernels_by(recording, "scope"), {"capture": 6})
        self.assertEqual(kernels_by(recording, "launch_scope"), {"replay": 6})


class Ranges(unittest.TestCase):
    def test_record_parts_of_a_run(self):
        recording, said = run("ranges", "--wait")
        first, second = ["in the first"] * 2, ["in the second"] * 4 + [None] * 2
        self.assertEqual(said[:2], [[True, first, True], [True, second, True]])
        self.assertIn("not recorded: it is not over, is inside of another one", said[2])
        self.assertEqual(
            kernels_by(recording, "scope"), {"in the first": 2, "in the second": 4, None: 2}
        )
        self.assertTrue(recording.is_accounted_for)

    def test_process_that_is_not_recorded(self):
        _, said = run("nothing")
        warned, category, file, refused, reason, is_recording, path, has_library = said
        self.assertEqual(len(warned), 1)
        self.assertIn("start it as `dagtap record --wait", warned[0])
        self.assertEqual((category, file), ("NotRecordedWarning", "scoped.py"))
        self.assertIn("start it as `dagtap record --wait", refused)
        self.assertIn("start it as `dagtap record --wait", reason)
        self.assertEqual([is_recording, path, has_library], [False, [], False])


class Decorators(unittest.TestCase):
    def test_functions_that_leave_their_thread_are_refused(self):
        async def coroutine():
            pass

        def generator():
            yield

        async def both():
            yield

        for function in coroutine, generator, both:
            with self.assertRaisesRegex(
                TypeError, f"{function.__name__}: a scope cannot be around"
            ):
                dagtap.scope("name")(function)
        asyncio.run(coroutine())

    def test_names_that_attributes_may_have(self):
        self.assertEqual(
            repr(dagtap.scope("a", name=1, self=2)), "dagtap.scope('a', name=1, self=2)"
        )


if __name__ == "__main__":
    unittest.main()
