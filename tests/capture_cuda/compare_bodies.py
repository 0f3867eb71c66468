#!/usr/bin/env python3
"""compare_bodies.py DAGTAP RECORDING SAID: does a recording of device_bodies.cu have what the
program said (the file SAID) of its graphs and of the bodies of their conditional nodes?"""
import collections
import csv
import io
import json
import subprocess
import sys

dagtap, recording, said = sys.argv[1:]
said = dict(line.split(": ") for line in open(said) if ": " in line)


def ask(*command):
    return subprocess.run([dagtap, *command, recording], check=True, stdout=subprocess.PIPE, text=True).stdout


graphs = {g["id"]: g for g in json.loads(ask("graph", "--json"))["graphs"]}


def is_body(graph):
    """What a node holds that is no child graph is a body."""
    parent = graphs.get(graphs[graph]["parent"])
    is_child = parent and any(n["type"] == "child" and n["child"] == graph for n in parent["nodes"])
    return is_body(parent["id"]) if is_child else bool(parent)


rows = [r for r in csv.DictReader(io.StringIO(ask("export", "--format", "csv", "--table", "activities", "-o", "-"))) if r["exec"]]
bodies = [r for r in rows if is_body(int(r["graph"]))]
assert len(rows) - len(bodies) == int(said["graph_rows"]), (len(rows), len(bodies), said)
assert len(bodies) == int(said["body_rows"]), (len(bodies), said)
assert all(r["node"] and r["replay"] and r["cid"] for r in rows), [r for r in rows if not r["node"]][:3]
turns = collections.Counter(r["replay"] for r in bodies if "body_work" in r["name"])
assert turns == {"0": 1, "1": 2, "2": 3, "3": 4}, turns
assert {r["replay"] for r in bodies if "case_0" in r["name"]} == {"0"}
assert {r["replay"] for r in bodies if "case_1" in r["name"]} == {"1"}
kernels = {(g["id"], n["id"]): n["kernel"] for g in graphs.values() for n in g["nodes"]}
# A small copy in a body is carried by a kernel of the driver's.
own = [r for r in rows if r["kind"] == "kernel" and not r["name"].startswith("memcpy")]
assert all(kernels[int(r["graph"]), int(r["node"])] == r["name"] for r in own)
# Bodies come behind the other activities of their launch, in the order of their starts.
for call in {r["cid"] for r in bodies}:
    of_call = sorted((r for r in rows if r["cid"] == call), key=lambda r: int(r["ordinal"]))
    of_bodies = [r for r in of_call if r in bodies]
    assert of_call[len(of_call) - len(of_bodies):] == of_bodies
    assert of_bodies == sorted(of_bodies, key=lambda r: int(r["start_ns"]))
edges = json.loads(ask("path", "--json"))["dependencies"]
assert edges["programmatic_launch"]["count"] == 7 and edges["graph_edge"]["contradicted"] == 0, edges
