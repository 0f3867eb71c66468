#!/usr/bin/env python3
"""updates.py and judge.py's comparisons: all pass on recordings of set-nodes, and each fails, with
the place in its message, when what it compares is changed. Without JAX."""

import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import tempfile
import types
import unittest

import judge
import updates
import witness
from test_jax_rocm_witness import BUILD, COUNTER, Planted, column, first

WATCH = judge.WITNESSES / "libgraph-watch.so"
PROGRAM = judge.WITNESSES / "set-nodes"
# set-nodes sets a node to another kernel, which the check of replays does not know of.
CHECKS = {name: check for name, check in witness.CHECKS.items() if name != "replays"} | {
    "updates": updates.check_updates, "advice": updates.check_advice}
# A graph of set-nodes, the one that is launched first.
FILL, GROWN, MIXED = "0", "1", "2"


def run(folder, *, traced):
    """What set-nodes printed. Its files go to FOLDER."""
    folder.mkdir()
    device = f"softgpu=kernel_ns=1000,work_log={folder / 'work_log'}"
    command = [PROGRAM, "5"]
    if traced:
        watched = f'LD_PRELOAD="{WATCH}:$LD_PRELOAD" GRAPH_WATCH="{folder / "graph_watch"}" exec "$@"'
        command = [BUILD / "bin" / "dagtap", "record", "-q", "--calls", "all", f"--{device}", "-o", folder / "run.dagtap",
                   "--", "sh", "-c", watched, "sh", *command]
    else:
        command = [BUILD / "bin" / "dagtap", device, "--", *command]
    environment = dict(os.environ, LD_AUDIT=str(COUNTER), CALL_COUNTS=str(folder / "calls"))
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    if traced:
        witness.export(BUILD / "bin" / "dagtap", folder / "run.dagtap", folder)
    return done.stdout


class PlantedUpdates(Planted):
    """And in what the graph watch wrote."""

    def edit_watch(self, change):
        """CHANGE gets the lines, as lists of fields."""
        (path,) = self.folder.glob("graph_watch.*")
        lines = [line.split("\t") for line in path.read_text().splitlines()]
        change(lines)
        path.write_text("".join("\t".join(line) + "\n" for line in lines))


class Plants(unittest.TestCase):
    """Each test has a copy of the recording."""

    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(tempfile.mkdtemp())
        cls.whole = cls.path / "whole"
        cls.printed = run(cls.whole, traced=True)

    @classmethod
    def tearDownClass(cls):
        if "DAGTAP_TEST_FOLDER" not in os.environ:  # else tests/run.sh removes it, or keeps it
            shutil.rmtree(cls.path)

    def setUp(self):
        self.planted = PlantedUpdates(self.path / self.id().rsplit(".", 1)[1])
        shutil.copytree(self.whole, self.planted.folder)

    def expect_failed(self, checks, **wanted):
        """Exactly those of CHECKS that WANTED names fail, each with a message like its
        expression."""
        evidence = witness.Evidence(self.planted.folder)
        told = {}
        for name, check in checks.items():
            try:
                check(evidence)
            except witness.Difference as difference:
                told[name] = str(difference)
        self.assertEqual(set(told), set(wanted), told)
        for name, text in told.items():
            self.assertRegex(text, wanted[name])

    def expect_difference(self, text, function, *arguments):
        """Alone, and as judge.py says it."""
        with self.assertRaisesRegex(witness.Difference, text):
            function(*arguments)
        one, printed = judge.Judge(), io.StringIO()
        with contextlib.redirect_stdout(printed):
            one.check("planted", function, *arguments)
        self.assertTrue(one.failed)
        self.assertRegex(printed.getvalue(), rf"^FAILED planted: .*{text}")


