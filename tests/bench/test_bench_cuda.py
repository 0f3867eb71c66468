"""bench/cuda without a GPU: a dry run of what measures, and what judges its results, given results
that are wrong."""
import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
BENCH = pathlib.Path(os.environ["SOURCE_DIR"]) / "bench" / "cuda"
sys.path.insert(0, str(BENCH))

import cost  # noqa: E402
import fields  # noqa: E402
import jax_compare  # noqa: E402
import layers  # noqa: E402
import measure_cuda as measure  # noqa: E402
import report  # noqa: E402
import ring  # noqa: E402
import tool  # noqa: E402
import waits  # noqa: E402


def one(part, what):
    found = [goal for goal in part["goals"] if goal["what"].startswith(what)]
    assert len(found) == 1, (what, part["goals"])
    return found[0]


class DryRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.json = pathlib.Path(cls.folder.name) / "run.json"
        done = subprocess.run([sys.executable, "-B", BENCH / "measure_cuda.py", "--dry-run", "--pairs", "2", "--tree", BUILD,
                               "--json", cls.json], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
        cls.output = done.stdout
        cls.parts = json.loads(cls.json.read_text())["parts"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_kernel_has_its_node_and_replay(self):
        named = one(self.parts["replay"], "graph kernels with graph, node and replay")
        self.assertEqual(named["measured"], "300 of 300")
        self.assertTrue(named["reached"])

    def test_each_way_runs_as_often_as_it_was_told(self):
        ways = self.parts["eager"]["runs"]
        self.assertEqual({len(runs) for runs in ways.values()}, {2})
        self.assertEqual(len(ways), 2 + len(cost.FLOORS))
        self.assertTrue(one(self.parts["eager"], "kernels recorded")["reached"])
        self.assertTrue(one(self.parts["eager"], "recordings that")["reached"])

    def test_ring_keeps_a_part_and_counts_the_rest(self):
        for what in "kernels, kept and dropped", "records of CUPTI", "dropped for another", "`dagtap check`", "replays that are kept whole":
            goal = one(self.parts["ring"], what)
            self.assertTrue(goal["reached"], goal)

    def test_document_has_what_was_printed(self):
        done = subprocess.run([sys.executable, "-B", BENCH / "document.py", self.json], stdout=subprocess.PIPE, text=True,
                              check=True)
        rows = [line for line in self.output.splitlines() if line.startswith("|")]
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertIn(row, done.stdout.splitlines())


class Document(unittest.TestCase):
    def test_part_of_a_later_run_stands_for_the_earlier(self):
        machine = {"day": "today", "gpu": "G", "gpus": 1, "cores": 2, "kernel": "6", "nvcc": "13", "packages": {}, "dagtap": "first"}
        first = {"machine": machine, "parts": {"a": report.part("A of the first"), "b": report.part("B of the first")}}
        second = {"machine": {**machine, "dagtap": "second"}, "parts": {"a": report.part("A of the second")}}
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("1.json", "2.json")]
            for path, run in zip(paths, (first, second)):
                path.write_text(json.dumps(run))
            text = subprocess.run([sys.executable, "-B", BENCH / "document.py", *paths], stdout=subprocess.PIPE, text=True,
                                  check=True).stdout
        found = [text.find(words) for words in ("dagtap first", "B of the first", "dagtap second", "A of the second")]
        self.assertEqual(found, sorted(found))
        self.assertNotIn(-1, found)
        self.assertNotIn("A of the first", text)


class Driver(unittest.TestCase):
    def test_part_that_fails_says_why_and_leaves_its_recording(self):
        def fails(context):
            (context.work / "left").mkdir()
            context.recording.write_text("recorded")
            raise tool.Failure("no such GPU")
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(measure.PARTS, {"x": (fails, True)}):
            work, kept = pathlib.Path(folder) / "work", pathlib.Path(folder) / "kept"
            work.mkdir()
            found = measure.do_part("x", types.SimpleNamespace(work=work, recording=work / "run.dagtap", kept=kept))
            self.assertEqual(found["error"], "no such GPU")
            self.assertEqual(os.listdir(work), [])
            self.assertEqual((kept / "x.dagtap").read_text(), "recorded")
        self.assertIn("no such GPU", "\n".join(report.part_lines(found)))

    def test_program_that_fails_is_a_failure_with_its_output(self):
        with self.assertRaisesRegex(tool.Failure, "exited with 3: ...out of luck"):
            tool.run(["sh", "-c", "echo out of luck; exit 3"])

    def test_timed_program_ends_before_its_parent(self):
        result = tool.run(["sh", "-c", "echo seconds: 0.5"])
        self.assertEqual(result["seconds"], 0.5)
        self.assertLessEqual(result["program_ended"], result["all_ended"])

    def test_memory_is_the_programs_own(self):
        ballast = bytearray(200 << 20)
        result = tool.run(["true"])
        self.assertLess(result["program_mb"], 100)
        self.assertLess(result["all_mb"], 100)
        self.assertEqual(len(ballast), 200 << 20)

    def test_part_that_is_not_there_is_refused(self):
        with unittest.mock.patch.object(sys, "argv", ["measure_cuda.py", "--only", "replay,nothing"]), \
             contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            measure.parse()
        self.assertIn("no part nothing", said.getvalue())


class Layers(unittest.TestCase):
    EXPECTED = [{"way": "torch.cuda.nvtx", "replays": 2, "nodes": ["layer 0", "layer 1", "layer 1"]}]

    def rows(self, count):
        return [{"process": "1", "exec": "5", "replay": str(replay), "start_ns": str(100 * replay + i), "graph": "4", "node": str(i)}
                for replay in (1, 0) for i in range(count)] + \
               [{"process": "1", "exec": "", "replay": "", "start_ns": "1", "graph": "", "node": ""}]

    def judge(self, scopes):
        nodes = layers.layers_of_nodes([{"process": "1", "graph": "4", "node": str(i), "scope": scope}
                                        for i, scope in enumerate(scopes)])
        return layers.compare(self.EXPECTED, layers.replayed(self.rows(len(scopes))), nodes)[0]

    def test_every_row_shows_its_layer(self):
        self.assertEqual(self.judge(["step/layer 0", "layer 1, seq = 3/aten::mm", "layer 1"]), ("torch.cuda.nvtx", 6, 6, ""))

    def test_shift_by_one_shows(self):
        self.assertEqual(self.judge(["layer 0", "layer 0", "layer 1"])[1], 4)
        self.assertFalse(layers.verdict(*self.judge(["layer 0", "layer 0", "layer 1"]))["reached"])

    def test_missing_row_shows(self):
        self.assertEqual(self.judge(["layer 0", "layer 1"]), ("torch.cuda.nvtx", 0, 6, "2 replays of [2] rows"))


class Waits(unittest.TestCase):
    def test_waits_are_told_apart(self):
        rows = [{"type": "event", "api": "cudaEventSynchronize", "producer_cid": "4", "known": "number", "result": "0"},
                {"type": "stream_event", "api": "cudaStreamWaitEvent", "producer_cid": "5", "known": "order", "result": "0"},
                {"type": "stream_event", "api": "", "producer_cid": "", "known": "", "result": ""},
                {"type": "event", "api": "cudaEventQuery", "producer_cid": "", "known": "", "result": "600"},
                {"type": "device", "api": "cudaDeviceSynchronize", "producer_cid": "", "known": "", "result": "0"}]
        known, unresolved, others, nothing = waits.tally(rows)
        self.assertEqual(dict(known), {"number": 1, "order": 1})
        self.assertEqual(dict(unresolved), {"stream_event by an unknown call": 1})
        self.assertEqual(dict(others), {"device": 1})
        self.assertEqual(dict(nothing), {"cudaEventQuery": 1})

    def test_kineto_counts_what_it_does_not_know(self):
        events = [{"cat": "cuda_sync", "args": {"wait_on_stream": -1}}, {"cat": "cuda_sync", "args": {"wait_on_stream": 7}},
                  {"cat": "cuda_sync", "args": {"stream": 7}}, {"cat": "kernel", "args": {}}, {"name": "process_name"}]
        self.assertEqual(waits.kineto_tally(events), (2, 1))


class Fields(unittest.TestCase):
    def kineto(self, **changes):
        mark = {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)",
                "args": {"device": 0, "stream": 13, "bytes": int(fields.MARK_BYTES)}}
        kernel = {"device": 0, "stream": 13, "grid": [4, 2, 1], "block": [32, 1, 1], "registers per thread": 16, "shared memory": 0}
        copy = {"device": 0, "stream": 13, "bytes": 64}
        events = [{**mark, "ts": 1}, {"ph": "X", "cat": "kernel", "name": "f(int)", "ts": 2, "args": {**kernel, **changes}},
                  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "ts": 3, "args": copy},
                  {**mark, "ts": 4}, {**mark, "ts": 9, "cat": "cpu_op"}]
        return fields.from_kineto(reversed(events))

    def ours(self, name="f(int)"):
        mark = {"kind": "memset", "name": "", "device": "0", "stream_handle": "13", "bytes": fields.MARK_BYTES, "registers": "",
                "group_bytes": "", "direction": ""}
        kernel = {**mark, "kind": "kernel", "name": name, "bytes": "", "registers": "16", "grid_x": "4", "grid_y": "2", "grid_z": "1",
                  "workgroup_x": "32", "workgroup_y": "1", "workgroup_z": "1"}
        copy = {**mark, "kind": "copy", "bytes": "64", "direction": "H2D"}
        before = {**copy, "start_ns": "1"}
        return fields.from_dagtap([before, {**mark, "start_ns": "10"}, {**kernel, "start_ns": "20"}, {**copy, "start_ns": "30"},
                                   {**mark, "start_ns": "40"}])

    def test_the_same_is_the_same(self):
        tally, examples = fields.compare(self.ours(), self.kineto())
        self.assertEqual({different for _, different in tally.values()}, {0}, examples)
        self.assertEqual(tally["kind"], [4, 0])
        self.assertEqual(tally["grid"], [1, 0])

    @unittest.skipUnless(shutil.which("c++filt"), "no c++filt")
    def test_mangled_name_is_the_same_name(self):
        self.assertEqual(fields.compare(self.ours("_Z1fi"), self.kineto())[0]["name"], [1, 0])
        self.assertEqual(fields.compare(self.ours("_Z1fj"), self.kineto())[0]["name"], [1, 1])

    def test_another_grid_shows(self):
        tally, _ = fields.compare(self.ours(), self.kineto(grid=[4, 1, 1]))
        self.assertEqual(tally["grid"], [1, 1])
        self.assertFalse(one({"goals": fields.goals(tally, {"grid": "..."})}, "grid")["reached"])

    def test_other_work_is_a_failure(self):
        theirs = self.kineto()
        theirs["13"].pop()
        with self.assertRaisesRegex(tool.Failure, "different work"):
            fields.compare(self.ours(), theirs)


