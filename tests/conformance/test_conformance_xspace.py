#!/usr/bin/env python3
"""XSpace files, read by XProf (what TensorBoard and JAX's profiler show), by jax.profiler and by
protoc.

Without a network to get XProf from, or protoc, the test is skipped (exit status 77), and says so.
"""

import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from readers import HERE, READERS, WORK, dagtap, install_readers, need, record

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])

# Programs and their arguments: no more events than XProf's viewer shows.
RECORDINGS = [
    ("modules-in-steps", ["5"]),
    ("graph-bubbles", ["200", "20"]),
    ("graph-forkjoin", ["8", "8", "20"]),
    ("graph-update", []),
    ("eager", ["2000"]),
    ("threads", ["4", "500"]),
    ("copies", []),
    ("streams-and-events", []),
    ("multistream", []),
    ("fork-exec", []),
    ("raw-driver", []),
]

JAX_READS = """
import json, sys
from jaxlib._profile_data import ProfileData
print(json.dumps([[event.name, event.duration_ns, dict(event.stats).get("correlation_id", 0)]
                  for plane in ProfileData.from_file(sys.argv[1]).planes
                  if plane.name.startswith("/device:GPU:")
                  for line in plane.lines for event in line.events]))
"""

DERIVED = re.compile(r"Steps|Launch Stats|.* - from #\d+")

CONVERT = """
import sys
from xprof.convert import raw_to_tool_data
data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], sys.argv[2], {"use_saved_result": False})
sys.stdout.buffer.write(data if isinstance(data, bytes) else data.encode())
"""


def run_reader(code, *arguments):
    """In a process of its own: what a reader logs goes to its stderr, and so would a crash."""
    result = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True,
                            env={**os.environ, "PYTHONPATH": str(READERS)}, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.decode(errors="replace")[-2000:])
    return json.loads(result.stdout)


def convert(trace, tool):
    return run_reader(CONVERT, trace, tool)


def rows_of(table):
    """A table of Google's charts as dicts by column."""
    names = [column["id"] for column in table["cols"]]
    return [{name: cell["v"] for name, cell in zip(names, row["c"])} for row in table["rows"]]


class Viewer:
    """The events that the trace viewer shows, by the names of their process and line."""

    def __init__(self, trace):
        processes, lines = {}, {}
        self.lines = collections.defaultdict(list)
        events = convert(trace, "trace_viewer")["traceEvents"]
        for event in events:
            if event.get("name") == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            elif event.get("name") == "thread_name":
                lines[event["pid"], event["tid"]] = event["args"]["name"]
        for event in events:
            if event.get("ph") == "X":
                line = lines.get((event["pid"], event["tid"]), "")
                self.lines[processes[event["pid"]], line].append(event)

    def device_events(self):
        return [event for (process, line), events in self.lines.items()
                if "/device:" in process and not DERIVED.fullmatch(line) for event in events]

    def derived(self, line):
        return sorted((event for (_, name), events in self.lines.items()
                       if name == line or name.startswith(f"{line} - from #") for event in events),
                      key=lambda event: event["ts"])


def export(test, recording, *options):
    """XProf takes the folder for a run and the file's name for a host."""
    folder = WORK / "logs" / "plugins" / "profile" / recording.stem
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    trace = folder / "host.xplane.pb"
    dagtap(test, "export", "--format", "xspace", "-o", trace, *options, recording)
    return trace


def export_copy(source, run):
    """The same for a file that is there already."""
    folder = WORK / "logs" / "plugins" / "profile" / run
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    return shutil.copyfile(source, folder / "host.xplane.pb")


