#!/usr/bin/env python3
"""Perfetto files, read by Perfetto's own trace processor and checked against its schema.

Without a network to get the readers from, or node, the test is skipped (exit status 77), and says
so.
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

from readers import (BUILD, READERS, STATS, WORK, TraceProcessor, dagtap, install_readers, need,
                     record)

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])

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

PROJECTED_PROGRAMS = [
    ("graph-bubbles", ["100", "10"]),
    ("graph-forkjoin", ["8", "8", "10"]),
    ("eager", ["2000"]),
    ("threads", ["4", "100"]),
    ("streams-and-events", []),
    ("fork-exec", []),
    ("modules-in-steps", ["5"]),
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


PROJECTED = """select pid, s.name, s.id, s.parent_id as parent, s.ts, s.dur, t.name as track,
               extract_arg(s.arg_set_id, 'debug.scope_id') as scope, extract_arg(s.arg_set_id, 'debug.exec') as exec,
               extract_arg(s.arg_set_id, 'debug.replay') as replay from slice s
               join process_track t on s.track_id = t.id join process using (upid)
               where category = 'projection' order by s.ts"""
# The slice of a scope, or of the call that launched a graph, to its projections.
PROJECTIONS = """select i.id, extract_arg(o.arg_set_id, 'debug.scope_id') as scope,
                 extract_arg(o.arg_set_id, 'debug.exec') as exec, o.category as source
                 from flow join slice i on i.id = slice_in join slice o on o.id = slice_out
                 where i.category = 'projection'"""
COUNTERS = """select t.name, t.unit, ts, value from counter c join counter_track t on c.track_id = t.id
              order by t.name, ts"""


def tables(test, recording):
    """Reads the tables of the CSV."""
    def read(table):
        text = dagtap(test, "export", "--format", "csv", "--table", table, "-o", "-", recording)
        return list(csv.DictReader(text.splitlines()))

    return {table: read(table) for table in ("activities", "calls", "scopes", "memory")}


def add_span(spans, key, row):
    begin, end = spans.get(key, (int(row["start_ns"]), int(row["end_ns"])))
    spans[key] = (min(begin, int(row["start_ns"])), max(end, int(row["end_ns"])))


def projections(data):
    """First start and last end of what each scope and each replay caused on each GPU; and by the
    key of each the keys of what is around it, from the innermost."""
    parents = {(row["process"], row["scope_id"]): row["parent_id"] for row in data["scopes"]}
    spans, around = {}, {}
    for row in data["activities"]:
        if row["untimed"]:
            continue
        chain, scope, place = [], row["launch_scope_id"], (row["process"], row["device"])
        while scope:
            chain.append((*place, "scope", scope))
            scope = parents[row["process"], scope]
        if row["replay"]:
            chain.insert(0, (*place, "replay", row["exec"], row["replay"]))
        for at, key in enumerate(chain):
            add_span(spans, key, row)
            around[key] = chain[at + 1:]
    return spans, around


def key_of(row):
    place = (str(row["pid"]), re.match(r"GPU (\d+) ", row["track"])[1])
    if row["scope"] is not None:
        return (*place, "scope", str(row["scope"]))
    return (*place, "replay", str(row["exec"]), str(row["replay"]))


def steps_of(changes):
    """The sums of changes, at the moments at which they differ from those before."""
    value, steps = 0, []
    for ns in sorted(changes):
        value += changes[ns]
        if not steps or steps[-1][1] != value:
            steps.append((ns, value))
    return steps


def depths(data):
    """By GPU and stream: calls whose work on the stream has not ended."""
    begins = {(row["process"], row["cid"]): int(row["begin_ns"]) for row in data["calls"]}
    ends, changes = {}, {}
    for row in data["activities"]:
        if row["untimed"] or not row["stream"] or (row["process"], row["cid"]) not in begins:
            continue
        key = (row["device"], row["process"], row["stream"], row["cid"])
        ends[key] = max(ends.get(key, 0), int(row["end_ns"]))
    for (device, process, stream, cid), end in ends.items():
        change = changes.setdefault((device, process, stream), collections.Counter())
        change[begins[process, cid]] += 1
        change[end] -= 1
    return {key: steps_of(change) for key, change in changes.items()}


def busy_ns(data, device):
    """In which at least one activity ran on the GPU, and over which time it did."""
    spans = sorted((int(row["start_ns"]), int(row["end_ns"])) for row in data["activities"]
                   if not row["untimed"] and row["device"] == device)
    busy, until = 0, spans[0][0]
    for begin, end in spans:
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    return busy, until - spans[0][0]


class Projections(unittest.TestCase):
    """What the CSV of the same recording says, reckoned again: GPU projections and counters."""

    def read(self, recording):
        trace = f"{recording}.projected"
        dagtap(self, "export", "--force", "--format", "perfetto", "-o", trace, recording)
        return tables(self, recording), TraceProcessor(trace).query(
            PROJECTED, PROJECTIONS, COUNTERS, STATS)

    def expect_projections(self, data, found, arrows):
        spans, around = projections(data)
        by_id = {row["id"]: row for row in found}
        self.assertEqual({key_of(row): (row["ts"], row["ts"] + row["dur"]) for row in found}, spans)
        self.assertEqual(len(found), len(spans))
        for row in found:
            if row["parent"] is not None:
                self.assertIn(key_of(by_id[row["parent"]]), around[key_of(row)])
        self.assertEqual(sorted(row["id"] for row in arrows), sorted(by_id))
        for arrow in arrows:
            row = by_id[arrow["id"]]
            self.assertEqual(arrow["scope"] if arrow["source"] == "scope" else arrow["exec"],
                             row["scope"] if row["scope"] is not None else row["exec"])

    def expect_counters(self, data, counters):
        by_name = collections.defaultdict(list)
        for row in counters:
            by_name[row["name"]].append((row["ts"], row["value"]))
        processes = {row["process"] for row in data["activities"]}
        wanted = {f"GPU {device} stream {stream} depth" +
                  (f" (pid {process})" if len(processes) > 1 else ""): steps
                  for (device, process, stream), steps in depths(data).items()}
        self.assertEqual({name: rows for name, rows in by_name.items() if "depth" in name}, wanted)
        for device in {row["device"] for row in data["activities"] if not row["untimed"]}:
            self.expect_busy(by_name[f"GPU {device} busy"], *busy_ns(data, device))
        for name, rows in by_name.items():
            self.assertTrue(all(a[1] != b[1] for a, b in zip(rows, rows[1:])), name)

    def expect_busy(self, rows, busy, span):
        """Each step is rounded to 1 %, and the last step may end after the last activity."""
        shown = sum(value * (after - at) for (at, value), (after, _) in zip(rows, rows[1:]))
        steps = rows[-1][0] - rows[0][0]
        self.assertLessEqual(abs(shown / 100 - busy), steps / 200)
        self.assertLess(steps - span, span / 100)
        self.assertLessEqual(len(rows), 502)

    def compare(self, recording):
        data, (found, arrows, counters, stats) = self.read(recording)
        expect_no_errors(self, stats)
        self.expect_projections(data, found, arrows)
        self.expect_counters(data, counters)
        return data, counters

    def test_programs(self):
        for program, arguments in PROJECTED_PROGRAMS:
            with self.subTest(program=program):
                recording = WORK / f"projected-{program}.dagtap"
                record(self, recording, program, arguments)
                self.compare(recording)

    def test_recording_of_jax_on_cuda(self):
        """Has memory operations, too."""
        recording = WORK / "jax-steps.dagtap"
        shutil.copyfile(SOURCE / "tests" / "data" / "jax-steps.dagtap", recording)
        data, counters = self.compare(recording)
        live, changes = {}, collections.Counter()
        for row in sorted(data["memory"], key=lambda row: int(row["ns"])):
            after = int(row["bytes"]) if row["operation"] == "allocate" else 0
            changes[int(row["ns"])] += after - live.get(row["address"], 0)
            live[row["address"]] = after
        self.assertEqual([(row["ts"], row["value"]) for row in counters
                          if row["name"] == "GPU 0 memory in use"], steps_of(changes))

    def test_replays_as_steps_have_a_track(self):
        recording = WORK / "projected-steps.dagtap"
        record(self, recording, "graph-forkjoin", ["4", "4", "5"])
        trace = f"{recording}.steps"
        dagtap(self, "export", "--force", "--format", "perfetto", "--step-of", "graph:1", "-o",
               trace, recording)
        found, = TraceProcessor(trace).query(PROJECTED)
        replays = [(row["ts"], row["dur"]) for row in found if row["replay"] is not None]
        self.assertEqual([row["name"] for row in found if row["track"] == "GPU 0 steps"],
                         [f"graph 1 step {step}" for step in range(5)])
        self.assertEqual([(row["ts"], row["dur"]) for row in found
                          if row["track"] == "GPU 0 steps"], replays)


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

    def test_projections_and_counters_arrive(self):
        projected, arrows, counters = self.processor.query(PROJECTED, PROJECTIONS, COUNTERS)
        names = {row["id"]: row["name"] for row in projected}
        self.assertEqual([(row["name"], names.get(row["parent"])) for row in projected],
                         [('step "1"', None), ("layer", 'step "1"'), ("graph 7 replay", "layer"),
                          ("graph 7 replay", "layer")])
        self.assertEqual(sorted(row["source"] for row in arrows), ["hip", "hip", "scope", "scope"])
        self.assertEqual(sorted({(row["name"], row["unit"]) for row in counters}),
                         [("GPU 0 busy", "%"), ("GPU 0 stream 0 depth", "count"),
                          ("GPU 0 stream 1 depth", "count")])

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
            where o.category = 'hip' and i.category <> 'projection' group by slice_out order by slice_out""",
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
