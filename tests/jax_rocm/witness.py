#!/usr/bin/env python3
"""A recording of dagtap's against witnesses that are not dagtap's: the software GPU's work log and
the call counter.

witness.py export DAGTAP RECORDING FOLDER   puts what dagtap says of the recording into FOLDER
witness.py check FOLDER                     one line for each check; exit status 1 when any failed

FOLDER has what export writes, and the witnesses' files, work_log.* and calls.*: what the recorded
program was run with (DAGTAP_SOFTGPU work_log=FOLDER/work_log, CALL_COUNTS=FOLDER/calls)."""

import collections
import csv
import ctypes
import functools
import json
import pathlib
import re
import subprocess
import sys

from call_counts import read_counts

GRAPH_LAUNCHES = {"hipGraphLaunch", "hipGraphLaunch_spt"}
# Whose calls of HIP's functions are not a program's: HIP's own, and a witness' that passes the
# program's on.
NO_PROGRAMS = re.compile(r"lib(amdhip64|hiprtc|graph-watch|hand-over)\.so")
# Other libraries whose functions have names of this kind.
OTHERS = re.compile(r"hip(rtc|blas|fft|sparse|solver|rand|dnn|tensor)")
DIRECTIONS = {(False, False): "H2H", (False, True): "H2D", (True, False): "D2H", (True, True): "D2D"}
SHAPE = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"]
EXPORTS = {
    "activities.csv": ["export", "--format", "csv"],
    "api.csv": ["export", "--format", "csv", "--table", "calls"],
    "graph_nodes.csv": ["export", "--format", "csv", "--table", "graph_nodes"],
    "summary.json": ["summary", "--json"],
    "check.json": ["check", "--json"],
    "graph.json": ["graph", "--json"],
    "advice.json": ["graph", "--json", "--advise"],
}


class Difference(Exception):
    """What a check found."""


# ---- reading ----


