"""Checks what nccl.sh has recorded: the arguments of NCCL's calls, and the numbers of `dagtap
collectives` against the same calculated from the tables of calls and activities."""

import csv
import json
import pathlib
import re
import statistics
import sys

WORK = pathlib.Path(sys.argv[1])
PIDS = dict(re.findall(r"rank (\d): (\d+)", pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
BYTES = {"0": 1, "6": 2, "7": 4}


def table(name):
    with open(WORK / f"{name}.csv", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def arguments(call):
    return dict(word.split("=", 1) for word in call["args"].split())


def is_operation(call):
    """Of the two processes; the communicator within one process has operations of 64 elements."""
    return "seq=" in call["args"] and arguments(call).get("count") != "64"


CALLS, ACTIVITIES = table("calls"), table("activities")
ANSWER = json.loads((WORK / "collectives.json").read_text(encoding="utf-8"))


def same(found, wanted, what):
    assert found == wanted, f"{what}: {found}, not {wanted}"


def near(found, wanted, what):
    assert abs(found - wanted) <= 1e-6 * abs(wanted), f"{what}: {found}, not {wanted}"


def check_arguments():
    """Both ranks have the same ids and numbers; ids differ between communicators."""
    of_rank = []
    for rank, pid in sorted(PIDS.items()):
        rows = []
        for call in CALLS:
            if call["process"] == pid and is_operation(call):
                given = arguments(call)
                same(given["rank"], rank, "rank")
                same(given["nranks"], "2", "ranks")
                rows.append((call["api"], given["commId"], given["seq"],
                             int(given["count" if "count" in given else "sendcount"])))
        of_rank.append(rows)
    same(of_rank[0], of_rank[1], "operations of both ranks")
    world, child = (next(r[1] for r in of_rank[0] if r[0] == name)
                    for name in ("ncclAllReduce", "ncclAlltoAll"))
    assert world != child and world != "0" and child != "0"
    same([r[0::2] for r in of_rank[0]],
         [("ncclAllReduce", "1"), ("ncclAllReduce", "2"), ("ncclAlltoAll", "1"),
          ("ncclAllReduce", "3"), ("ncclAllReduce", "4"), ("ncclSend", "1"), ("ncclRecv", "2"),
          ("ncclAllReduce", "5"), ("ncclAllGather", "2"), ("ncclAllReduce", "6")], "numbers")
    made = [arguments(c)["commId"] for c in CALLS if c["api"] == "ncclCommInitRank"]
    same(made, [world, world], "ids of the calls that made it")
    return world, child


def is_around(call, inner, by_cid):
    while inner["parent_cid"] not in ("", "0"):
        inner = by_cid[inner["process"], inner["parent_cid"]]
        if inner is call:
            return True
    return False


def find_operations(world):
    """(communicator, operation, bytes) -> [(pid, start, end)], by hand from the order of calls."""
    by_cid = {(c["process"], c["cid"]): c for c in CALLS}
    found = {}
    for pid in PIDS.values():
        mine = [c for c in CALLS if c["process"] == pid and c["api"].startswith("nccl")]
        operations = [c for c in mine if is_operation(c)]
        ends = [c for c in mine if c["api"] == "ncclGroupEnd"]

        def kernels(call, stream=None):
            return [(a["process"], int(a["start_ns"]), int(a["end_ns"])) for a in ACTIVITIES
                    if a["process"] == pid and stream in (None, a["stream"])
                    and is_around(call, by_cid[pid, a["cid"]], by_cid)]

        def add(name, size, which, call, stream=None):
            rows = kernels(call, stream)
            same(len(rows), 1, f"kernels of {name}")
            found.setdefault((which == world, name, size), []).append(rows[0])

        ids = [arguments(c)["commId"] for c in operations]
        add("all_reduce", 4000, ids[0], operations[0])
        add("all_reduce", 4000, ids[1], operations[1])
        add("all_to_all", 7 * 4 * 2, ids[2], operations[2])
        add("all_reduce", 10 * 4 + 20 * 4, ids[3], ends[0])
        add("send_receive", 300, ids[5], ends[2])
        streams = [a["stream"] for a in ACTIVITIES if a["process"] == pid
                   and is_around(ends[3], by_cid[pid, a["cid"]], by_cid)]
        same(len(set(streams)), 2, "streams of a group")
        main = next(a["stream"] for a in ACTIVITIES if a["process"] == pid)
        side = next(s for s in streams if s != main)
        same([c["stream"] for c in operations[7:9]], [main, side], "streams of NCCL's calls")
        add("all_reduce", 160, ids[7], ends[3], main)
        add("all_gather", 50 * 2 * 2, ids[8], ends[3], side)
        add("all_reduce", 20000, ids[9], operations[9])
    return found


FACTORS = {"all_reduce": 1.0, "all_gather": 0.5, "all_to_all": 0.5, "send_receive": 1.0}


def check_rates(found, world_index):
    answered = {(row["communicator"] == world_index, row["operation"], row["bytes"]): row
                for row in ANSWER["operations"] if row["bytes"] != 64 * 4}
    same(sorted(answered), sorted(found), "operations")
    lines = {(line["communicator"] == str(world_index), line["operation"], int(line["bytes"])): line
             for line in table("operations")}
    assert (False, "all_reduce", 64 * 4) in lines, lines
    for key, rows in found.items():
        row, durations = answered[key], [end - start for _, start, end in rows]
        mean = statistics.fmean(durations)
        same(row["count"], len(rows), f"count of {key}")
        near(row["mean_ns"], mean, f"mean of {key}")
        near(row["p50_ns"], statistics.median(durations), f"median of {key}")
        near(row["algorithm_bytes_per_s"], key[2] / mean * 1e9, f"algorithm's bandwidth of {key}")
        bus = key[2] / mean * 1e9 * FACTORS[key[1]]
        near(row["bus_bytes_per_s"], bus, f"bus bandwidth of {key}")
        near(float(lines[key]["bus_gb_s"]), bus / 1e9, f"bus bandwidth of {key} in CSV")


def check_late(found, world_index):
    late = {(row["communicator"] == world_index, row["number"]): row for row in ANSWER["late"]
            if row["bytes"] != 64 * 4}
    alone = [row for row in ANSWER["late"] if row["bytes"] == 64 * 4]
    same([(row["ranks"], row["number"], row["first"]["rank"], row["last"]["rank"],
           str(row["first"]["pid"])) for row in alone],
         [(2, 1, 0, 1, PIDS["0"])], "the collective within one process")
    # The two all-reduces of a group, 3 and 4, are one.
    same(sorted(late), [(False, 1), (False, 2), (True, 1), (True, 2), (True, 3), (True, 5), (True, 6)],
         "collectives")
    last = late[True, 6]
    same((last["last"]["rank"], str(last["last"]["pid"])), (1, PIDS["1"]), "late rank")
    same(last["first"]["rank"], 0, "first rank")
    assert last["cause"]["ns"] > 0, last
    for row in late.values():
        rows = found[row["communicator"] == world_index, row["operation"], row["bytes"]]
        for at in (row["first"], row["last"]):
            assert (str(at["pid"]), at["start_ns"], at["end_ns"]) in rows, (at, rows)
    for row in ANSWER["late"]:
        same(row["spread_ns"], row["last"]["start_ns"] - row["first"]["start_ns"], "spread")
    for row in ANSWER["ranks"]:
        mine = [r for r in ANSWER["late"] if r["communicator"] == row["communicator"]]
        same(row["count"], len(mine), "collectives of a rank")
        same(row["late_ns"], sum(r["spread_ns"] for r in mine if r["last"]["rank"] == row["rank"]),
             "lateness of a rank")
        same(row["last"], sum(1 for r in mine if r["spread_ns"] and r["last"]["rank"] == row["rank"]),
             "how often a rank was last")


def main():
    world, _ = check_arguments()
    index = next(c["communicator"] for c in ANSWER["communicators"]
                 if c["id"] == f"{int(world, 0):016x}")
    found = find_operations(world)
    check_rates(found, index)
    check_late(found, index)
    for word in ("together", "late rank", "all_reduce", "send_receive"):
        assert word in (WORK / "text").read_text(encoding="utf-8"), word


main()
