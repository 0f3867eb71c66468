#!/usr/bin/env python3
"""Kineto files, read by HolisticTraceAnalysis and by Perfetto's trace processor.

Without a network to get the readers from, or node, the test is skipped (exit status 77), and says
so.
"""

import collections
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest

from readers import (BUILD, HERE, READERS, STATS, WORK, TraceProcessor, dagtap, install_readers, need,
                     record)

# Programs and their arguments; each says on its output how many kernels it launched.
RECORDINGS = [
    ("graph-bubbles", ["200", "20"]),
    ("graph-forkjoin", ["8", "8", "50"]),
    ("eager", ["10000"]),
    ("threads", []),
    ("copies", []),
    ("streams-and-events", []),
    ("fork-exec", []),
    ("plugin", []),
]

OPERATOR = re.compile("(?:^|/)([^/]*aten::[^/,]*)$")
CATEGORIES = """select category, count(*) as count, sum(dur) as total from slice
                where category is not null group by category"""
FLOWS = """select o.category as source, i.category as target, count(*) as count from flow
           join slice o on o.id = slice_out join slice i on i.id = slice_in group by 1, 2"""
GPUS = """select distinct pid from process join thread using (upid) join thread_track using (utid)
          join slice s on s.track_id = thread_track.id where s.category in ('kernel', 'gpu_memcpy', 'gpu_memset')
          order by pid"""


class Perfetto(unittest.TestCase):
    """Its slices, flows and GPUs are ours."""

    def compare(self, program, arguments):
        recording = WORK / f"kineto-{program}.dagtap"
        trace = f"{recording}.pt.trace.json"
        launched = record(self, recording, program, arguments)
        dagtap(self, "export", "--force", "--format", "kineto", "-o", trace, recording)
        rows = list(csv.DictReader(
            dagtap(self, "export", "--format", "csv", "-o", "-", recording).splitlines()))
        totals = json.loads(dagtap(self, "summary", "--json", recording))["totals"]
        categories, flows, gpus, stats = TraceProcessor(trace).query(CATEGORIES, FLOWS, GPUS, STATS)
        found = {row["category"]: row for row in categories}
        timed = [row for row in rows if not row["untimed"]]

        self.assertEqual(stats, [])
        self.assertEqual(totals["kernels"], launched)
        self.assertEqual(found["cuda_runtime"]["count"], totals["api_calls"])
        for category, kind in (("kernel", "kernel"), ("gpu_memcpy", "copy"), ("gpu_memset", "memset")):
            ours = [row for row in timed if row["kind"] == kind]
            theirs = found.get(category, {"count": 0, "total": 0})
            self.assertEqual(theirs["count"], len(ours))
            # Times are decimal microseconds: Perfetto reads them through a double.
            self.assertLessEqual(
                abs(theirs["total"] - sum(int(row["duration_ns"]) for row in ours)), len(ours))
        self.assertEqual(sum(row["count"] for row in flows),
                         sum(row["cid"] != "" for row in timed))
        self.assertTrue(all(row["source"] == "cuda_runtime" for row in flows))
        self.assertEqual([row["pid"] for row in gpus], sorted({int(row["device"]) for row in timed}))

    def test_it_counts_what_we_count(self):
        for program, arguments in RECORDINGS:
            with self.subTest(program=program):
                self.compare(program, arguments)


