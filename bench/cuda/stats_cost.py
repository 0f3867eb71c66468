#!/usr/bin/env python3
"""stats_cost.py: what `dagtap record --stats` costs a program that launches many small kernels,
beside a library that only counts CUPTI's records, and whether its statistics are those of a full
recording. Prints JSON.

    stats_cost.py --rounds 5 --kernels 20000000 --eager 1000000 --json RUN.json     on a GPU
    stats_cost.py --dry-run --tree build     on the tests' played CUPTI: the figures mean nothing

Ways, in turn in each round: plain; the floors `kernels` and `kinds` of floor.c (CUPTI is asked for
kernels, or for all that dagtap asks for, and the records are counted); `ring` (dagtap record
--ring, nobody reads it); `stats` (dagtap record --stats, with the ring that --ring says). The
program replays a graph of NODES kernels, and launches kernels one by one. A step is a replay.

Each run is checked: the program ran all its kernels; the floor of kernels counted as many records;
with --stats the kernels that were counted, and those that were lost or dropped, are together the
launched ones, and none is missing without a reason. What is not so is in "faults", and the exit
status is then 1. The results so far are written to --json after each run.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys
import tempfile
import time

import measure_cuda
import tool
from tool import finish, run, start

NODES = 1000
ERROR = 0.01
QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99}


def programs(arguments, work):
    """Name: (command, kernels, steps)."""
    if arguments.dry_run:
        return {"graphs": ([arguments.tree / "tests" / "cuda-program", 20000, "paced"], 60000, 20000)}
    program = arguments.replay
    if not program:
        program = work / "replay"
        finish(*start(["nvcc", "-O2", "-arch=native", "-o", program, measure_cuda.HERE / "replay.cu"], 300))
    replays = max(1, arguments.kernels // NODES)
    found = {"graphs": ([program, NODES, replays], replays * NODES, replays)}
    if arguments.eager:
        found["eager"] = ([program, "--eager", arguments.eager], arguments.eager, arguments.eager)
    return found


def with_stats(dagtap, command, work, ring):
    """One run, with what its file says and what the follower took."""
    file = work / "run.dagstats"
    result = dagtap.record(command, file, ["--stats", "--ring", ring])
    answer = dagtap.ask("stats", file)
    counted = sum(row["count"] + row["untimed"] for row in answer["rows"] if row["kind"] == "kernel")
    return {**result, "kernels_counted": counted, "file_bytes": file.stat().st_size, "keys": len(answer["rows"]),
            "deliveries": answer.get("cuda_deliveries"),
            **{name: answer[name] for name in ("lost_records", "dropped_records", "graph_records_left_out")},
            "recorder_cpu_seconds": result["all_cpu"] - result["program_cpu"]}


def with_ring(dagtap, command, work, ring):
    return dagtap.record(command, work / "run.dagtap", ["--ring", ring])


def faults_of_stats(run, kernels):
    """What the statistics of a run that launched KERNELS do not account for."""
    found, counted = run["deliveries"], run["kernels_counted"]
    if not found:
        return ["no counts of what was launched"]
    absent = found["not_read"] + found["pending"] + found["missing"]
    return [text for is_fault, text in [
        (found["launched_kernels"] != kernels, f"{found['launched_kernels']} kernels launched by the statistics"),
        (found["delivered_kernels"] != counted, f"{counted} kernels counted, but {found['delivered_kernels']} delivered"),
        (counted + absent != kernels, f"{counted} kernels counted and {absent} told as not, of {kernels}"),
        (found["not_read"] > run["lost_records"] + run["dropped_records"], "more not read than lost and dropped"),
        (found["uncompared_launches"], f"{found['uncompared_launches']} launches not compared"),
        (found["missing"] or found["pending"], f"{found['missing']} missing without a reason, {found['pending']} pending"),
    ] if is_fault]


def faults(way, run, kernels):
    """What is wrong with a run that was to launch KERNELS, as texts."""
    found = [] if run["kernels"] == kernels else [f"the program ran {run['kernels']:.0f} kernels, not {kernels}"]
    if way == "floor: kernels" and run.get("floor_records") != kernels:
        found.append(f"the floor counted {run.get('floor_records')} records")
    return found + (faults_of_stats(run, kernels) if way == "stats" else [])


def measure(dagtap, command, kernels, arguments, work, save):
    """The runs of each way; calls SAVE with them after each run."""
    ways = {"plain": lambda: run(command),
            "floor: kernels": lambda: dagtap.count(command, "kernels"),
            "floor: kinds": lambda: dagtap.count(command, "kinds"),
            "ring": lambda: with_ring(dagtap, command, work, arguments.ring),
            "stats": lambda: with_stats(dagtap, command, work, arguments.ring)}
    if arguments.ways:
        ways = {way: ways[way] for way in arguments.ways.split(",")}
    results = {way: [] for way in ways}
    for number in range(arguments.rounds):
        for way, call in ways.items():
            began = time.monotonic()
            result = call()
            result["faults"] = faults(way, result, kernels)
            results[way].append(result)
            print(f"round {number + 1}, {way}: {time.monotonic() - began:.1f} s", *result["faults"], sep="; ",
                  file=sys.stderr, flush=True)
            save(results)
    return results


def summary(results, kernels, steps):
    """Of each way: ns a kernel by the program's own clock, and the ratios of neighbouring runs."""
    found = {}
    for way, runs in results.items():
        ns = [r["seconds"] / kernels * 1e9 for r in runs]
        if not runs:
            continue
        found[way] = {"ns_a_kernel": {"median": statistics.median(ns), "least": min(ns), "most": max(ns)},
                      "faults": [text for r in runs for text in r["faults"]]}
        for base in [base for base in ("plain", "floor: kernels", "floor: kinds", "ring") if results.get(base)]:
            ratios = [a["seconds"] / b["seconds"] for a, b in zip(runs, results[base])]
            found[way]["by " + base] = {"median": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}
    if not results.get("stats"):
        return found
    found["stats"]["bytes_a_step"] = statistics.median(r["file_bytes"] for r in results["stats"]) / steps
    found["stats"]["lost_records"] = [r["lost_records"] for r in results["stats"]]
    found["stats"]["kernels_counted"] = [r["kernels_counted"] for r in results["stats"]]
    found["stats"]["recorder_cpu_ns_a_kernel"] = statistics.median(
        r["recorder_cpu_seconds"] for r in results["stats"]) / kernels * 1e9
    return found


