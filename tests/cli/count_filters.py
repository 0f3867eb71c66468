#!/usr/bin/env python3
"""Selects rows of the CSV of a recording, and compares them with what dagtap's options select.

    count_filters.py FOLDER CONDITION...    CONDITION is OPTION=VALUE as given to dagtap, times in
    ns

FOLDER holds activities.csv, scopes.csv, calls.csv of the whole recording, and selected.csv,
summary.json, graph.json of dagtap.
"""

import collections
import fnmatch
import json
import pathlib
import sys

from count_scopes import Scopes, expect, read
from count_tables import expect_rows, expect_tally, group


def is_in_scope(scopes, row, pattern):
    for ident in (row["launch_scope_id"], row["scope_id"]):
        for key in scopes.around((row["process"], ident)):
            if fnmatch.fnmatchcase(scopes.rows[key]["text"], pattern):
                return True
    return False


def selects(scopes, row, conditions):
    """Whether an activity satisfies all conditions."""
    if "kernel" in conditions and not (row["kind"] == "kernel" and
                                       fnmatch.fnmatchcase(row["name"], conditions["kernel"])):
        return False
    if "stream" in conditions and row["stream"] != conditions["stream"]:
        return False
    if "device" in conditions and row["device"] != conditions["device"]:
        return False
    if ("from" in conditions or "to" in conditions) and row["untimed"]:
        return False
    if "from" in conditions and int(row["end_ns"]) <= int(conditions["from"]):
        return False
    if "to" in conditions and int(row["start_ns"]) >= int(conditions["to"]):
        return False
    return "scope" not in conditions or is_in_scope(scopes, row, conditions["scope"])


def main():
    folder = pathlib.Path(sys.argv[1])
    conditions = dict(text.split("=", 1) for text in sys.argv[2:])
    scopes = Scopes(folder)
    everything = read(folder / "activities.csv")
    wanted = [row for row in everything if selects(scopes, row, conditions)]
    if not 0 < len(wanted) < len(everything):
        sys.exit(f"{conditions} selects {len(wanted)} of {len(everything)}: this test would show nothing")
    expect("rows of the export", read(folder / "selected.csv"), wanted)

    kernels = [row for row in wanted if row["kind"] == "kernel"]
    summary = json.loads((folder / "summary.json").read_text())
    expect_rows("kernels", summary["kernels"], group(kernels, lambda row: row["name"]))

    # The gaps of a graph's node are those before its selected activities, whatever ran before.
    nodes = group((row for row in wanted if row["node"]), lambda row: (row["graph"], row["node"]))
    whole = json.loads((folder / "whole-graph.json").read_text())
    gaps = {(graph["id"], node["id"]): node["gaps"] for graph in whole["graphs"] for node in graph["nodes"]}
    counts = collections.Counter((row["graph"], row["node"]) for row in everything if row["node"])
    for graph in json.loads((folder / "graph.json").read_text())["graphs"]:
        for node in graph["nodes"]:
            key = (str(graph["id"]), str(node["id"]))
            rows = nodes.get(key, [])
            expect("activities of a node", node["count"], len(rows))
            expect_tally("node", node, [int(row["duration_ns"]) for row in rows if not row["untimed"]])
            if len(rows) == counts[key]:
                expect("gaps of a node", node["gaps"], gaps[graph["id"], node["id"]])


if __name__ == "__main__":
    main()
