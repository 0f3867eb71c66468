"""dagtap.torch: schedules and files without PyTorch; names of modules and operators with it, if the
Python that TORCH_PYTHON names (this one by default) has it. On the CPU: what the GPU's work belongs
to is checked in test_python_scopes.py."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import dagtap
import dagtap.torch

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
WORK = pathlib.Path(os.environ["TMPDIR"])
PROGRAM = pathlib.Path(__file__).with_name("torched.py")


def run(what, *options, python=sys.executable):
    """What the program says of itself; and its recording is out.dagtap, if it has OPTIONS."""
    words = [python, "-B", PROGRAM, what]
    if options:
        out = WORK / "out.dagtap"
        words = [BUILD / "bin" / "dagtap", "record", *options, "-f", "-o", out, "--", *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search("^result:(.*)$", done.stdout, re.M)
    if not found:
        raise AssertionError(done.stdout + done.stderr)
    return json.loads(found[1])


class Profile(unittest.TestCase):
    def test_hands_over_the_parts_of_a_schedule(self):
        """As torch.profiler.profile: each part after its last step, with the number of the next;
        the last one at the end; and none where RECORD ends without RECORD_AND_SAVE."""
        cycles, pairs, singles, cut, open_ended, none = run("schedules", "--wait")
        self.assertEqual(cycles, [[4, [2, 3]], [8, [6, 7]]])
        self.assertEqual(pairs, [[2, [0, 1]], [3, [2, 3]]])
        self.assertEqual(singles, [[1, [0]], [2, [1]]])
        self.assertEqual([cut, none], [[], []])
        self.assertEqual(open_ended, [[2, [1, 2]]])

    def test_writes_files(self):
        file, scopes, recorded = run("files", "--wait")
        self.assertRegex(file, r"^worker\.\d+\.pt\.trace\.json\.gz$")
        self.assertEqual(recorded, ["work", "work"])
        self.assertEqual(scopes, recorded)

    def test_process_that_is_not_recorded(self):
        calls, reason, has_torch = run("nothing")
        self.assertEqual((calls, has_torch), ([], False))
        self.assertIn("dagtap record --wait", reason)


class WithTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        python = os.environ.get("TORCH_PYTHON", sys.executable)
        probe = [python, "-c", "from torch.compiler import is_compiling"]
        if subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode:
            raise unittest.SkipTest("no PyTorch 2.1")
        cls.likeness = run("likeness", "--wait", python=python)
        cls.has_observer = run("model", "--wait", python=python)
        recording = cls.recording = dagtap.open(WORK / "out.dagtap")
        cls.rows = {row["scope_id"]: row for row in recording["scopes"]}
        cls.attributes = {}
        for row in recording["scope_attributes"]:
            cls.attributes.setdefault(row["scope_id"], {})[row["key"]] = row["text"]

    def inside(self, name):
        """The paths of the scopes in that one."""
        (root,) = [key for key, row in self.rows.items() if row["text"] == name]
        paths = {root: ""}
        for key, row in self.rows.items():
            if row["parent_id"] in paths:
                paths[key] = f"{paths[row['parent_id']]}/{row['text']}"
        del paths[root]
        return paths

    def test_schedules_are_those_of_torch(self):
        self.assertEqual(self.likeness[::2], self.likeness[1::2])
        self.assertEqual(self.likeness[0], [4, 8])

    def test_modules_have_scopes(self):
        paths = self.inside("first")
        block = ["", "/norm", "/layers.0", "/layers.1"]
        self.assertEqual(
            list(paths.values()),
            ["/net"] + [f"/net/blocks.{n}{module}" for n in range(2) for module in block],
        )
        found = {path: self.attributes[key] for key, path in paths.items()}
        self.assertEqual(
            found["/net/blocks.1/layers.0"],
            {"module": "Linear", "path": "blocks.1.layers.0", "input_dims": "[[2, 4]]"},
        )
        self.assertEqual(
            found["/net/blocks.1"],
            {"module": "Block", "path": "blocks.1", "input_dims": "[[2, 4], [1]]"},
        )

    def test_exception_closes_the_scopes(self):
        (after,) = [row for row in self.rows.values() if row["text"] == "after the exception"]
        self.assertIsNone(after["parent_id"])
        self.assertEqual([row for row in self.rows.values() if row["open"]], [])

    def test_removed_hooks_open_nothing(self):
        self.assertEqual(self.inside("removed"), {})

    def test_operators_have_scopes(self):
        paths = self.inside("operators")
        found = {path: self.attributes[key]["input_dims"] for key, path in paths.items()}
        self.assertEqual(found["/aten::addmm"], "[[4], [2, 4], [4, 4]]")
        (addmm,) = [key for key, path in paths.items() if path == "/aten::addmm"]
        self.assertEqual(self.attributes[addmm]["input_types"], '["float", "float", "float"]')
        self.assertEqual(self.attributes[addmm]["input_strides"], "[[1], [4, 1], [1, 4]]")
        (expand,) = [key for key, path in paths.items() if path == "/aten::expand"]
        self.assertEqual(self.attributes[expand]["concrete_inputs"], '["", "[2, 4]"]')
        self.assertIn("/aten::mm", found)  # of backward

    def test_observer_sees_operators_and_record_function(self):
        """A PyTorch for CPUs alone has operators() instead."""
        paths = self.inside("observed")
        names = [path.rpartition("/")[2].partition(", ")[0] for path in paths.values()]
        self.assertIn("net", names)
        self.assertIn("aten::addmm", names)
        if not self.has_observer:
            return
        self.assertIn("mine", names)
        layer, *_ = [key for key, path in paths.items() if path.endswith("blocks.1/layers.0")]
        (linear,) = [key for key in paths if self.rows[key]["parent_id"] == layer]
        self.assertEqual(self.attributes[linear]["sizes"], "[[2, 4], [4, 4], [4]]")

    def test_backward_is_linked_to_the_module_of_forward(self):
        if not self.has_observer:
            self.skipTest("this PyTorch has no observer")
        paths = self.inside("observed")
        links = dagtap.torch.list_forward_scopes(self.recording)
        found = [
            (self.name(backward), paths[forward])
            for backward, forward in links.items()
            if self.name(backward) in ("AddmmBackward0", "ReluBackward0")
        ]
        operators = [(node, path.rpartition("/")[2].partition(",")[0]) for node, path in found]
        self.assertEqual(
            sorted(operators),
            2 * [("AddmmBackward0", "aten::addmm")] + 2 * [("ReluBackward0", "aten::relu")],
        )
        # The engine's own work, such as the sum over a bias's gradient, is beside the operator.
        for backward, forward in links.items():
            if self.name(backward) == "AddmmBackward0":
                self.assertEqual(links[self.rows[backward]["parent_id"]], forward)
        for (node, path), block in zip(sorted(found), (0, 1, 0, 1)):
            self.assertIn(f"blocks.{block}/layers.{int(node == 'ReluBackward0')}/", path)

    def name(self, scope):
        return self.rows[scope]["text"].partition(",")[0]


class Kernels(unittest.TestCase):
    def test_each_replayed_kernel_has_operator_shapes_and_module(self):
        """The recording of a GPU in tests/data: 65 kernels run eagerly and in 50 replays of a
        graph, under operators() and annotate(); 50 of another graph under emit_nvtx."""
        recording = dagtap.open(pathlib.Path(__file__).parents[1] / "data/torch-operators.dagtap")
        rows = [row for row in dagtap.torch.list_kernels(recording) if row.kind == "kernel"]
        replayed = [row for row in rows if row.is_replayed]
        self.assertEqual((len(rows), len(replayed)), (6765, 6500))
        self.assertEqual(len([row for row in replayed if row.operator and row.input_dims]), 6500)
        self.assertEqual(len([row for row in replayed if row.module]), 3250)
        self.assertFalse(any(row.is_backward for row in rows))
        self.assertIn(
            ("aten::native_layer_norm", "layers.3.first"), {row[5::2] for row in replayed}
        )


if __name__ == "__main__":
    unittest.main()