def read_work_log(path):
    """The packets and copies of one process, and its totals (None after a kill). Text behind the
    last line feed, and zeroes, are what a kill left."""
    lines = pathlib.Path(path).read_bytes().rpartition(b"\n")[0].decode().split("\n")
    columns = lines[0].split("\t")
    pid, rows, totals = None, [], None
    for line in lines[1:]:
        fields = line.split("\t")
        if fields[0] == "#process":
            pid = fields[1].removeprefix("pid=")
        elif fields[0] == "#total":
            totals = {name: int(number) for name, number in (field.split("=") for field in fields[1:])}
        elif len(fields) == len(columns):
            rows.append(dict(zip(columns, fields), process=pid))
        else:
            raise ValueError(f"{path}: {len(fields)} fields, not {len(columns)}: {line}")
    return rows, totals


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Witnesses:
    """What others than dagtap left in a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        logs = [read_work_log(path) for path in sorted(self.folder.glob("work_log.*"))]
        self.log = [row for rows, _ in logs for row in rows]
        self.log_totals = [totals for _, totals in logs]
        self.log_rows = [rows for rows, _ in logs]
        self.calls = collections.Counter()
        for path in sorted(self.folder.glob("calls.*")):
            self.calls += read_counts(path)
        if not logs or not self.calls:
            raise ValueError(f"{folder}: no work_log.* or no calls.*")


class Evidence(Witnesses):
    """And what dagtap says, as export put it there."""

    def __init__(self, folder):
        super().__init__(folder)
        self.activities = read_table(self.folder / "activities.csv")
        self.api = read_table(self.folder / "api.csv")
        self.nodes = read_table(self.folder / "graph_nodes.csv")
        # By name: what libraries call while the process ends.
        self.calls_after_the_end = collections.Counter()
        self.summary, self.ledger, self.graphs, self.advice = (
            json.loads((self.folder / f"{name}.json").read_text()) for name in ("summary", "check", "graph", "advice"))

    def dispatched(self):
        """The rows that a dispatch packet carried."""
        return [row for row in self.activities if row["kind"] == "kernel" or row["blit"] == "1"]

    def copied(self):
        """The rows that a copy engine carried."""
        return [row for row in self.activities if row["kind"] != "kernel" and row["blit"] != "1"]


# ---- comparing ----


def by_key(rows, *names):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def expect_same_keys(what, witness, recorded):
    for key in sorted(set(witness) ^ set(recorded)):
        where = "witnessed alone" if key in witness else "recorded alone"
        raise Difference(f"{what} {'/'.join(key)}: {where}")


def expect_same_counts(witness, recorded):
    """Two counters; the difference names the first of all that differ."""
    names = sorted(name for name in set(witness) | set(recorded) if witness[name] != recorded[name])
    if names:
        raise Difference(
            f"{len(names)} differ, first {names[0]}: "
            f"{witness[names[0]]} witnessed, {recorded[names[0]]} recorded"
        )


def expect_same_sequence(where, witness, recorded):
    for place, (one, other) in enumerate(zip(witness, recorded)):
        if one != other:
            raise Difference(f"{where}, place {place}: {one} witnessed, {other} recorded")
    if len(witness) != len(recorded):
        longer = max(witness, recorded, key=len)
        rest = longer[min(len(witness), len(recorded))]
        raise Difference(
            f"{where}: {len(witness)} witnessed, {len(recorded)} recorded; the first without another: {rest}"
        )


def in_device_order(rows):
    """Those with ticks, in the order of these, and how many have none."""
    timed = [row for row in rows if row["start_tick"]]
    timed.sort(key=lambda row: (int(row["start_tick"]), int(row["end_tick"])))
    return timed, len(rows) - len(timed)


def dispatches_by_queue(evidence):
    """Two of {(process, queue): rows}, the log's and the recording's, by the log's numbers. dagtap
    gives queues numbers of its own: its queue is that one of the log's that has most of its
    ticks."""
    witness = by_key((row for row in evidence.log if row["type"] == "dispatch"), "process", "queue")
    at = {(row["process"], int(row["begin"])): row["queue"] for rows in witness.values() for row in rows}
    recorded = {}
    for (process, queue), rows in sorted(by_key(evidence.dispatched(), "process", "queue").items()):
        ticks = (int(row["start_tick"]) for row in rows if row["start_tick"])
        votes = collections.Counter(at[process, tick] for tick in ticks if (process, tick) in at)
        chosen = votes.most_common(1)[0][0] if votes else f"{queue} of dagtap's"
        if (process, chosen) in recorded:
            chosen = f"{queue} of dagtap's, beside another with the ticks of {chosen}"
        recorded[process, chosen] = rows
    return witness, recorded


CXX = ctypes.CDLL("libstdc++.so.6")
CXX.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
CXX.__cxa_demangle.restype = ctypes.c_void_p
CXX.free.argtypes = [ctypes.c_void_p]


@functools.cache
def readable(symbol):
    """A C++ symbol as dagtap shows it; any other as it is."""
    address = CXX.__cxa_demangle(symbol.encode(), None, None, None) if symbol[:2] == "_Z" else None
    if not address:
        return symbol
    name = ctypes.string_at(address).decode()
    CXX.free(address)
    return name


def shape(row, name):
    return (readable(row[name]), *(int(row[column]) for column in SHAPE))


def gpu_of(agent):
    return str(int(agent) - 1)


# ---- the checks: each returns how many things it compared ----


def check_log_totals(evidence):
    """The logs are whole: lines as their totals say, nothing lost. Of a killed process there are
    none."""
    for rows, totals in zip(evidence.log_rows, evidence.log_totals):
        if totals is None:
            continue
        lines = collections.Counter(row["type"] for row in rows)
        for name in ("dispatch", "barrier_and", "barrier_or", "agent_dispatch", "vendor", "invalid", "copy"):
            if lines[name] != totals[name]:
                raise Difference(f"{name}: {lines[name]} lines, {totals[name]} in the totals")
        if totals["lost"]:
            raise Difference(f"{totals['lost']} lines found no room")
    return len(evidence.log)


def check_packets(evidence):
    """Each dispatch packet is one row, and each row one packet: by process and queue, in the
    queue's order, with name, grid, workgroup and device. Where a row has no times, a queue's rows
    are compared without their order."""
    witness, recorded = dispatches_by_queue(evidence)
    expect_same_keys("process/queue", witness, recorded)
    for key, lines in sorted(witness.items()):
        rows, untimed = in_device_order(recorded[key])
        where = f"process {key[0]}, queue {key[1]}"
        if untimed:
            expect_same_counts(
                collections.Counter(shape(line, "kernel") for line in lines),
                collections.Counter(shape(row, "name") for row in recorded[key]),
            )
        else:
            expect_same_sequence(
                where,
                [(*shape(line, "kernel"), gpu_of(line["agent"])) for line in lines],
                [(*shape(row, "name"), row["device"]) for row in rows],
            )
    return sum(map(len, witness.values()))


def check_packet_times(evidence):
    """The recorded ticks are those that the device gave the packet."""
    witness, recorded = dispatches_by_queue(evidence)
    compared = 0
    for key, rows in sorted(recorded.items()):
        rows, _ = in_device_order(rows)
        ticks = collections.Counter((int(row["start_tick"]), int(row["end_tick"])) for row in rows)
        ticks -= collections.Counter(
            (int(line["begin"]), int(line["end"]))
            for line in witness.get(key, [])
            if not line["end"].startswith("?")
        )
        if ticks:
            raise Difference(f"process {key[0]}, queue {key[1]}: {sum(ticks.values())}, first {min(ticks)}")
        compared += len(rows)
    return compared


def check_copies(evidence):
    """Each copy of an engine is one row, and each row one copy: by process, GPU and direction, in
    order of time, with its bytes."""
    witness, recorded = collections.defaultdict(list), collections.defaultdict(list)
    lines = [row for row in evidence.log if row["type"] == "copy"]
    for line in sorted(lines, key=lambda line: int(line["begin"])):
        direction = DIRECTIONS[line["source"] != "0", line["destination"] != "0"]
        witness[line["process"], gpu_of(line["agent"]), direction].append(int(line["bytes"]))
    for row in sorted(evidence.copied(), key=lambda row: int(row["start_ns"] or row["submit_ns"])):
        direction = "D2D" if row["direction"] == "P2P" else row["direction"]
        recorded[row["process"], row["device"], direction].append(int(row["bytes"]))
    expect_same_keys("process/device/direction", witness, recorded)
    for key, sizes in sorted(witness.items()):
        expect_same_sequence("process {}, device {}, {}".format(*key), sizes, recorded[key])
    return len(lines)


def is_call(name):
    """What dagtap records as a call; __hip* are the compiler's. RCCL's own threads ask for its
    version, too."""
    return name.startswith(("nccl", "hip")) and not OTHERS.match(name) and name != "ncclGetVersion"


def calls_inside_rccl(evidence):
    """RCCL calls its own interface; dagtap has such a call below the program's."""
    callers = {(row["process"], row["cid"]): row["api"] for row in evidence.api}
    return collections.Counter(
        row["api"] for row in evidence.api
        if row["api"].startswith("nccl") and callers.get((row["process"], row["parent_cid"]), "").startswith("nccl")
    )


