"""stats_outlier.py FOLDER PROGRAM: PROGRAM copies a MiB once among small copies. The rows around
that copy are in a recording of their own, and no spool is left."""
import csv
import json
import os
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
run("record", "--softgpu=copy_bytes_per_us=10", "--stats", "--outlier", "8", "-o", OUT, "--", program)
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
