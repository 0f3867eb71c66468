"""The tables and answers of the Python package dagtap, without any other package: rows equal CSV's,
answers are the JSON of the command, and memory belongs to who holds it. Under AddressSanitizer,
too. Other projects' readers are in tests/conformance."""

import gc
import html.parser
import json
import os
import pathlib
import subprocess
import types
import unittest
import warnings

from table_csv import BUILD, RECORDINGS, describe, expect_csv

import dagtap
from dagtap import _arrow, _tables

WORK = pathlib.Path(os.environ["TMPDIR"])
JAX = RECORDINGS[1]


def take_stream(capsule):
    """What a reader does: moves the struct out of the capsule."""
    inside = _arrow.ArrowArrayStream.from_address(
        _arrow._get_pointer(id(capsule), b"arrow_array_stream")
    )
    assert inside.release
    taken = _arrow.ArrowArrayStream.from_buffer_copy(inside)
    inside.release = None
    return taken


class Tables(unittest.TestCase):
    def test_rows_equal_csv(self):
        for recording in RECORDINGS:
            for name, table in dagtap.open(recording).tables.items():
                with self.subTest(recording=recording.name, table=name):
                    expect_csv(self, recording, name, [list(row.values()) for row in table])

    def test_have_names_and_attributes(self):
        recording = dagtap.open(JAX)
        self.assertEqual(list(recording.tables), list(describe()))
        self.assertEqual(recording.tables.calls.columns, describe()["calls"])
        self.assertEqual(recording["calls"].name, "calls")
        self.assertIn("calls", dir(recording.tables))
        self.assertIn("graph_nodes", repr(recording.tables))
        self.assertIn("duration_ns", repr(recording["calls"]))
        self.assertIn("344 activities", repr(recording))

    def test_selected_columns_in_their_order(self):
        recording = dagtap.open(JAX)
        selected = recording["calls"].select("api", "cid")
        self.assertEqual([column.name for column in selected.columns], ["api", "cid"])
        self.assertEqual(
            [(row["api"], row["cid"]) for row in recording["calls"]],
            [tuple(row.values()) for row in selected],
        )

    def test_what_is_not_there_is_named(self):
        recording = dagtap.open(JAX)
        with self.assertRaisesRegex(KeyError, "no table 'kernels'; there are activities, calls"):
            recording["kernels"]
        with self.assertRaisesRegex(AttributeError, "no table 'kernels'; there are activities"):
            recording.tables.kernels
        with self.assertRaisesRegex(KeyError, "calls has no column 'x'; it has process, thread"):
            recording["calls"].select("api", "x")


