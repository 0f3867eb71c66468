#!/usr/bin/env python3
"""Perfetto files, read by Perfetto's own trace processor and checked against its schema.

Without a network to get the readers from, or node, the test is skipped (exit status 77), and says
so.
"""

import csv
import json
import pathlib
import subprocess
import sys
import unittest

from readers import (BUILD, READERS, STATS, WORK, TraceProcessor, dagtap, install_readers, need,
                     record)

# Perfetto v52 counts each field that came later as an error; it has no arrows from calls to GPU
# work, which is what the field is for.
KNOWN_STATS = {"unknown_extension_fields"}
# Extensions of InternedData and TrackEvent that the schema has in a file of its own.
KNOWN_EXTENSIONS = {("interned_data", 1000), ("interned_data", 1001), ("track_event", 3000)}

# Programs and their arguments; each says on its output how many kernels it launched.
RECORDINGS = [
    ("graph-bubbles", ["2000", "20"]),
    ("graph-forkjoin", ["8", "8", "50"]),
    ("graph-update", []),
    ("eager", ["100000"]),
    ("threads", []),
    ("plugin", []),
    ("module", []),
    ("copies", []),
    ("streams-and-events", []),
    ("fork-exec", []),
    ("raw-driver", []),
]

FORMATS = ["perfetto", "perfetto-events", "csv"]


def expect_no_errors(test, stats):
    bad = {row["name"]: row["value"] for row in stats if row["name"] not in KNOWN_STATS}
    test.assertEqual(bad, {})


KINDS = """select extract_arg(arg_set_id, 'description') as kind, count(*) as count, count(distinct id) as ids,
           sum(name is null or name = '') as nameless from gpu_slice group by kind order by kind"""
GRAPHS = """select count(*) as count, count(distinct extract_arg(arg_set_id, 'replay')) as replays,
            count(extract_arg(arg_set_id, 'graph')) as graphs,
            count(extract_arg(arg_set_id, 'node')) as nodes
            from gpu_slice where extract_arg(arg_set_id, 'exec') is not null
            and extract_arg(arg_set_id, 'description') = 'kernel'"""
CALLS = """select count(*) as count from slice
           where extract_arg(arg_set_id, 'debug.cid') is not null"""
EVENTS = """select category, count(*) as count, sum(dur) as total from slice
            where category in ('kernel', 'copy', 'memset') group by category order by category"""
# From calls; what work waited for is apart.
ARROWS = """select count(*) as arrows, count(distinct slice_in) as targets from flow
            join slice i on i.id = slice_in join slice o on o.id = slice_out
            where i.category in ('kernel', 'copy', 'memset')
            and o.category not in ('kernel', 'copy', 'memset')"""
WAITS = """select o.name as source, i.name as target, count(*) as count,
           sum(o.ts + o.dur > i.ts) as early, sum(o.track_id = i.track_id) as same from flow
           join slice i on i.id = slice_in join slice o on o.id = slice_out
           where o.category in ('kernel', 'copy', 'memset') group by 1, 2 order by 1, 2"""
TIMES = """select count(*) as count, min(ts) as first, sum(dur) as total from gpu_slice
           where extract_arg(arg_set_id, 'untimed') is null"""