def check_calls(evidence):
    """As many calls of each name as the counter saw. A call inside HIP's own library is not a
    program's."""
    witness = collections.Counter()
    for (name, caller, _), count in evidence.calls.items():
        inside = name.startswith("nccl") and caller.startswith("librccl.so")
        if is_call(name) and not inside and not NO_PROGRAMS.match(caller):
            witness[name] += count
    recorded = collections.Counter(row["api"] for row in evidence.api if is_call(row["api"]))
    recorded -= calls_inside_rccl(evidence)
    witness -= evidence.calls_after_the_end
    expect_same_counts(witness, recorded)
    return sum(witness.values())


def is_replayed(row):
    return row["kind"] == "kernel" and (row["replay"] != "" or row["api"] in GRAPH_LAUNCHES)


def check_graph_places(evidence):
    """Each kernel that a graph launch brought has graph, exec, replay and node, and is sure of the
    node."""
    kernels = [row for row in evidence.activities if is_replayed(row)]
    for row in kernels:
        missing = [name for name in ("graph", "exec", "replay", "node") if not row[name]]
        where = f"{row['name']} of call {row['cid']}, process {row['process']}"
        if missing:
            raise Difference(f"{where} has no {', '.join(missing)}")
        if row["confidence"] != "exact":
            raise Difference(f"{where}: its node is {row['confidence']}")
    return len(kernels)


def place(row, *, with_shape):
    """Which node a row of graph_nodes or activities is, and what ran there."""
    return (row["graph"], row["node"], *(shape(row, "name") if with_shape else (row["name"],)))


def kernel_nodes(evidence, *, with_shape):
    """{(process, graph): Counter of places}, with those of child graphs, for each way to them."""
    nodes = by_key(evidence.nodes, "process", "graph")

    def collect(process, graph, counter):
        for node in nodes.get((process, graph), []):
            if node["type"] == "kernel":
                counter[place(node, with_shape=with_shape)] += 1
            elif node["child_graph"]:
                collect(process, node["child_graph"], counter)
        return counter

    return {key: collect(*key, collections.Counter()) for key in nodes}