class Memory(unittest.TestCase):
    """Under AddressSanitizer, what is freed too early or twice ends the test."""

    def count(self, stream):
        try:
            return sum(1 for _ in _arrow.read_rows(stream))
        finally:
            _arrow.release(stream)

    def test_streams_outlive_the_recording(self):
        recording = dagtap.open(JAX)
        table = recording["calls"]
        rows = iter(table)
        first = next(rows)
        stream = take_stream(table.__arrow_c_stream__())
        del recording, table
        gc.collect()
        self.assertEqual(self.count(stream), 5107)
        self.assertEqual(first["process"], 1312)
        self.assertEqual(sum(1 for _ in rows), 5106)

    def test_streams_that_nobody_takes(self):
        table = dagtap.open(JAX)["calls"]
        for _ in range(3):
            table.__arrow_c_stream__()
            table.__arrow_c_schema__()
        rows = iter(table)
        next(rows)
        del rows, table
        gc.collect()

    def test_a_stream_that_was_taken_is_not_released_again(self):
        capsule = dagtap.open(JAX)["calls"].__arrow_c_stream__()
        stream = take_stream(capsule)
        del capsule
        gc.collect()
        self.assertEqual(self.count(stream), 5107)
        self.assertIsNone(stream.release)

    def test_capsules_at_the_interpreter_end(self):
        """They end after the modules."""
        program = (
            "import dagtap, builtins\n"
            f"table = dagtap.open({str(JAX)!r})['calls']\n"
            "builtins.kept = table.__arrow_c_stream__(), table.__arrow_c_schema__(), iter(table)\n"
            "next(builtins.kept[2])\n"
        )
        done = subprocess.run(
            ["python3", "-B", "-c", program],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(dagtap.__file__))},
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Html(html.parser.HTMLParser):
    """Collects texts, and fails on tags that do not fit."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)


def command(*words):
    done = subprocess.run([BUILD / "bin" / "dagtap", *words], capture_output=True, check=False)
    return json.loads(done.stdout)


class Answers(unittest.TestCase):
    def setUp(self):
        self.recording = dagtap.open(JAX)

    def test_are_what_the_command_prints(self):
        ask = self.recording
        for answer, words in [
            (ask.summary(), ["summary"]),
            (
                ask.summary(by="scope", kernel="*gemm*"),
                ["summary", "--by", "scope", "--kernel=*gemm*"],
            ),
            (
                ask.summary(from_="10ms", to=67114391799),
                ["summary", "--from=10ms", "--to=67114391799"],
            ),
            (ask.check(), ["check"]),
            (ask.path(), ["path"]),
            (ask.path(scope="XlaModule*", nth=2), ["path", "--scope=XlaModule*", "--nth=2"]),
            (ask.graph(sort="max", top=3), ["graph", "--sort=max", "--top=3"]),
            (ask.scopes(), ["scopes"]),
            (ask.gaps(limit=3, stream=1), ["gaps", "--limit=3", "--stream=1"]),
            (ask.memory(), ["memory"]),
        ]:
            with self.subTest(words=words):
                self.assertEqual(dict(answer), command(*words, "--json", str(JAX)))
        self.assertEqual(
            dict(ask.scopes("XlaModule*", nth=1)),
            command("scopes", "--json", "--nth=1", str(JAX), "XlaModule*"),
        )

    def test_show_their_tables(self):
        ask = self.recording
        shown = [
            (ask.summary(), ["loop_add_fusion", "30.7 us", "copy device to device", "7.33 MiB"]),
            (ask.check(), ["cuda.call", "5,107", "nodes x launches", "1312"]),
            (ask.path(), ["host_call", "88.4 ms"]),
            (ask.graph(), ["confidence", "21.4 us"]),
            (ask.scopes("XlaModule*"), ["XlaModule:#hlo_module=jit__normal,program_id=5#"]),
            (ask.gaps(), ["245 ms", "copy D2D"]),
            (ask.memory(), ["cudaMalloc", "64.0 MiB"]),
        ]
        for answer, texts in shown:
            with self.subTest(command=answer.command):
                parser = Html()
                parser.feed(answer._repr_html_())
                self.assertEqual(parser.open, [])
                for text in texts:
                    self.assertIn(text, repr(answer))
                    self.assertIn(text, parser.texts)
        for table in self.recording.tables.values():
            Html().feed(table._repr_html_())

    def test_names_are_escaped(self):
        answer = dagtap.Answer("summary", {"file": "<a>", "kernels": [{"name": "f<int>(&x)"}]})
        parser = Html()
        parser.feed(answer._repr_html_())
        self.assertIn("f<int>(&x)", parser.texts)

    def test_rows_that_are_not_shown_are_counted(self):
        answer = self.recording.scopes()
        left_out = len(answer["groups"]) - 20
        self.assertIn(f"... and {left_out} more", repr(answer))
        self.assertIn(f"... and {left_out} more", answer._repr_html_())


class Errors(unittest.TestCase):
    def write(self, content):
        path = WORK / "file.dagtap"
        path.write_bytes(content)
        return path

    def test_file_that_is_not_there(self):
        with self.assertRaises(FileNotFoundError) as raised:
            dagtap.open(WORK / "absent.dagtap")
        self.assertIsInstance(raised.exception, dagtap.NotFoundError)
        self.assertIn("absent.dagtap: No such file", str(raised.exception))

    def test_file_that_cannot_be_read(self):
        with self.assertRaisesRegex(dagtap.Error, "file.dagtap: .*neither a .dagtap nor") as raised:
            dagtap.open(self.write(b"hello, world"))
        self.assertEqual(raised.exception.offset, 0)

    def test_file_of_statistics(self):
        path = self.write(b'{"dagstats": 1, "error": 0.01}\n')
        with self.assertRaisesRegex(dagtap.Error, "file.dagtap: statistics of .*; dagtap stats reads"):
            dagtap.open(path)

    def test_cut_file(self):
        content = JAX.read_bytes()
        with self.assertRaisesRegex(
            dagtap.Error, f"cut off here: the header says {len(content)} bytes; copy it again"
        ):
            dagtap.open(self.write(content[:-100]))

    def test_damaged_file(self):
        """What is left is given, and the answers say so."""
        content = bytearray(JAX.read_bytes())
        content[len(content) * 6 // 10] ^= 0xFF
        recording = dagtap.open(self.write(content))
        with self.assertWarnsRegex(dagtap.DamageWarning, "file.dagtap: damaged"):
            recording.summary()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertFalse(recording.check()["ok"])
        self.assertFalse(recording.is_accounted_for)

    def test_question_about_a_file_that_is_gone(self):
        path = self.write(JAX.read_bytes())
        recording = dagtap.open(path)
        path.unlink()
        self.assertEqual(sum(1 for _ in recording["streams"]), 27)
        with self.assertRaisesRegex(dagtap.NotFoundError, "file.dagtap: is gone"):
            recording.summary()

    def test_option_that_is_wrong(self):
        recording = dagtap.open(JAX)
        with self.assertRaisesRegex(ValueError, '--by takes kernel, .* not "foo"'):
            recording.summary(by="foo")
        with self.assertRaisesRegex(dagtap.Error, "nothing in it is what the options select"):
            recording.summary(kernel="absent")

    def test_export(self):
        recording, path = dagtap.open(JAX), WORK / "calls.csv"
        recording.export("csv", path, table="calls")
        self.assertEqual(len(path.read_text().splitlines()), 5108)
        with self.assertRaises(FileExistsError) as raised:
            recording.export("csv", path)
        self.assertIsInstance(raised.exception, dagtap.ExistsError)
        recording.export("csv", path, replace=True)
        self.assertEqual(len(path.read_text().splitlines()), 345)
        with self.assertRaisesRegex(ValueError, 'no format "x"; formats are perfetto, '):
            recording.export("x", path)
        with self.assertRaisesRegex(ValueError, 'csv has no table "x"'):
            recording.export("csv", path, table="x")

    def test_export_onto_the_input(self):
        """The file that was read is never replaced, under whatever name."""
        path = self.write(JAX.read_bytes())
        recording, link = dagtap.open(path), path.with_name("link.pb")
        link.unlink(missing_ok=True)
        os.link(path, link)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(WORK)
        for output in (path, link, path.name):
            with self.assertRaisesRegex(dagtap.Error, "is the input"):
                recording.export("csv", output, replace=True)
            # what dagtap.parquet checks
            with self.assertRaisesRegex(dagtap.Error, "is the input"):
                _tables.keep_input(recording["calls"], str(output))
        self.assertEqual(path.read_bytes(), JAX.read_bytes())
        _tables.keep_input(recording["calls"], str(WORK / "absent"))

    def test_export_after_a_rename(self):
        """The file that was read is kept under its new name, and its old name is free."""
        path = self.write(JAX.read_bytes())
        recording, moved = dagtap.open(path), path.with_name("moved.pb")
        path.rename(moved)
        self.addCleanup(moved.unlink)
        path.write_text("other")
        with self.assertRaisesRegex(dagtap.Error, "is the input"):
            recording.export("csv", moved, replace=True)
        with self.assertRaisesRegex(dagtap.Error, "is the input"):
            _tables.keep_input(recording["calls"], str(moved))
        self.assertEqual(moved.read_bytes(), JAX.read_bytes())
        _tables.keep_input(recording["calls"], str(path))
        recording.export("csv", path, replace=True)

    def test_file_of_the_folder_that_was_read(self):
        folder = WORK / "run.spool"
        folder.mkdir()
        (folder / "1.1.spool").touch()
        os.link(folder / "1.1.spool", WORK / "linked.spool")
        trace = types.SimpleNamespace(file=str(folder), input=os.stat(folder))
        table = types.SimpleNamespace(_trace=trace)
        for output in (folder, WORK / "linked.spool"):
            with self.assertRaisesRegex(dagtap.Error, "is the input"):
                _tables.keep_input(table, str(output))
        for output in (folder / "1.1.spool", folder / "new", folder / "deep" / ".." / "new"):
            with self.assertRaisesRegex(dagtap.Error, "is inside the input"):
                _tables.keep_input(table, str(output))
        _tables.keep_input(table, str(WORK / "new"))
        _tables.keep_input(table, str(folder / ".." / "new"))

    def test_installation_that_is_not_there(self):
        program = "import dagtap; dagtap.open('x')"
        done = subprocess.run(
            ["python3", "-B", "-c", program],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": os.path.dirname(os.path.dirname(dagtap.__file__)),
                "DAGTAP_PREFIX": "/nowhere",
            },
            check=False,
        )
        self.assertIn("/nowhere/lib/libdagtap-trace.so.0: cannot be loaded", done.stderr)
        self.assertIn("DAGTAP_PREFIX", done.stderr)


if __name__ == "__main__":
    unittest.main()