class ModulesInSteps(unittest.TestCase):
    """A program that names its work as XLA does: everything that XProf derives from names is
    there."""

    STEPS = 3

    @classmethod
    def setUpClass(cls):
        recording = WORK / "modules-in-steps.xspace.dagtap"
        test = unittest.TestCase()
        cls.recording = recording
        cls.launched = record(test, recording, "modules-in-steps", [str(cls.STEPS)])
        cls.trace = export(test, recording)
        cls.viewer = Viewer(cls.trace)

    def test_steps_are_derived(self):
        self.assertEqual([event["name"] for event in self.viewer.derived("Steps")],
                         [f"train {step}" for step in range(self.STEPS)])

    def test_two_runs_of_one_module_are_kept_apart(self):
        modules = self.viewer.derived("XLA Modules")
        self.assertEqual([event["name"] for event in modules], ["jit_step(7)"] * 2 * self.STEPS)
        self.assertEqual([event["args"]["group_id"] for event in modules],
                         [str(step // 2) for step in range(2 * self.STEPS)])

    def test_operations_are_derived_inside_graphs_too(self):
        self.assertEqual([event["name"] for event in self.viewer.derived("XLA Ops")],
                         ["fusion.1", "fusion.2", "fusion.3"] * 2 * self.STEPS)

    def test_launches_are_counted_by_step(self):
        launches = self.viewer.derived("Launch Stats")
        self.assertEqual(sorted(event["name"] for event in launches),
                         [f"Launch Stats for train {step}" for step in range(self.STEPS)])
        self.assertEqual({event["args"]["num_launches"] for event in launches}, {"4"})

    def test_calls_and_their_work_are_joined(self):
        work = self.viewer.device_events()
        self.assertTrue(work)
        calls = {event["args"]["correlation_id"] for event in work}
        launching = {event["args"]["correlation_id"] for (process, _), events in
                     self.viewer.lines.items() if process == "/host:CPU" for event in events
                     if event["name"] in ("hipLaunchKernel", "hipGraphLaunch")
                     and "group_id" in event["args"]}
        self.assertEqual(len(launching), 4 * self.STEPS)
        self.assertLessEqual(launching, calls)

    def test_kernel_stats(self):
        row, = rows_of(convert(self.trace, "kernel_stats"))
        self.assertEqual((row["kernel_name"], row["occurrences"]), ("mix", self.launched))
        self.assertEqual((row["grid_dim"], row["block_dim"]), ("1,1,1", "64,1,1"))
        self.assertEqual(row["shmem_bytes"], 1024)
        self.assertGreater(row["registers_per_thread"], 0)
        summary = json.loads(dagtap(self, "summary", "--json", self.recording))
        self.assertAlmostEqual(row["occupancy_pct"], 100 * summary["kernels"][0]["occupancy"])

    def test_capabilities(self):
        """The software GPU says of its gfx90a: 1700 MHz, memory of 4096 bits at 1600 MHz."""
        peaks = convert(self.trace, "roofline_model")[0]["p"]
        self.assertAlmostEqual(float(peaks["peak_hbm_bw"]) * 2**30, 2 * 1600e6 * 4096 / 8,
                               delta=1e9)

    def test_overview(self):
        page = convert(self.trace, "overview_page")
        steps = rows_of(page[1])
        self.assertEqual([row["stepnum"] for row in steps], [str(i) for i in range(self.STEPS)])
        self.assertTrue(all(row["deviceComputeTimeMs"] > 0 for row in steps))
        self.assertEqual(page[1]["p"]["hardware_type"], "GPU")


class ReplaysAsSteps(unittest.TestCase):
    """A program whose only loop is one of graph launches: they are the steps of XProf's step
    database."""

    REPLAYS = 5

    def test_each_replay_is_a_step(self):
        recording = WORK / "replays-as-steps.xspace.dagtap"
        record(self, recording, "graph-forkjoin", ["4", "4", str(self.REPLAYS)])
        before = convert(export(self, recording), "overview_page")
        trace = export(self, recording, "--step-of", "graph:1")
        steps = rows_of(convert(trace, "overview_page")[1])
        spans = json.loads(dagtap(self, "scopes", "--json", "--step-of", "graph:1", recording))

        self.assertEqual(rows_of(before[1]), [])
        self.assertEqual([row["stepnum"] for row in steps],
                         [str(step) for step in range(self.REPLAYS)])
        shown = Viewer(trace).derived("Steps")
        self.assertEqual([event["name"] for event in shown],
                         [f"graph 1 step {step}" for step in range(self.REPLAYS)])
        # XProf adds the copy that the program makes after its loop to the last step.
        self.assertEqual([round(event["dur"] * 1000) for event in shown[:-1]],
                         [row["projection"]["duration_ns"] for row in spans["instances"][:-1]])


class ReadAndWritten(unittest.TestCase):
    """A profile of JAX that dagtap read and wrote again: XProf's tools say the same of both."""

    TOOLS = ["hlo_stats", "kernel_stats", "framework_op_stats", "overview_page"]

    def tables(self, trace):
        """The tables of all tools, without the advice of the overview, which names the file."""
        found = {}
        for tool in self.TOOLS:
            answer = convert(trace, tool)
            parts = answer if isinstance(answer, list) else [answer]
            found[tool] = [part["rows"] for part in parts if "rows" in part]
        return found

    def test_no_tool_loses_a_row(self):
        before = export_copy(SOURCE / "tests" / "data" / "jax-small.xplane.pb", "jax-small")
        after = export(self, before)
        wanted, found = self.tables(before), self.tables(after)
        self.assertEqual(len(wanted["hlo_stats"][0]), 41)
        self.assertEqual(len(wanted["overview_page"][1]), 4)
        for tool in self.TOOLS:
            self.assertEqual([len(rows) for rows in found[tool]],
                             [len(rows) for rows in wanted[tool]], tool)
        self.assertEqual(found, wanted)
        # A second time nothing changes.
        dagtap(self, "export", "--force", "--format", "xspace", "-o", f"{after}.again", after)
        with open(after, "rb") as one, open(f"{after}.again", "rb") as other:
            self.assertEqual(one.read(), other.read())


class Recordings(unittest.TestCase):
    """Real programs on the software GPU: every event arrives, with its time."""

    def compare(self, program, arguments):
        recording = WORK / f"{program}.xspace.dagtap"
        launched = record(self, recording, program, arguments)
        trace = export(self, recording)
        rows = list(csv.DictReader(dagtap(self, "export", "--format", "csv", "-o", "-",
                                          recording).splitlines()))
        timed = [row for row in rows if not row["untimed"]]
        shown = Viewer(trace).device_events()

        self.assertEqual(sum(row["kind"] == "kernel" for row in rows), launched)
        self.assertEqual(len(shown), len(timed))
        self.assertEqual(sum(round(event["dur"] * 1000) for event in shown),
                         sum(max(int(row["duration_ns"]), 0) for row in timed))
        for kind, details in (("kernel", "kernel_details"), ("copy", "memcpy_details"),
                              ("memset", "Memset_details")):
            self.assertEqual(sum(details in event["args"] for event in shown),
                             sum(row["kind"] == kind for row in timed))
        self.assertEqual(sum(row["occurrences"] for row in
                             rows_of(convert(trace, "kernel_stats"))),
                         sum(row["kind"] == "kernel" and int(row["duration_ns"]) > 0
                             for row in timed))
        self.decode(trace, len(timed))
        self.read_with_jax(trace, timed)

    def read_with_jax(self, trace, timed):
        """jax.profiler.ProfileData: names, times and calls of all events on GPUs."""
        events = run_reader(JAX_READS, trace)
        kernels = [row for row in timed if row["kind"] == "kernel"]
        names = {row["name"] for row in kernels}
        self.assertEqual(len(events), len(timed))
        self.assertEqual(sum(round(duration) for _, duration, _ in events),
                         sum(max(int(row["duration_ns"]), 0) for row in timed))
        self.assertEqual(sum(name in names for name, _, _ in events), len(kernels))
        self.assertEqual(sum(correlation != 0 for _, _, correlation in events),
                         sum(row["cid"] != "" for row in timed))

    def decode(self, trace, timed):
        """protoc names the fields that it knows, and gives the numbers of others."""
        with open(trace, "rb") as file:
            result = subprocess.run(["protoc", f"--proto_path={HERE}", "xspace.proto",
                                     "--decode=dagtap.xspace.XSpace"], stdin=file,
                                    capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual([line for line in lines if re.match(r"\s*\d+[:{ ]", line)], [])
        device = [part for part in re.split(r"^planes \{", result.stdout, flags=re.M)
                  if re.match(r'(\s+id: \d+)?\s+name: "/device:', part)]
        self.assertEqual(sum(part.count("\n    events {") for part in device), timed)

    def test_every_event_arrives(self):
        for program, arguments in RECORDINGS:
            with self.subTest(program=program):
                self.compare(program, arguments)


if __name__ == "__main__":
    need("protoc")
    install_readers()
    unittest.main(verbosity=2)