# ---- equality ----

def keys_of(row):
    name = {"kernel": row["name"], "memset": "memset"}.get(row["kind"], ("copy " + row["direction"]).strip())
    yield ("kernel" if row["kind"] == "kernel" else "copy", name, 0, 0)
    if row["node"]:
        yield ("node", name, int(row["graph"]), int(row["node"]))


def durations(dagtap, spool):
    found, untimed = {}, {}
    for row in dagtap.rows("activities", spool):
        for key in keys_of(row):
            if row["untimed"]:
                untimed[key] = untimed.get(key, 0) + 1
            else:
                found.setdefault(key, []).append(int(row["duration_ns"]))
    return found, untimed


def differences(rows, found, untimed):
    """Texts; times are converted from CUPTI's clock, so each may differ by the rounding, 1 ns."""
    if set(rows) != set(found) | set(untimed):
        yield f"keys: {sorted(set(rows) ^ (set(found) | set(untimed)))[:5]}"
    for key in set(rows) & (set(found) | set(untimed)):
        row, exact = rows[key], sorted(found.get(key, []))
        if (row["count"], row["untimed"]) != (len(exact), untimed.get(key, 0)):
            yield f"{key}: {row['count']} and {row['untimed']}, not {len(exact)} and {untimed.get(key, 0)}"
            continue
        if abs(row["total_ns"] - sum(exact)) > len(exact):
            yield f"{key}: a sum of {row['total_ns']}, not {sum(exact)}"
        for name, quantile in QUANTILES.items() if exact else ():
            want = exact[math.floor(quantile * (len(exact) - 1))]
            if abs(row[name] - want) > ERROR * want * (1 + 1e-9) + 1:
                yield f"{key}: {name} is {row[name]}, not {want}"