class Updates(Plants):
    def expect(self, **wanted):
        self.expect_failed(CHECKS, **wanted)

    def edit_kernel(self, change, **wanted):
        """CHANGE gets a kernel of the first graph: its row of activities.csv."""
        self.planted.edit_table(
            "activities.csv", lambda rows: change(first(rows, kind="kernel", graph="1", exec="1", **wanted)))

    def edit_advice(self, change, node):
        """CHANGE gets what is advised of that node of the first graph."""
        def edit(value):
            graph = next(graph for graph in value["graphs"] if graph["graph"] == 1)
            change(next(row for row in graph["updated_nodes"] if str(row["id"]) == node))

        self.planted.edit_json("advice.json", edit)

    def remove_set(self, kind, number=0):
        def remove(lines):
            lines.remove([line for line in lines if line[0] == "set" and line[3] == kind][number])

        self.planted.edit_watch(remove)

    def test_nothing_is_changed(self):
        self.expect()
        evidence = witness.Evidence(self.planted.folder)
        # Two rounds, two graphs, five launches each of two kernels. Sets: the grown node in each,
        # both others in three.
        self.assertEqual(updates.check_updates(evidence), 2 * 2 * 5 * 2)
        self.assertEqual(updates.check_advice(evidence), 2 * 2 * (5 + 3 + 3))

    def test_handles_are_used_again(self):
        """HIP decides whether the second round's handles are those of the first; here they are."""
        def same(lines):
            made = [line for line in lines if line[0] == "instantiate"]
            other = {made[number + 2][1]: made[number][1] for number in range(2)}
            at = lines.index(made[2])
            for line in lines[at:]:
                if line[0] in ("instantiate", "set", "launch"):
                    line[1] = other[line[1]]

        self.planted.edit_watch(same)
        self.expect()

    # ---- updates ----

    def test_grid_is_of_before_the_update(self):
        """As after an update that was missed: the node runs as it did in the launch before."""
        self.edit_kernel(lambda row: row.update(grid_x="64"), replay="1", node=GROWN)
        self.expect(packets=r"queue \d+, place \d+: ", updates=(
            r"launch 2, graph 1, node 1: set to \[\('mix', '128', .*recorded \[\('mix', '64',"))

    def test_kernel_is_of_before_the_update(self):
        """Another kernel with the same grid: the shape does not tell."""
        self.edit_kernel(lambda row: row.update(name="mix"), replay="0", node=MIXED)
        self.expect(packets=r"queue \d+, place \d+: ", updates=(
            r"launch 0, graph 1, node 2: set to \[\('rotate', '256', .*recorded \[\('mix', '256',"))

    def test_function_is_unknown(self):
        """The name is not compared then, the shape is."""
        self.planted.edit_watch(lambda lines: lines.remove(first_line(lines, "function", 2, "rotate")))
        self.expect()
        self.edit_kernel(lambda row: row.update(grid_x="64"), replay="0", node=MIXED)
        self.expect(packets=r"queue \d+, place \d+: ", updates=(
            r"launch 0, graph 1, node 2: set to \[\(None, '256',.*recorded \[\(None, '64'"))

    def test_nodes_change_places(self):
        def swap(rows):
            one, other = (
                first(rows, kind="kernel", exec="1", replay="0", node=node) for node in (GROWN, MIXED))
            one["node"], other["node"] = other["node"], one["node"]

        self.planted.edit_table("activities.csv", swap)
        self.expect(updates=r"launch 0, graph 1, node 1: set to \[\('mix', '64',.*recorded \[\('rotate', '256',")

    def test_kernels_of_two_launches_change_places(self):
        def swap(rows):
            one, other = (first(rows, kind="kernel", exec="1", replay=replay, node=GROWN) for replay in "01")
            one["replay"], other["replay"] = other["replay"], one["replay"]

        self.planted.edit_table("activities.csv", swap)
        self.expect(updates=r"launch 0, graph 1, node 1: set to \[\('mix', '64',.*recorded \[\('mix', '128',")

    def test_node_ran_twice(self):
        self.planted.edit_table("activities.csv", lambda rows: rows.append(
            dict(first(rows, kind="kernel", exec="1", replay="0", node=GROWN))))
        self.expect(packets=r"queue \d+, place \d+: ", packet_times=r"queue \d+: 1, first",
                    node_counts="6 witnessed, 5 recorded", totals="kernels: ",
                    updates=r"launch 0, graph 1, node 1: .*recorded \[\('mix', '64',.*\), \('mix', '64',")

    def test_node_did_not_run(self):
        self.edit_kernel(lambda row: row.update(node=""), replay="0", node=GROWN)
        self.expect(graph_places="has no node", node_counts="1 witnessed, 0 recorded",
                    updates=r"launch 0, graph 1, node 1: set to \[\('mix', '64',.*recorded None")

    def test_launch_is_not_recorded(self):
        self.planted.edit_table(
            "api.csv", lambda rows: rows.remove(first(rows, api="hipGraphLaunch", exec="1", replay="1")))
        told = r"process \d+: 20 launches watched, 19 recorded"
        self.expect(calls="hipGraphLaunch: 20 witnessed, 19 recorded", totals="api_calls: ", updates=told, advice=told)

    def test_failed_launch_is_no_launch(self):
        self.planted.edit_table("api.csv", lambda rows: first(rows, api="hipGraphLaunch", exec="1").update(result="1"))
        told = r"process \d+: 20 launches watched, 19 recorded"
        self.expect(updates=told, advice=told)

    # ---- both ----

    def test_set_of_a_kernel_was_not_watched(self):
        self.remove_set("kernel")
        self.expect(updates=r"launch 0, graph 1, node 1: set to \[\('mix', '256',.*recorded \[\('mix', '64',",
                    advice=r"1 differ, first process \d+, graph 1, node 1: 4 witnessed, 5 recorded")

    def test_set_of_a_fill_was_not_watched(self):
        self.remove_set("other")
        self.expect(advice=r"1 differ, first process \d+, graph 1, node 0: 2 witnessed, 3 recorded")

    def test_process_was_not_watched(self):
        (path,) = self.planted.folder.glob("graph_watch.*")
        path.unlink()
        told = f"process {path.suffix[1:]} was not watched"
        self.expect(updates=told, advice=told)

    # ---- advice ----

    def test_advised_count_is_another(self):
        self.edit_advice(lambda row: row.update(updates=row["updates"] + 1), FILL)
        self.expect(advice=r"1 differ, first process \d+, graph 1, node 0: 3 witnessed, 4 recorded")

    def test_advised_node_has_another_name(self):
        self.edit_advice(lambda row: row.update(name="rotate"), MIXED)
        self.expect(advice=r"process \d+, graph 1, node 2: built with mix, advised as rotate")

    def test_advised_node_is_another(self):
        self.edit_advice(lambda row: row.update(id=3), GROWN)
        self.expect(advice=r"2 differ, first process \d+, graph 1, node 1: 5 witnessed, 0 recorded")

    def test_graph_is_not_advised(self):
        self.planted.edit_json("advice.json", lambda value: value["graphs"].pop(0))
        self.expect(advice=r"3 differ, first process \d+, graph 1, node 0: 3 witnessed, 0 recorded")