class Ring(unittest.TestCase):
    def test_gap_shows(self):
        replays = {5: 1, 6: 3, 8: 3, 9: 3}
        self.assertEqual([g["reached"] for g in ring.kept_goals(replays, True, 10, 3)], [False, True, True, True])
        replays[7] = 3
        self.assertEqual([g["reached"] for g in ring.kept_goals(replays, True, 10, 3)], [True, True, True, True])
        self.assertEqual([g["reached"] for g in ring.kept_goals(replays, False, 11, 3)], [True, False, True, False])

    def test_growth_counts_once_it_has_settled(self):
        samples = [(5, 100, 10, 1), (15, 300, 10, 1), (20, 310, 10, 1), (25, 305, 10, 1)]
        self.assertEqual(ring.growth(samples, 1), 10)
        self.assertIsNone(ring.growth(samples[:1], 1))


def planes(origin, events):
    def event(start, name, duration):
        return types.SimpleNamespace(start_ns=start, name=name, duration_ns=duration)
    lines = [types.SimpleNamespace(name="Stream #7(Compute)", events=[event(*e) for e in events]),
             types.SimpleNamespace(name="XLA Ops", events=[event(0, "derived", 5)])]
    return [types.SimpleNamespace(name="/device:GPU:0", lines=lines, stats=[]),
            types.SimpleNamespace(name="/host:dagtap", lines=[], stats=[("writer", "x"), ("clock_origin", origin)])]


class Jax(unittest.TestCase):
    JAX = [(5, "mul", 100), (7, "mul", 100), (9, "tanh", 50)]

    def judge(self, ours, begin=None):
        return jax_compare.compare(jax_compare.device_work(planes(1000, ours), begin), jax_compare.device_work(planes(0, self.JAX)))

    def test_what_ran_before_is_left_out(self):
        found = self.judge([(100, "mul", 90), (205, "mul", 100), (207, "mul", 100), (209, "tanh", 51)], 1200)
        self.assertTrue(found["events_agree"] and found["names_agree"] and found["counts_agree"] and found["time_agrees"], found)

    def test_differences_show(self):
        found = self.judge([(1, "mul", 100), (2, "sin", 100)])
        self.assertEqual(found["events"], [2, 3])
        self.assertEqual(found["names_of_one"], ["sin", "tanh"])
        self.assertEqual(found["counts_differ"], ["mul", "sin", "tanh"])
        self.assertFalse(found["events_agree"] or found["names_agree"] or found["counts_agree"] or found["time_agrees"])


if __name__ == "__main__":
    unittest.main()