class Hta(unittest.TestCase):
    def analyse(self, recording, *options):
        folder = WORK / f"hta-{recording.stem}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        dagtap(self, "export", "--format", "kineto", "--compat", "hta", "--rank", "3", "-o",
               folder / "run.pt.trace.json.gz", *options, recording)
        result = subprocess.run([sys.executable, HERE / "hta_path.py", folder], capture_output=True,
                                text=True, check=False,
                                env={**os.environ, "PYTHONPATH": str(READERS)})
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return json.loads(result.stdout)

    def record_with_the_host_ahead(self, recording, rounds, kernel_ns):
        """By a clock that stands but for what held_turns.c lets pass: where the host is late the
        path goes through a launch, and rightly. HTA orders copies and synchronisations by whole
        microseconds, and does not sort ties: a copy that begins 0.997 us after a synchronisation
        ends may be taken for its cause. So the clock begins at a whole microsecond, and
        held_turns.c steps by such."""
        page = WORK / "hta-clock"
        page.write_bytes(struct.pack("QQ", time.monotonic_ns() // 1000 * 1000, 0))
        softgpu = (f"kernel_ns=0,copy_ns=1000,copy_bytes_per_us=0,"
                   f"kernel:mix={kernel_ns},kernel:rotate={kernel_ns}")
        # Behind dagtap's wrappers, which see the time that a call takes.
        behind = f'LD_PRELOAD="$LD_PRELOAD {BUILD}/tests/held-turns.so" exec "$@"'
        dagtap(self, "record", "--force", f"--softgpu={softgpu}", "-o", recording, "--",
               "sh", "-c", behind, "sh", BUILD / "examples" / "streams-and-events", rounds,
               environment={"DAGTAP_CLOCK": page, "HELD_KERNELS": 2 * rounds,
                            "HELD_KERNEL_NS": kernel_ns})

    def test_critical_path_goes_from_stream_to_stream(self):
        """Each of the two streams waits for the other, 20 times."""
        recording = WORK / "hta-streams.dagtap"
        self.record_with_the_host_ahead(recording, 20, 2000000)
        found = self.analyse(recording)
        between = [wait for wait in found["waits"]
                   if min(stream for _, stream in wait["events"]) > 0]

        self.assertEqual(found["ranks"], [3])
        self.assertTrue(found["is_found"])
        self.assertEqual((found["kernels"], found["launched_kernels"]), (40, 40))
        # All but the first kernel waited, for one of the other stream.
        self.assertEqual(len(between), 39)
        self.assertTrue(all(len({stream for _, stream in wait["events"]}) == 2 for wait in between))
        self.assertTrue(all(len({name for name, _ in wait["events"]}) == 2 for wait in between))
        self.assertEqual(sum(wait["on_path"] for wait in between), 39)

    def test_each_replayed_kernel_has_its_operator(self):
        """A transformer's forward that PyTorch ran once eagerly and recorded into two graphs, under
        dagtap.torch.operators() and under emit_nvtx; each was replayed 50 times on an H100."""
        recording = HERE.parent / "data" / "torch-operators.dagtap"
        found = self.analyse(recording)
        rows = [row for row in csv.DictReader(
            dagtap(self, "export", "--format", "csv", "--table", "activities", "-o", "-", recording).splitlines())
            if row["kind"] == "kernel"]
        replayed = [row for row in rows if row["graph"]]
        ours = collections.Counter(OPERATOR.search(row["scope"]).group(1) for row in replayed)
        ours.update(match.group(1) if (match := OPERATOR.search(row["scope"])) else None
                    for row in rows if not row["graph"])

        self.assertEqual((found["kernels"], len(replayed)), (6765, 6500))
        self.assertEqual({name: count for name, count in found["operators"]}, ours)
        self.assertEqual(found["kernels_with_shapes"], 6765 - ours[None])
        self.assertEqual(ours[None], 196)

    def test_each_kernel_of_a_graph_has_its_launch(self):
        recording = WORK / "hta-forkjoin.dagtap"
        launched = record(self, recording, "graph-forkjoin", ["4", "4", "3"])
        found = self.analyse(recording)

        self.assertTrue(found["is_found"])
        self.assertEqual((found["kernels"], found["launched_kernels"]), (launched, launched))
        self.assertEqual(found["iterations"], {"-1": launched})

    def test_replays_as_steps(self):
        """Of 24 nodes; each node's kernel is in the step of its replay."""
        recording = WORK / "hta-steps.dagtap"
        launched = record(self, recording, "graph-forkjoin", ["4", "4", "5"])
        found = self.analyse(recording, "--step-of", "graph:1")

        self.assertEqual(launched, 5 * 24)
        self.assertEqual(found["iterations"], {str(step): 24 for step in range(5)})


if __name__ == "__main__":
    need("node")
    install_readers()
    unittest.main(verbosity=2)