def first_line(lines, what, place, value):
    return next(line for line in lines if line[0] == what and line[place] == value)


# Two communicators of one process, with two all-reduces each, as the graph watch and dagtap write
# them.
WATCHED = """communicator\t0x10\t0
communicator\t0x20\t1
all-reduce\t0x10\t263168
all-reduce\t0x20\t263168
all-reduce\t0x20\t512
all-reduce\t0x10\t512
"""
CALLS = [("0x10", 0, 1, 65792, 7), ("0x20", 1, 1, 65792, 7), ("0x20", 1, 2, 256, 6), ("0x10", 0, 2, 256, 6)]
ARGUMENTS = "sendbuff=0x1000 recvbuff=0x2000 count={3} datatype={4} op=0 comm={0} stream=0x30 rank={1} seq={2}"


class Collectives(Plants):
    """RCCL's calls are put into a recording that has none."""

    def setUp(self):
        super().setUp()
        (path,) = self.planted.folder.glob("graph_watch.*")
        path.write_text(WATCHED)

        def add(rows):
            last = max(int(row["cid"]) for row in rows)
            for number, call in enumerate(CALLS, 1):
                rows.append(dict(rows[0], cid=last + number, api="ncclAllReduce", parent_cid="", result=0,
                                 args=ARGUMENTS.format(*call)))

        self.planted.edit_table("api.csv", add)

    def expect(self, **wanted):
        self.expect_failed({"collectives": updates.check_collectives}, **wanted)

    def replace(self, one, other, comm="0x20", seq=2):
        def replace(rows):
            row = next(row for row in rows if f"comm={comm} " in row["args"] and row["args"].endswith(f"seq={seq}"))
            self.assertIn(one, row["args"])
            row["args"] = row["args"].replace(one, other)

        self.planted.edit_table("api.csv", replace)

    def test_nothing_is_changed(self):
        self.expect()
        self.assertEqual(updates.check_collectives(witness.Evidence(self.planted.folder)), 4)

    def test_rank_is_another(self):
        self.replace("rank=1", "rank=0")
        self.expect(collectives=r"communicator 0x20, place 1: \(2, '1', 512\) witnessed, \(2, '0', 512\) recorded")

    def test_rank_is_unknown(self):
        self.replace(" rank=1", "")
        self.expect(collectives=r"communicator 0x20, place 1: \(2, '1', 512\) witnessed, \(2, None, 512\) recorded")

    def test_number_is_another(self):
        self.replace("seq=2", "seq=3")
        self.expect(collectives=r"communicator 0x20, place 1: \(2, '1', 512\) witnessed, \(3, '1', 512\) recorded")

    def test_numbers_change_places(self):
        self.replace("seq=2", "seq=0")
        self.replace("seq=1", "seq=2", seq=1)
        self.replace("seq=0", "seq=1", seq=0)
        self.expect(
            collectives=r"communicator 0x20, place 0: \(1, '1', 263168\) witnessed, \(2, '1', 263168\) recorded")

    def test_number_is_unknown(self):
        self.replace(" seq=2", "")
        self.expect(collectives=r"communicator 0x20, place 1: \(2, '1', 512\) witnessed, \(None, '1', 512\) recorded")

    def test_count_is_another(self):
        self.replace("count=65792", "count=65793", comm="0x10", seq=1)
        self.expect(
            collectives=r"communicator 0x10, place 0: \(1, '0', 263168\) witnessed, \(1, '0', 263172\) recorded")

    def test_type_is_another(self):
        self.replace("datatype=6", "datatype=8")
        self.expect(collectives=r"communicator 0x20, place 1: \(2, '1', 512\) witnessed, \(2, '1', 2048\) recorded")

    def test_communicator_is_another(self):
        for seq in (1, 2):
            self.replace("comm=0x20", "comm=0x21", seq=seq)
        self.expect(collectives="communicator 0x20: witnessed alone")

    def test_operation_is_not_recorded(self):
        self.planted.edit_table("api.csv", lambda rows: rows.pop())
        self.expect(collectives=(
            r"communicator 0x10: 2 witnessed, 1 recorded; the first without another: \(2, '0', 512\)"))

    def test_operation_was_not_watched(self):
        self.planted.edit_watch(lambda lines: lines.pop())
        self.expect(collectives=(
            r"communicator 0x10: 1 witnessed, 2 recorded; the first without another: \(2, '0', 512\)"))

    def test_nothing_was_watched(self):
        self.planted.edit_watch(lambda lines: lines.clear())
        self.planted.edit_table(
            "api.csv", lambda rows: rows.__setitem__(slice(None), [r for r in rows if r["api"] != "ncclAllReduce"]))
        self.expect(collectives="nothing was watched")

    def test_process_was_not_watched(self):
        (path,) = self.planted.folder.glob("graph_watch.*")
        path.unlink()
        self.expect(collectives=f"process {path.suffix[1:]} was not watched")


