#!/usr/bin/env python3
"""witness.py: all checks pass on a recording of three programs, and each fails, alone where it can,
when what it compares is changed."""

import contextlib
import csv
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

import witness
import xla_profile

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
COUNTER = BUILD / "tests" / "call-counter" / "libcall-counter.so"
# Graphs with several kernels; kernels beside graphs; copies and memsets.
PROGRAMS = "graph-forkjoin 3 4 5 && ./plugin 5 && ./copies"


def record(folder):
    recording = folder / "run.dagtap"
    environment = dict(os.environ, LD_AUDIT=str(COUNTER), CALL_COUNTS=str(folder / "calls"))
    subprocess.run(
        [BUILD / "bin" / "dagtap", "record", "-q", "--calls", "all", f"--softgpu=kernel_ns=1000,work_log={folder / 'work_log'}",
         "-o", recording, "--", "sh", "-c", f"./{PROGRAMS}"],
        cwd=BUILD / "examples", env=environment, stdout=subprocess.DEVNULL, check=True,
    )
    witness.export(BUILD / "bin" / "dagtap", recording, folder)


class Planted:
    """A folder of evidence in which a test changes something."""

    def __init__(self, folder):
        self.folder = folder

    def edit_table(self, name, change):
        """CHANGE gets the list of rows."""
        path = self.folder / name
        rows = witness.read_table(path)
        columns = list(rows[0])
        change(rows)
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)

    def edit_json(self, name, change):
        path = self.folder / name
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value))

    def edit_log(self, type_name, change):
        """CHANGE gets the lines of the first log that has that type, as lists of fields, and the
        first one's place."""
        for path in sorted(self.folder.glob("work_log.*")):
            lines = [line.split("\t") for line in path.read_text().split("\n")]
            places = [place for place, line in enumerate(lines) if line[0] == type_name]
            if places:
                change(lines, places[0])
                path.write_text("\n".join("\t".join(line) for line in lines))
                return
        raise AssertionError(f"no line of type {type_name}")

    def edit_count(self, name, change):
        """Adds CHANGE to the first count of NAME."""
        for path in sorted(self.folder.glob("calls.*")):
            data = bytearray(path.read_bytes())
            at = data.find(f"{name}\t".encode()) - 8
            if at >= 0:
                struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + change)
                path.write_bytes(data)
                return
        raise AssertionError(f"no count of {name}")


def first(rows, **wanted):
    return next(row for row in rows if all(row[name] == value for name, value in wanted.items()))


COLUMNS = """type agent queue index kernel grid_x grid_y grid_z workgroup_x workgroup_y
workgroup_z kernarg signal begin end bytes source destination""".split()


def column(name):
    return COLUMNS.index(name)


