#!/usr/bin/env python3
"""The answers of `dagtap` beside pandas, over the CSV of the same file: a recording of JAX on an
H200. A test a question (docs/questions.md); test_conformance_scopes.py has the instances of scopes.

Without a network to get pandas from, the tests are skipped (exit status 77), and say so.
"""

import io
import json
import os
import pathlib
import sys
import unittest

from readers import READERS, dagtap, install_readers

RECORDING = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests" / "data" / "jax-steps.dagtap"
STATISTICS = {"mean": "mean_ns", "median": "median_ns", "std": "stddev_ns", "min": "min_ns",
              "max": "max_ns", "sum": "total_ns"}


def read(test, table, *options):
    text = dagtap(test, "export", "--format", "csv", "--table", table, "-o", "-", *options, RECORDING)
    return pandas.read_csv(io.StringIO(text), dtype={"address": "string"})


def answer(test, command, *options):
    return json.loads(dagtap(test, command, "--json", *options, RECORDING))


class Pandas(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.work = read(self, "activities")
        self.kernels = self.work[self.work.kind == "kernel"]

    def expect_tally(self, found, durations, prefix=""):
        for name, key in STATISTICS.items():
            if prefix + key in found and not (name == "std" and len(durations) < 2):
                self.assertAlmostEqual(found[prefix + key], durations.agg(name), places=3,
                                       msg=f"{found}: {name}")

    def expect_groups(self, rows, groups):
        self.assertEqual(sorted(row["name"] for row in rows), sorted(groups.groups))
        for row in rows:
            durations = groups.get_group((row["name"],)).duration_ns
            self.assertEqual(row["count"], len(durations))
            self.expect_tally(row, durations)

    def test_which_kernel(self):
        self.expect_groups(answer(self, "summary")["kernels"], self.kernels.groupby(["name"]))

    def test_which_layer(self):
        """By the scope of the graph's node, not of its launch."""
        found = answer(self, "summary", "--by", "scope")["rows"]
        work = self.work.assign(scope=self.work.scope.fillna("(no scope)"))
        self.expect_groups(found, work.groupby(["scope"]))
        nodes = read(self, "graph_nodes").set_index(["graph", "node"]).scope
        replayed = self.work[self.work.confidence == "exact"].dropna(subset=["node"])
        wanted = [nodes[(int(row.graph), int(row.node))] for row in replayed.itertuples()]
        self.assertGreater(len(wanted), 100)
        self.assertEqual(list(replayed.scope), wanted)
        self.assertTrue((replayed.scope != replayed.launch_scope).any())

    def test_part_of_it(self):
        found = answer(self, "summary", "--kernel", "loop_*", "--scope", "*jit_train*")["kernels"]
        in_train = self.kernels.scope.str.contains("jit_train|jit\\(train\\)", na=False) | \
            self.kernels.launch_scope.str.contains("jit_train", na=False)
        part = self.kernels[in_train & self.kernels.name.str.startswith("loop_")]
        self.assertTrue(0 < len(part) < len(self.kernels))
        self.expect_groups(found, part.groupby(["name"]))

    def test_how_well_is_the_gpu_used(self):
        for row in answer(self, "summary")["kernels"]:
            rows = self.kernels[self.kernels.name == row["name"]].dropna(subset=["occupancy"])
            mean = (rows.occupancy * rows.duration_ns).sum() / rows.duration_ns.sum()
            self.assertAlmostEqual(row["occupancy"], mean, places=4, msg=row["name"])
            longest = rows.groupby("occupancy_limit").duration_ns.sum().idxmax()
            self.assertEqual(row["occupancy_limit"], longest, row["name"])

    def test_bandwidth_of_copies(self):
        names = {"H2D": "copy host to device", "D2H": "copy device to host",
                 "D2D": "copy device to device"}
        copies = self.work[self.work.kind == "copy"]
        totals = copies.groupby(copies.direction.map(names))[["bytes", "duration_ns"]].sum()
        found = {row["name"]: row for row in answer(self, "summary", "--by", "copy")["rows"]}
        self.assertEqual(len(totals), 3)
        for name, total in totals.iterrows():
            self.assertEqual(found[name]["bytes"], total.bytes)
            self.assertAlmostEqual(found[name]["bytes_per_s"] / (total.bytes / total.duration_ns),
                                   1e9, delta=1)

    def test_which_node(self):
        found = answer(self, "graph", "--sort", "stddev", "--top", "20")["top"]
        groups = self.work.dropna(subset=["node"]).groupby(["graph", "node"]).duration_ns
        wanted = groups.std(ddof=1).fillna(0).sort_values(ascending=False)
        for row, stddev in zip(found, wanted):
            self.assertAlmostEqual(row["stddev_ns"], stddev, places=3)
        self.assertEqual(len(found), 20)
        for row in found:
            self.expect_tally(row, groups.get_group((row["graph"], row["id"])))

    def test_largest_gaps(self):
        """The times in which none of the GPU's activities ran."""
        rows = self.work.sort_values("start_ns")
        ends = rows.end_ns.cummax().shift()
        gaps = (rows.start_ns - ends)[rows.start_ns > ends].sort_values(ascending=False)
        found = answer(self, "gaps", "--limit", "0")["gaps"]
        self.assertEqual([row["duration_ns"] for row in found], [int(gap) for gap in gaps])
        # Who caused the largest: the calls of the host in it.
        calls = read(self, "calls")
        inside = calls[(calls.begin_ns < found[0]["end_ns"]) & (calls.end_ns > found[0]["begin_ns"])]
        self.assertGreater(len(inside), 0)
        self.assertTrue({row["name"] for row in found[0]["calls"]} <= set(inside.api))

    def test_who_holds_the_memory(self):
        changes = read(self, "memory").sort_values("ns", kind="stable")
        found = {row["kind"]: row for row in answer(self, "memory")["devices"]}
        allocations = changes[changes.operation == "allocate"]
        # Of an address, an operation and the next one; no address is used by two kinds.
        after = changes.groupby("address").ns.shift(-1)
        self.assertEqual(set(found), set(allocations.kind))
        for kind, rows in allocations.groupby("kind"):
            ends = after[rows.index]
            steps = pandas.concat([pandas.Series(rows.bytes.values, rows.ns.values),
                                   pandas.Series(-rows.bytes[ends.notna()].values,
                                                 ends.dropna().values)])
            live = steps.groupby(level=0).sum().sort_index().cumsum()
            self.assertEqual(found[kind]["allocated_bytes"], rows.bytes.sum())
            self.assertEqual(found[kind]["peak_bytes"], live.max())
            self.assertEqual(found[kind]["peak_ns"], live.idxmax())
            self.assertEqual(found[kind]["live_bytes"], live.iloc[-1])

    def test_replays_as_steps(self):
        found = answer(self, "scopes", "--step-of", "graph:15")["instances"]
        execs = self.work[self.work.graph == 15].exec.unique()
        replays = self.work[self.work.exec.isin(execs)].groupby(["exec", "replay"])
        spans = sorted(replays.end_ns.max() - replays.start_ns.min())
        self.assertEqual(len(spans), 9)
        self.assertEqual(sorted(row["projection"]["duration_ns"] for row in found), spans)
        # In the files for other readers, too.
        scopes = read(self, "scopes", "--step-of", "graph:15")
        self.assertEqual(list(scopes[scopes.kind == "step"].text),
                         [f"graph 15 step {step}" for step in range(9)])

    def test_what_changed(self):
        found = answer(self, "diff", "--per-scope", "XlaModule:*jit_train*", RECORDING)
        rows = self.kernels[self.kernels.launch_scope.str.contains("hlo_module=jit_train", na=False)]
        self.assertEqual((found["a_instances"], found["b_instances"], found["rows_changed"]), (3, 3, 0))
        means = rows.groupby("name").duration_ns.sum() / 3
        for row in found["rows"]:
            if row["name"] in means:
                self.assertAlmostEqual(row["a"]["mean_ns"], means[row["name"]], places=3)


if __name__ == "__main__":
    install_readers()
    sys.path.insert(0, str(READERS))
    import pandas
    unittest.main(verbosity=2)
