"""count_csv.py WANT GRAPH FILE: exactly WANT kernels, GRAPH of them naming graph, exec, replay and
node, no two of which are the same."""
import csv
import sys

want, graph = int(sys.argv[1]), int(sys.argv[2])
with open(sys.argv[3], newline="") as file:
    kernels = [row for row in csv.DictReader(file) if row["kind"] == "kernel"]
places = [(row["process"], row["graph"], row["exec"], row["replay"], row["node"])
          for row in kernels if row["replay"]]

problems = []
if len(kernels) != want:
    problems.append(f"{len(kernels)} kernels, not {want}")
if len(places) != graph:
    problems.append(f"{len(places)} kernels of replays, not {graph}")
if any("" in place for place in places):
    problems.append("a graph kernel without graph, exec, replay or node")
if len(set(places)) != len(places):
    problems.append(f"{len(places) - len(set(places))} kernels share a node of one replay")
if any(not row["name"] for row in kernels):
    problems.append("a kernel without a name")
sys.exit("; ".join(problems) or None)
