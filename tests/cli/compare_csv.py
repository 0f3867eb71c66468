#!/usr/bin/env python3
"""Compares the CSV that dagtap's commands print with their JSON.

    compare_csv.py FOLDER    FOLDER holds NAME.csv and NAME.json of tables.sh
"""

import json
import pathlib
import sys

from count_scopes import expect, expect_near, read

# The column of CSV, and where its value is in a row of JSON.
TALLY = {"count": "count", "mean_ns": "mean_ns", "median_ns": "median_ns", "stddev_ns": "stddev_ns",
         "min_ns": "min_ns", "max_ns": "max_ns"}
SUMMARY = dict(TALLY, total_ns="total_ns")
GROUPS = {"count": "scopes", "host_p50_ns": "host.p50_ns", "gpu_total_ns": "projection.total_ns",
          "stddev_ns": "projection.stddev_ns", "gpu_p99_ns": "projection.p99_ns", "activities": "activities"}
INSTANCES = {"nth": "nth", "projection_ns": "projection.duration_ns", "busy_ns": "projection.busy_ns",
             "activities": "activities"}


def value_at(row, path):
    for key in path.split("."):
        row = row[key] if row is not None else None
    return row


def compare(what, found, wanted, columns, name, text):
    expect(f"rows of {what}", len(found), len(wanted))
    for row, other in zip(found, wanted):
        expect(f"name in {what}", row[name], text(other))
        for column, path in columns.items():
            value = value_at(other, path)
            if row[column] == "" or value is None:
                # No value: JSON has null, or 0 where nothing was timed.
                expect(f"{column} in {what}", (row[column], bool(value)), ("", False))
            else:
                expect_near(f"{column} in {what}", float(row[column]), value)


def main():
    folder = pathlib.Path(sys.argv[1])

    def load(name):
        return json.loads((folder / f"{name}.json").read_text())

    kernel = load("kernel")
    compare("summary", read(folder / "kernel.csv"), kernel["kernels"], SUMMARY, "kernel", lambda row: row["name"])
    compare("copies", read(folder / "copy.csv"), kernel["copies"], dict(SUMMARY, bytes="bytes"), "what",
            lambda row: row["name"])
    nodes = [dict(node, graph=graph["id"]) for graph in load("graph")["graphs"] for node in graph["nodes"] if node["count"]]
    compare("graph", read(folder / "graph.csv"), nodes, dict(TALLY, gap_ns="gap_mean_ns", graph="graph"), "node",
            lambda row: str(row["id"]))
    compare("groups", read(folder / "groups.csv"), load("groups")["groups"], GROUPS, "scope", lambda row: row["name"])
    compare("instances", read(folder / "instances.csv"), load("instances")["instances"], INSTANCES, "scope",
            lambda row: row["scope"])
    compare("gaps", read(folder / "gaps.csv"), load("gaps")["gaps"], {"idle_ns": "duration_ns", "gpu": "gpu"}, "for",
            lambda row: row["cause"])


if __name__ == "__main__":
    main()
