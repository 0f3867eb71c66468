"""stats_outlier.py FOLDER PROGRAM: PROGRAM copies a MiB once among small copies. The rows around
that copy are in a recording of their own, of which dagtap tells the name, and no spool is left. A
file that has this name already stays, and dagtap says so."""
import csv
import json
import os
import re
import subprocess
import sys

from controlled import DAGTAP, environment, expect, fail

folder, program = sys.argv[1], sys.argv[2]
OUT = os.path.join(folder, "run.dagstats")


def run(*arguments):
    ran = subprocess.run([DAGTAP, *arguments], capture_output=True, text=True, env=environment())
    if ran.returncode:
        fail(f"dagtap {arguments} exited with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran


def lines(first):
    with open(OUT) as file:
        return [line for line in map(json.loads, file) if next(iter(line)) == first]


# A byte takes 100 ns, so the large copy takes 105 ms, 8 times what any small one takes unless the
# machine holds the device's thread for 13 ms.
def record(out):
    ran = run("record", "--softgpu=copy_bytes_per_us=10", "--stats", "--outlier", "8", "-o", out, "--", program)
    return ran.stderr.splitlines()


def expect_told(told, pattern):
    if not any(re.fullmatch(pattern, line) for line in told):
        fail(f"no line {pattern} in {told}")


told = record(OUT)
expect_told(told, "dagtap: outliers: [0-9,]+; the rows around 1 of them are in " +
            f"{re.escape(folder)}/run.outlier-1.dagtap")
written = lines("outlier")
expect("recordings", sorted(name for name in os.listdir(folder) if name.endswith(".dagtap")),
       ["run.outlier-1.dagtap"])
expect("outliers with a file", [os.path.basename(line["file"]) for line in written],
       ["run.outlier-1.dagtap"])
outlier = written[0]
if outlier["duration_ns"] <= outlier["limit_ns"]:
    fail(f"{outlier} is within its limit")
rows = os.path.join(folder, "rows.csv")
run("export", "--format", "csv", "--table", "activities", "-o", rows, outlier["file"])
with open(rows, newline="") as file:
    found = [row for row in csv.DictReader(file) if int(row["duration_ns"] or 0) == outlier["duration_ns"]]
expect("the outlier's row", len(found) >= 1, True)
if os.path.exists(os.path.join(folder, "run.spool")):
    fail("the folder of spools is left")
total = sum(line["outliers"] for line in lines("end"))
answer = json.loads(run("stats", "--json", OUT).stdout)
expect("copies", sum(row["count"] for row in answer["rows"] if row["name"] == "copy H2D"), 401)
expect("snapshots", answer["snapshots"], 1)
if total < 1:
    fail("no outlier was counted")

os.remove(OUT)
with open(outlier["file"], "w") as file:
    file.write("mine")
told = record(OUT)
expect_told(told, "dagtap: outliers: [0-9,]+")
expect_told(told, "dagtap: the rows around 1 outlier were not copied: " +
            f"{re.escape(folder)}/run.outlier-1.dagtap: exists already; --force replaces it")
with open(outlier["file"]) as file:
    expect("the file that was there", file.read(), "mine")
# Another suffix stays in the names.
expect_told(record(os.path.join(folder, "other.stats")),
            f"dagtap: outliers: .* of them are in {re.escape(folder)}/other.stats.outlier-1.dagtap")