class Sample(unittest.TestCase):
    """The trace made by hand in tests/format/sample.c."""

    @classmethod
    def setUpClass(cls):
        cls.trace = WORK / "sample.pftrace"
        with open(cls.trace, "wb") as out:
            subprocess.run([BUILD / "tests" / "write_sample", "perfetto"], stdout=out, check=True)
        cls.processor = TraceProcessor(cls.trace)

    def test_every_activity_arrives(self):
        kinds, stats = self.processor.query(KINDS, STATS)
        self.assertEqual([(row["kind"], row["count"]) for row in kinds],
                         [("copy", 1), ("kernel", 7), ("memset", 1)])
        self.assertTrue(all(row["nameless"] == 0 for row in kinds))
        expect_no_errors(self, stats)

    def test_overlapping_kernels_keep_their_times(self):
        rows, = self.processor.query(
            "select name, ts, dur from gpu_slice order by ts, name limit 4")
        self.assertEqual(rows, [
            {"name": "void a<int, 4>(int*)", "ts": 1001200, "dur": 300},
            {"name": "b", "ts": 1001300, "dur": 400},
            {"name": "void a<int, 4>(int*)", "ts": 1001400, "dur": 50},
            {"name": "void a<int, 4>(int*)", "ts": 1001700, "dur": 100},
        ])

    def test_graph_kernels_say_where_they_come_from(self):
        rows, = self.processor.query("""
            select extract_arg(arg_set_id, 'graph') as graph, extract_arg(arg_set_id, 'exec') as exec,
            extract_arg(arg_set_id, 'node') as node, extract_arg(arg_set_id, 'replay') as replay,
            extract_arg(arg_set_id, 'scope') as scope, extract_arg(arg_set_id, 'cid') as cid
            from gpu_slice where name = 'b' order by ts""")
        expected = {"graph": "7", "exec": "9", "node": "1", "scope": 'step "1"/layer'}
        self.assertEqual(rows, [{**expected, "replay": "0", "cid": "1"},
                                {**expected, "replay": "1", "cid": "2"}])

    def test_tracks_name_stream_and_queue(self):
        rows, = self.processor.query("""
            select distinct t.name from gpu_slice s join track t on s.track_id = t.id order by 1""")
        self.assertEqual([row["name"] for row in rows],
                         ["stream 0, copy engine", "stream 0, queue 2", "stream 1, queue 1",
                          "untimed, at submission"])

    def test_calls_nest_and_carry_their_arguments(self):
        rows, = self.processor.query("""
            select s.name, depth, tid, extract_arg(arg_set_id, 'debug.args.sizeBytes') as bytes
            from slice s join thread_track t on s.track_id = t.id join thread using (utid)
            where extract_arg(arg_set_id, 'debug.cid') is not null order by ts, tid, depth""")
        self.assertEqual(
            [(row["name"], row["tid"], row["depth"], row["bytes"]) for row in rows],
            [("hipGraphLaunch", 100, 0, None), ("hipGraphLaunch", 100, 0, None),
             ("hipMemcpyAsync", 100, 0, 4096), ("hipMemset", 101, 0, None),
             ("hipMemset", 101, 1, 4096)])

    def test_scopes_ranges_and_marks_arrive(self):
        rows, = self.processor.query("""
            select s.name, s.dur, s.depth, t.name as track from slice s
            join thread_track t on s.track_id = t.id where s.category = 'scope' order by s.ts""")
        self.assertEqual([tuple(row.values()) for row in rows],
                         [('step "1"', 2100, 0, "scopes"), ("layer", 1050, 1, "scopes"),
                          ("range 1", 1000, 0, "ranges"), ("range 2", 7500, 0, "ranges"),
                          ("mark", 0, 0, "marks")])

    def test_ledger_arrives(self):
        rows, = self.processor.query("""
            select s.name, extract_arg(arg_set_id, 'debug.expected') as expected,
            extract_arg(arg_set_id, 'debug.dropped (no free chunk)') as dropped
            from slice s join track t on s.track_id = t.id where t.name = 'dagtap ledger'
            order by s.id""")
        self.assertEqual([tuple(row.values()) for row in rows],
                         [("hsa.dispatch", 9, 1), ("damage", None, None)])

    def test_process_and_threads_have_names(self):
        rows, = self.processor.query("""
            select tid, t.name, pid, p.name as process from thread t join process p using (upid)
            where pid != 0 order by tid""")
        self.assertEqual([tuple(row.values()) for row in rows],
                         [(100, "program", 100, "/usr/bin/program"),
                          (101, "worker", 100, "/usr/bin/program")])

    def test_events_form_has_arrows(self):
        trace = WORK / "sample-events.pftrace"
        with open(trace, "wb") as out:
            subprocess.run([BUILD / "tests" / "write_sample", "perfetto-events"], stdout=out,
                           check=True)
        events, arrows, overlapping, stats = TraceProcessor(trace).query(
            EVENTS, """select o.name, group_concat(i.name, ' ') as targets from flow
            join slice o on o.id = slice_out join slice i on i.id = slice_in
            where o.category = 'hip' group by slice_out order by slice_out""",
            "select ts, dur, depth from slice where category = 'kernel' order by ts limit 3", STATS)
        self.assertEqual([(row["category"], row["count"]) for row in events],
                         [("copy", 1), ("kernel", 7), ("memset", 1)])
        replay = "void a<int, 4>(int*) b void a<int, 4>(int*)"
        self.assertEqual([tuple(row.values()) for row in arrows],
                         [("hipGraphLaunch", replay), ("hipGraphLaunch", replay),
                          ("hipMemcpyAsync", "copy H2D"), ("hipMemset", "memset")])
        self.assertEqual([tuple(row.values()) for row in overlapping],
                         [(1001200, 300, 0), (1001300, 400, 0), (1001400, 50, 0)])
        self.assertEqual(stats, [])

    def test_schema_knows_every_field(self):
        sys.path.insert(0, str(READERS))
        from google.protobuf.unknown_fields import UnknownFieldSet
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

        def unknown(message, name):
            found = {(name, field.field_number) for field in UnknownFieldSet(message)}
            for field, value in message.ListFields():
                if field.message_type:
                    for child in value if field.is_repeated else [value]:
                        found |= unknown(child, field.name)
            return found

        trace = schema.Trace.FromString(self.trace.read_bytes())
        self.assertLessEqual(unknown(trace, "trace"), KNOWN_EXTENSIONS)
        launches = [packet.gpu_render_stage_event.launch for packet in trace.packet
                    if packet.gpu_render_stage_event.HasField("launch")]
        self.assertEqual(len(launches), 7)
        self.assertEqual((launches[0].grid_size.x, launches[0].workgroup_size.x), (4, 256))