def check_replays(evidence):
    """Each launch of a graph has each of its kernel nodes once, with that node's kernel, and with
    its grid and workgroup where the exec was never updated. For programs that set no node to
    another kernel."""
    nodes = {with_shape: kernel_nodes(evidence, with_shape=with_shape) for with_shape in (False, True)}
    updated = {(str(row["pid"]), str(row["id"])) for row in evidence.graphs["execs"] if row["updates"]}
    launches = [row for row in evidence.api if row["api"] in GRAPH_LAUNCHES and row["result"] == "0"]
    kernels = by_key(filter(is_replayed, evidence.activities), "process", "exec", "replay")
    for key, rows in sorted(by_key(launches, "process", "exec", "replay").items()):
        if len(rows) > 1:
            raise Difference("{} launches are process {}, exec {}, replay {}".format(len(rows), *key))
    for launch in launches:
        key = launch["process"], launch["exec"], launch["replay"]
        with_shape = key[:2] not in updated
        ran = collections.Counter(place(row, with_shape=with_shape) for row in kernels.pop(key, []))
        wanted = nodes[with_shape].get((launch["process"], launch["graph"]), collections.Counter())
        if ran != wanted:
            rest = {"lacks": wanted - ran, "has beside its nodes": ran - wanted}
            told = [f"{how} {min(items)}" for how, items in rest.items() if items]
            raise Difference("process {}, exec {}, replay {} ".format(*key) + ", ".join(told))
    for key, rows in sorted(kernels.items()):
        raise Difference("{} kernels of no launch: process {}, exec {}, replay {}".format(len(rows), *key))
    return len(launches)


def check_node_counts(evidence):
    """`dagtap graph` counts each kernel node as often as the rows have it."""
    rows = collections.Counter(
        (row["process"], row["graph"], row["node"]) for row in evidence.activities if is_replayed(row)
    )
    told = collections.Counter()
    for graph in evidence.graphs["graphs"]:
        for node in graph["nodes"]:
            if node["type"] == "kernel" and node["count"]:
                told[str(graph["pid"]), str(graph["id"]), str(node["id"])] = node["count"]
    expect_same_counts(rows, told)
    return len(told)


def check_totals(evidence):
    """`dagtap summary` counts what the rows are."""
    kinds = collections.Counter(row["kind"] for row in evidence.activities)
    witness = {
        "kernels": kinds["kernel"],
        "copies": kinds["copy"],
        "memsets": kinds["memset"],
        "graph_kernels": sum(map(is_replayed, evidence.activities)),
        "api_calls": len(evidence.api),
    }
    totals = evidence.summary["totals"]
    for name, number in witness.items():
        if number != totals[name]:
            raise Difference(f"{name}: {number} rows, {totals[name]} in the summary")
    return len(witness)


def check_ledger(evidence):
    """`dagtap check` accounts for everything, and nothing was lost."""
    ok, lost = evidence.ledger["ok"], evidence.ledger["lost"]
    if not ok or lost:
        sources = [source["name"] for source in evidence.ledger["sources"] if source["unexplained"]]
        raise Difference(f"ok {ok}, lost {lost}, unexplained {sources}")
    return len(evidence.ledger["sources"])


CHECKS = {
    "log_totals": check_log_totals,
    "packets": check_packets,
    "packet_times": check_packet_times,
    "copies": check_copies,
    "calls": check_calls,
    "graph_places": check_graph_places,
    "replays": check_replays,
    "node_counts": check_node_counts,
    "totals": check_totals,
    "ledger": check_ledger,
}


def run_checks(evidence, names=None):
    """Prints a line for each check. The names of those that failed."""
    failed = []
    for name in names or CHECKS:
        try:
            print(f"ok {name} {CHECKS[name](evidence)}")
        except Difference as difference:
            print(f"FAILED {name}: {difference}")
            failed.append(name)
    return failed


# ---- commands ----


def export(dagtap, recording, folder):
    for name, command in EXPORTS.items():
        done = subprocess.run([dagtap, *command, *(["-o", "-"] if "export" in command else []), recording],
                              stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{' '.join(command)} exited with {done.returncode}")
        (pathlib.Path(folder) / name).write_bytes(done.stdout)


def main(arguments):
    match arguments:
        case ["export", dagtap, recording, folder]:
            export(dagtap, recording, folder)
        case ["check", folder]:
            return 1 if run_checks(Evidence(folder)) else 0
        case _:
            raise SystemExit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