def compare(dagtap, command, work):
    """The statistics of a run beside the rows of the same run, which the ring has all kept."""
    file, spool = work / "small.dagstats", work / "small.spool"
    dagtap.record(command, file, ["--stats", "--stats-interval", "0.2", "--outlier", "0", "--ring", "1G", "--keep-spool"])
    answer = dagtap.ask("stats", file)
    rows = {(r["kind"], r["name"], r.get("graph", 0), r.get("node", 0)): r for r in answer["rows"]
            if r["kind"] != "collective"}
    found, untimed = durations(dagtap, spool)
    told = list(differences(rows, found, untimed))
    return {"keys": len(rows), "activities": sum(len(d) for k, d in found.items() if k[0] in ("kernel", "copy")),
            "untimed": sum(n for k, n in untimed.items() if k[0] in ("kernel", "copy")),
            "lost_records": answer["lost_records"], "equal": not told, "differences": told[:20]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, default=measure_cuda.HERE / "tree", help="build tree")
    parser.add_argument("--replay", type=pathlib.Path, help="replay.cu, built already")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kernels", type=int, default=20_000_000, help="of a run that replays graphs")
    parser.add_argument("--eager", type=int, default=1_000_000, help="of a run that launches one by one; 0: none")
    parser.add_argument("--compared", type=int, default=200_000,
                        help="kernels of the run whose rows are compared with the statistics, at most 8 M; a quarter launched alone")
    parser.add_argument("--ways", help="only these of the ways, as WAY,...; for runs that take long")
    parser.add_argument("--ring", default="64M")
    parser.add_argument("--seconds-most", type=float, default=tool.run_seconds_most, help="of one run; a longer one is ended")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    arguments = parse()
    arguments.tree = arguments.tree.resolve()
    tool.run_seconds_most = arguments.seconds_most
    if arguments.replay:
        arguments.replay = arguments.replay.resolve()
    if arguments.dry_run:
        measure_cuda.play_cupti(arguments.tree / "tests")
        tool.has_limits = False
    dagtap, everything = tool.Tool(arguments.tree), {"arguments": {k: str(v) for k, v in vars(arguments).items()}}
    if not arguments.dry_run:
        everything["gpu"] = measure_cuda.first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        small = argparse.Namespace(**{**vars(arguments), "kernels": arguments.compared, "eager": arguments.compared // 4})
        for name, (command, _, _) in programs(small, work).items():
            everything["equality, " + name] = compare(dagtap, command, work)
        for name, (command, kernels, steps) in programs(arguments, work).items():
            def save(results, name=name, kernels=kernels, steps=steps):
                everything[name] = {"kernels_a_run": kernels, "steps": steps, "rounds": arguments.rounds,
                                    **summary(results, kernels, steps), "runs": results}
                if arguments.json:
                    arguments.json.write_text(json.dumps(everything, indent=1))
            measure(dagtap, command, kernels, arguments, work, save)
    print(json.dumps({name: {k: v for k, v in part.items() if k != "runs"} if isinstance(part, dict) else part
                      for name, part in everything.items()}, indent=1))
    is_equal = all(part["equal"] for name, part in everything.items() if name.startswith("equality"))
    has_faults = any(r["faults"] for part in everything.values() if isinstance(part, dict)
                     for runs in part.get("runs", {}).values() for r in runs)
    sys.exit(0 if is_equal and not has_faults else 1)


if __name__ == "__main__":
    main()