class Recordings(unittest.TestCase):
    """Real programs on the software GPU: three readers must agree."""

    def record(self, program, arguments):
        """The recording's path, and the program's own count of kernels."""
        recording = WORK / f"{program}.dagtap"
        launched = record(self, recording, program, arguments)
        for name in FORMATS:
            dagtap(self, "export", "--force", "--format", name, "-o", f"{recording}.{name}",
                   recording)
        return recording, launched

    def compare(self, program, arguments):
        recording, launched = self.record(program, arguments)
        totals = json.loads(dagtap(self, "summary", "--json", recording))["totals"]
        kinds, graphs, calls, times, stats = TraceProcessor(f"{recording}.perfetto").query(
            KINDS, GRAPHS, CALLS, TIMES, STATS)
        events, arrows, event_stats = TraceProcessor(f"{recording}.perfetto-events").query(
            EVENTS, ARROWS, STATS)
        with open(f"{recording}.csv", newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
        timed = [row for row in rows if not row["untimed"]]
        counts = {row["kind"]: row["count"] for row in kinds}

        expect_no_errors(self, stats)
        self.assertEqual(totals["kernels"], launched)
        for kind, total in (("kernel", "kernels"), ("copy", "copies"), ("memset", "memsets")):
            self.assertEqual(counts.get(kind, 0), totals[total])
            self.assertEqual(sum(row["kind"] == kind for row in rows), totals[total])
        self.assertTrue(all(row["nameless"] == 0 and row["ids"] == row["count"] for row in kinds))
        in_graphs = totals["graph_kernels"]
        self.assertEqual({key: graphs[0][key] for key in ("count", "graphs", "nodes")},
                         {"count": in_graphs, "graphs": in_graphs, "nodes": in_graphs})
        self.assertEqual(calls[0]["count"], totals["api_calls"])
        self.assertEqual(times[0]["count"], len(timed))
        self.assertEqual(times[0]["first"], min(int(row["start_ns"]) for row in timed))
        self.assertEqual(times[0]["total"], sum(int(row["duration_ns"]) for row in timed))
        self.assertEqual({row["category"]: row["count"] for row in events}, counts)
        self.assertEqual(sum(row["total"] for row in events), times[0]["total"])
        joined = sum(row["cid"] != "" for row in rows)
        self.assertEqual(arrows, [{"arrows": joined, "targets": joined}])
        self.assertEqual(event_stats, [])

    def test_three_readers_agree(self):
        for program, arguments in RECORDINGS:
            with self.subTest(program=program):
                self.compare(program, arguments)

    def test_streams_that_wait_have_arrows(self):
        """Two streams hand a buffer to and fro: each kernel but the first waited for the other."""
        recording, launched = self.record("streams-and-events", [])
        waits, = TraceProcessor(f"{recording}.perfetto-events").query(WAITS)

        self.assertEqual(len(waits), 2)
        self.assertEqual(sum(row["count"] for row in waits), launched - 1)
        self.assertTrue(all(row["source"] != row["target"] for row in waits))
        self.assertEqual([(row["early"], row["same"]) for row in waits], [(0, 0), (0, 0)])

    def test_same_recording_gives_same_bytes(self):
        recording, _ = self.record("graph-update", [])
        for name in FORMATS:
            again = f"{recording}.{name}.again"
            dagtap(self, "export", "--force", "--format", name, "-o", again, recording)
            self.assertEqual(pathlib.Path(again).read_bytes(),
                             pathlib.Path(f"{recording}.{name}").read_bytes())


if __name__ == "__main__":
    need("node")
    install_readers()
    unittest.main(verbosity=2)
