"""clock_truth.py TRUTH ACTIVITIES.csv: every dispatch, found by its ticks, starts and ends in the
trace within 1,000 ns of the software GPU's own log (lines "D queue packet kernel start_ns end_ns
start_tick end_tick")."""
import csv
import sys

LIMIT_NS = 1000

truth = {}
with open(sys.argv[1]) as file:
    for line in file:
        words = line.split()
        if words[0] == "D":
            truth[words[-2], words[-1]] = int(words[-4]), int(words[-3])

worst = compared = 0
with open(sys.argv[2], newline="") as file:
    for row in csv.DictReader(file):
        if not row["start_tick"]:
            continue
        start, end = truth[row["start_tick"], row["end_tick"]]
        worst = max(worst, abs(int(row["start_ns"]) - start), abs(int(row["end_ns"]) - end))
        compared += 1
print(f"{compared} dispatches, at most {worst} ns off")
if compared < 1000:
    sys.exit("too few dispatches to tell")
if worst > LIMIT_NS:
    sys.exit(f"{worst} ns off")