class Witness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(tempfile.mkdtemp())
        cls.whole = cls.path / "whole"
        cls.whole.mkdir()
        record(cls.whole)

    @classmethod
    def tearDownClass(cls):
        if "DAGTAP_TEST_FOLDER" not in os.environ:  # else tests/run.sh removes it, or keeps it
            shutil.rmtree(cls.path)

    def setUp(self):
        self.planted = Planted(self.path / self.id().rsplit(".", 1)[1])
        shutil.copytree(self.whole, self.planted.folder)

    def expect_failed(self, *names):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            failed = witness.run_checks(witness.Evidence(self.planted.folder))
        self.assertEqual(set(failed), set(names), text.getvalue())
        lines = text.getvalue().splitlines()
        self.assertEqual(len(lines), len(witness.CHECKS))
        for line, name in zip(lines, witness.CHECKS):
            self.assertRegex(line, rf"^FAILED {name}: ." if name in failed else rf"^ok {name} \d+$")

    def test_nothing_is_changed(self):
        self.expect_failed()
        evidence = witness.Evidence(self.planted.folder)
        self.assertEqual(len(evidence.log_rows), 3)
        for name in ("packets", "copies", "calls", "replays", "node_counts"):
            self.assertGreater(witness.CHECKS[name](evidence), 0)

    def test_exit_status(self):
        command = ["python3", witness.__file__, "check", self.planted.folder]
        self.assertEqual(subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode, 0)
        self.planted.edit_count("hipGraphLaunch", 1)
        self.assertEqual(subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode, 1)

    # ---- packets ----

    def test_packet_is_not_recorded(self):
        self.planted.edit_table(
            "activities.csv", lambda rows: rows.remove(first(rows, kind="kernel", replay="")))
        self.expect_failed("packets", "totals")

    def test_packet_is_not_logged(self):
        self.planted.edit_log("dispatch", lambda lines, at: lines.pop(at))
        self.expect_failed("log_totals", "packets", "packet_times")

    def test_packet_is_recorded_twice(self):
        self.planted.edit_table(
            "activities.csv", lambda rows: rows.append(dict(first(rows, kind="kernel", replay=""))))
        self.expect_failed("packets", "packet_times", "totals")

    def test_barrier_is_not_logged(self):
        self.planted.edit_log("barrier_and", lambda lines, at: lines.pop(at))
        self.expect_failed("log_totals")

    def test_kernel_has_another_name(self):
        def rename(lines, at):
            lines[at][column("kernel")] += "x"

        self.planted.edit_log("dispatch", rename)
        self.expect_failed("packets")

    def test_grid_is_another(self):
        def widen(rows):
            first(rows, kind="kernel", replay="")["grid_y"] = "7"

        self.planted.edit_table("activities.csv", widen)
        self.expect_failed("packets")

    def test_packets_change_places(self):
        def swap(lines, at):
            line = lines[at]
            other = next(
                other for other in lines[at:]
                if other[0] == "dispatch" and other[column("queue")] == line[column("queue")]
                and other[column("kernel")] != line[column("kernel")])
            for name in ("kernel", *witness.SHAPE):
                line[column(name)], other[column(name)] = other[column(name)], line[column(name)]

        self.planted.edit_log("dispatch", swap)
        self.expect_failed("packets")

    def test_device_is_another(self):
        def move(rows):
            first(rows, kind="kernel")["device"] = "1"

        self.planted.edit_table("activities.csv", move)
        self.expect_failed("packets")

    def test_kernel_ends_later(self):
        def end_later(lines, at):
            lines[at][column("end")] = str(int(lines[at][column("end")]) + 1)

        self.planted.edit_log("dispatch", end_later)
        self.expect_failed("packet_times")

    # ---- copies ----

    def test_copy_has_other_bytes(self):
        def widen(lines, at):
            lines[at][column("bytes")] += "0"

        self.planted.edit_log("copy", widen)
        self.expect_failed("copies")

    def test_copy_is_not_recorded(self):
        self.planted.edit_table(
            "activities.csv", lambda rows: rows.remove(first(rows, kind="copy", blit="0")))
        self.expect_failed("copies", "totals")

    def test_copy_goes_elsewhere(self):
        def turn(rows):
            first(rows, kind="copy", blit="0", direction="H2D")["direction"] = "D2H"

        self.planted.edit_table("activities.csv", turn)
        self.expect_failed("copies")

    # ---- calls ----

    def test_call_is_not_counted(self):
        self.planted.edit_count("hipMalloc", -1)
        self.expect_failed("calls")

    def test_call_is_not_recorded(self):
        self.planted.edit_table("api.csv", lambda rows: rows.remove(first(rows, api="hipStreamSynchronize")))
        self.expect_failed("calls", "totals")

    def test_call_has_another_name(self):
        def rename(rows):
            first(rows, api="hipMalloc")["api"] = "hipFree"

        self.planted.edit_table("api.csv", rename)
        self.expect_failed("calls")

    def test_counter_was_incomplete(self):
        self.planted.edit_count("#process", 1)
        with self.assertRaisesRegex(ValueError, "1 functions or libraries were not counted"):
            witness.Evidence(self.planted.folder)

    # ---- graphs ----

    def test_node_is_not_sure(self):
        def doubt(rows):
            first(rows, confidence="exact")["confidence"] = "order"

        self.planted.edit_table("activities.csv", doubt)
        self.expect_failed("graph_places")

    def test_node_is_missing(self):
        def forget(rows):
            first(rows, confidence="exact")["node"] = ""

        self.planted.edit_table("activities.csv", forget)
        self.expect_failed("graph_places", "replays", "node_counts")

    def test_nodes_change_places(self):
        def swap(rows):
            one = first(rows, kind="kernel", confidence="exact")
            other = next(
                row for row in rows
                if row["kind"] == "kernel" and row["name"] != one["name"]
                and all(row[key] == one[key] for key in ("process", "exec", "replay")))
            one["node"], other["node"] = other["node"], one["node"]

        self.planted.edit_table("activities.csv", swap)
        self.expect_failed("replays")

    def test_node_has_another_kernel(self):
        def rename(rows):
            first(rows, type="kernel")["name"] += "x"

        self.planted.edit_table("graph_nodes.csv", rename)
        self.expect_failed("replays")

    def test_node_has_another_grid(self):
        def widen(rows):
            first(rows, type="kernel")["grid_x"] += "0"

        self.planted.edit_table("graph_nodes.csv", widen)
        self.expect_failed("replays")

    def test_kernel_is_of_another_replay(self):
        def move(rows):
            one = first(rows, kind="kernel", confidence="exact", replay="0")
            one["replay"] = "1"

        self.planted.edit_table("activities.csv", move)
        self.expect_failed("replays")

    def test_launch_has_no_kernels(self):
        def empty(rows):
            one = first(rows, kind="kernel", confidence="exact", replay="1")
            for row in rows:
                if all(row[key] == one[key] for key in ("process", "exec", "replay")):
                    row["replay"] = "99"

        self.planted.edit_table("activities.csv", empty)
        self.expect_failed("replays")

    def test_node_count_is_another(self):
        def count(value):
            next(node for node in value["graphs"][0]["nodes"] if node["type"] == "kernel")["count"] += 1

        self.planted.edit_json("graph.json", count)
        self.expect_failed("node_counts")

    # ---- what dagtap says of all ----

    def test_summary_counts_another_kernel(self):
        def count(value):
            value["totals"]["kernels"] += 1

        self.planted.edit_json("summary.json", count)
        self.expect_failed("totals")

    def test_ledger_is_open(self):
        self.planted.edit_json("check.json", lambda value: value.update(ok=False))
        self.expect_failed("ledger")

    def test_witnesses_are_missing(self):
        for path in self.planted.folder.glob("calls.*"):
            path.unlink()
        with self.assertRaises(ValueError):
            witness.Evidence(self.planted.folder)

    def test_a_killed_log_has_no_totals(self):
        path = next(self.planted.folder.glob("work_log.*"))
        text = path.read_text()
        path.write_bytes(text[: text.index("#total")].encode() + b"dispatch\t1\t" + bytes(100))
        self.expect_failed()

    def test_counts_have_callers(self):
        counts = witness.Evidence(self.whole).calls
        callers = {caller for (_, caller, _), count in counts.items() if count}
        self.assertEqual(callers, {"graph-forkjoin", "libplugin-work.so", "copies"})


class Operations(unittest.TestCase):
    """Kernels by operation of HLO, as hlo_operations.py counts them."""

    def test_operations_differ(self):
        one = {"jit_step dot.1": {"gemm": 3}, "jit_step tanh.2": {"fusion": 3, "copy": 1}}
        self.assertEqual(xla_profile.same_operations(one, dict(one)), "2 operations, 7 kernels")
        for other in ({**one, "jit_step dot.1": {"gemm": 2}}, {**one, "jit_step dot.1": {"gemm_2": 3}},
                      {**one, "jit_step add.3": {"add": 1}}, {"jit_step dot.1": {"gemm": 3}}):
            for profiled, recorded in ((one, other), (other, one)):
                with self.assertRaises(witness.Difference):
                    xla_profile.same_operations(profiled, recorded)
        with self.assertRaises(witness.Difference):
            xla_profile.same_operations({}, {})


if __name__ == "__main__":
    unittest.main()