class Comparisons(Plants):
    """judge.py's: of a run with the same run, changed, and with a run that was not traced."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traced = cls.run_of(witness.Evidence(cls.whole))
        cls.printed_untraced = run(cls.path / "untraced", traced=False)

    @classmethod
    def run_of(cls, evidence, printed=None):
        done = types.SimpleNamespace(stdout=cls.printed if printed is None else printed)
        return types.SimpleNamespace(name="run", evidence=evidence, done=done)

    def changed(self):
        return self.run_of(witness.Evidence(self.planted.folder))

    def expect(self, other, **wanted):
        """Of the comparisons, exactly those named fail."""
        for compared in (judge.output, judge.kernels, judge.work, judge.calls):
            with self.subTest(compared.__name__):
                pair = compared(self.traced), compared(other)
                if compared.__name__ in wanted:
                    self.expect_difference(wanted[compared.__name__], judge.same_counts, *pair)
                else:
                    self.assertGreater(judge.same_counts(*pair), 0)

    def edit_dispatch(self, name, change):
        def edit(lines, at):
            line = next(line for line in lines[at:] if line[0] == "dispatch" and line[column("kernel")] == "rotate")
            line[column(name)] = change(line[column(name)])

        self.planted.edit_log("dispatch", edit)

    def test_nothing_is_changed(self):
        self.expect(self.changed())

    def test_as_untraced(self):
        self.expect(self.run_of(witness.Witnesses(self.path / "untraced"), self.printed_untraced))

    def test_kernel_is_another(self):
        self.edit_dispatch("kernel", lambda name: f"{name}x")
        self.expect(self.changed(), kernels=r"2 differ, first rotate: (\d+) and \d+", work=r"\('dispatch', 'rotate'")

    def test_shape_is_another(self):
        for name in witness.SHAPE:
            self.edit_dispatch(name, lambda size: f"{size}0")
            self.expect(self.changed(), work=r"2 differ, first \('dispatch', 'rotate', '256',")

    def test_packet_is_missing(self):
        self.planted.edit_log("dispatch", lambda lines, at: lines.pop(at))
        self.expect(self.changed(), kernels=r"1 differ, first \S+: (\d+) and \d+", work=r"1 differ, first \('dispatch'")

    def test_copy_is_another(self):
        for name in ("bytes", "source", "destination"):
            def edit(lines, at):
                lines[at][column(name)] += "0"

            self.planted.edit_log("copy", edit)
            self.expect(self.changed(), work=r"2 differ, first \('copy', ")

    def test_copy_is_missing(self):
        self.planted.edit_log("copy", lambda lines, at: lines.pop(at))
        self.expect(self.changed(), work=r"1 differ, first \('copy', ")

    def test_barrier_is_missing(self):
        self.planted.edit_log("barrier_and", lambda lines, at: lines.pop(at))
        self.expect(self.changed())

    def test_call_is_missing(self):
        self.planted.edit_count("hipMalloc", -1)
        self.expect(self.changed(), calls=r"1 differ, first \('hipMalloc', 'set-nodes'\): 12 and 11")

    def test_call_has_another_caller(self):
        calls = self.traced.evidence.calls
        other = self.changed()
        for (name, caller, definer), count in calls.items():
            if name == "hipMalloc":
                del other.evidence.calls[name, caller, definer]
                other.evidence.calls[name, "libother.so", definer] = count
        self.expect(other, calls=r"2 differ, first \('hipMalloc', 'libother.so'\): 0 and 12")

    def test_calls_by_time_are_not_compared(self):
        other = self.changed()
        other.evidence.calls["hipStreamWaitEvent", "set-nodes", "libamdhip64.so.5"] += 1
        self.expect(other)

    def test_output_is_another(self):
        self.expect(self.run_of(self.traced.evidence, "kernels launched: 41\n"),
                    output="2 differ, first kernels launched: 40: 1 and 0")

    # ---- of one run ----

    def test_graphs(self):
        run = self.changed()
        self.assertEqual(judge.has_graphs(run), 20)
        self.expect_difference("a graph was launched", judge.has_none, run)
        self.planted.edit_json("summary.json", lambda value: value["totals"].update(graph_launches=0))
        run = self.changed()
        self.expect_difference("no graph was launched", judge.has_graphs, run)
        self.assertEqual(judge.has_none(run), 0)

    def test_device_counters(self):
        if os.environ.get("DAGTAP_COUNTERS") != "0":
            self.expect_difference("the ledger has softgpu", judge.has_no_device_counters, self.changed())
        self.planted.edit_json("check.json", lambda value: value.update(
            sources=[source for source in value["sources"] if not source["name"].startswith("softgpu")]))
        self.assertGreater(judge.has_no_device_counters(self.changed()), 0)

    def test_tables(self):
        names = ["hip.table", "hsa.table"]
        self.expect_difference("not taken: ", judge.tables_were_taken, self.changed(), names)

        def states(*wanted):
            self.planted.edit_json("check.json", lambda value: value.update(
                sources=[{"name": name, "state": state} for name, state in zip(names, wanted)]))
            return self.changed()

        self.expect_difference("not taken: hsa.table$", judge.tables_were_taken, states("on", "off"), names)
        self.expect_difference("not taken: hsa.table$", judge.tables_were_taken, states("on"), names)
        self.assertEqual(judge.tables_were_taken(states("on", "on"), names), 2)

    def test_judge(self):
        one, printed = judge.Judge(), io.StringIO()
        with contextlib.redirect_stdout(printed):
            one.same("kernels", {"a": 2}, {"a": 2})
        self.assertEqual((one.failed, printed.getvalue()), (False, "ok kernels 2\n"))
        with contextlib.redirect_stdout(io.StringIO()):
            one.recording(self.traced, ["packets"])
        self.assertFalse(one.failed)
        self.planted.edit_log("dispatch", lambda lines, at: lines.pop(at))
        with contextlib.redirect_stdout(io.StringIO()):
            one.recording(self.changed(), ["packets"])
        self.assertTrue(one.failed)


if __name__ == "__main__":
    unittest.main()
