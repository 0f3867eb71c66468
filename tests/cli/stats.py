"""stats.py FOLDER [--cuda] PROGRAM ARGS...: what `dagtap record --stats` keeps of a program is what
the rows of the same run say: the ring is large enough to hold them all, and is exported as a
recording. Counts are equal, and sums but for the rounding of times; quantiles are within the stated
error. FOLDER is a work folder; --cuda: the program plays CUDA."""
import csv
import json
import math
import os
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder, program = sys.argv[1], sys.argv[2:]
IS_CUDA = program[0] == "--cuda"
BACKEND = ["--backend", "cuda"] if IS_CUDA else ["--softgpu=kernel_ns=1000"]
if IS_CUDA:
    program = program[1:]
    os.environ["DAGTAP_CUPTI"] = BUILD + "/tests/libmodel-cupti.so"
OUT, SPOOL = os.path.join(folder, "run.dagstats"), os.path.join(folder, "run.spool")
QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}
ERROR = 0.01


def run(*arguments, code=0):
    ran = subprocess.run([DAGTAP, *arguments], capture_output=True, text=True, env=environment())
    if ran.returncode != code:
        fail(f"dagtap {arguments} exited with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran


def stats(*files):
    return json.loads(run("stats", "--json", *files).stdout)


def collective_of(row, calls):
    """The function of NCCL or RCCL that launched a kernel, or its name."""
    call = calls.get((row["process"], row["cid"]))
    while call:
        if call["api"].startswith("nccl") and "Group" not in call["api"]:
            return call["api"]
        call = calls.get((row["process"], call["parent_cid"]))
    return row["name"]


def keys_of(row, calls):
    """The keys that an activity counts under."""
    if row["kind"] == "kernel":
        name = row["name"]
    elif row["kind"] == "memset":
        name = "memset"
    else:
        name = ("copy " + row["direction"]).strip()
    yield ("kernel" if row["kind"] == "kernel" else "copy", name, 0, 0)
    if name.startswith("ncclDevKernel"):
        yield ("collective", collective_of(row, calls), 0, 0)
    if row["node"]:
        yield ("node", name, int(row["graph"]), int(row["node"]))


def table_of_run(name):
    path = os.path.join(folder, name + ".csv")
    run("export", "--format", "csv", "--table", name, "-o", path, SPOOL)
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def durations():
    """The durations by key, and the number of untimed activities."""
    found, untimed = {}, {}
    calls = {(row["process"], row["cid"]): row for row in table_of_run("calls")}
    for row in table_of_run("activities"):
        for key in keys_of(row, calls):
            if row["untimed"]:
                untimed[key] = untimed.get(key, 0) + 1
            else:
                found.setdefault(key, []).append(int(row["duration_ns"]))
    return found, untimed


def compare(answer, found, untimed):
    rows = {(r["kind"], r["name"], r.get("graph", 0), r.get("node", 0)): r for r in answer["rows"]}
    expect("keys", sorted(rows), sorted(set(found) | set(untimed)))
    for key, row in rows.items():
        exact = sorted(found.get(key, []))
        expect(f"{key}: untimed", row["untimed"], untimed.get(key, 0))
        expect(f"{key}: count", row["count"], len(exact))
        # The times of dispatches are converted from the device's clock. If a later anchor shows
        # that an earlier one was read badly, the rows have another line between the two clocks than
        # the statistics had (src/live/live.h). That moves both ends of a short dispatch by the same
        # time, but for the rounding to ns. The times of HIP's copies are recorded in host ns.
        rounding = 1 if row["kind"] != "copy" or IS_CUDA else 0
        if abs(row["total_ns"] - sum(exact)) > rounding * len(exact):
            fail(f"{key}: the sum is {row['total_ns']}, not {sum(exact)}")
        if not exact:
            continue
        for name, want in (("min_ns", exact[0]), ("max_ns", exact[-1])):
            if abs(row[name] - want) > rounding:
                fail(f"{key}: {name} is {row[name]}, not {want}")
        expect(f"{key}: collapsed", row["collapsed"], 0)
        for name, quantile in QUANTILES.items():
            want = exact[math.floor(quantile * (len(exact) - 1))]
            if abs(row[name] - want) > ERROR * want * (1 + 1e-9) + rounding:
                fail(f"{key}: {name} is {row[name]}, not {want}")


def merge(answer):
    """A file twice is all counts twice, and the same quantiles; a file that is cut off in its last
    line lacks that line."""
    twice = stats(OUT, OUT)
    for one, two in zip(answer["rows"], twice["rows"]):
        for name in one:
            factor = 2 if name in ("count", "untimed", "total_ns") else 1
            if name not in QUANTILES and name not in ("kind", "name"):
                expect(name, two[name], one[name] * (factor if name != "graph" else 1))
    with open(OUT, "rb") as file:
        whole = file.read()
    cut = os.path.join(folder, "cut.dagstats")
    with open(cut, "wb") as file:
        file.write(whole[:-5])
    expect("cut lines", stats(cut)["cut_lines"], 1)
    expect("ended", stats(cut)["processes_ended"], answer["processes_ended"] - 1)
    with open(cut, "wb") as file:
        file.write(whole[:-5] + b"\n")
    if "line" not in run("stats", cut, code=1).stderr:
        fail("a damaged line is not told")


def table(answer):
    rows = list(csv.DictReader(run("stats", "--csv", OUT).stdout.splitlines()))
    expect("rows of the CSV", [(r["kind"], r["name"], int(r["count"])) for r in rows],
           [(r["kind"], r["name"], r["count"]) for r in answer["rows"]])
    if "quantiles within 1 %" not in run("stats", OUT).stdout:
        fail("the table does not state its error")


ran = run("record", *BACKEND, "--stats", "--stats-interval", "0.05", "--outlier", "0",
          "--keep-spool", "-o", OUT, "--", *program)
answer = stats(OUT)
expect("losses", (answer["lost_records"], answer["dropped_records"], answer["cut_off_calls"]), (0, 0, 0))
expect("ended processes", answer["processes_ended"], answer["processes"])
expect("snapshots", [name for name in os.listdir(folder) if name.endswith(".dagtap")], [])
compare(answer, *durations())
merge(answer)
table(answer)
