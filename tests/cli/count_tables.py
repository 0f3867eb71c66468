#!/usr/bin/env python3
"""Reckons from the CSV of a recording the tables of `dagtap summary`, `graph` and `diff`.

    count_tables.py FOLDER    FOLDER holds activities.csv, calls.csv and the outputs NAME.json of
    tables.sh
"""

import collections
import json
import pathlib
import statistics
import sys

from count_scopes import expect, expect_near, percentile, read


def expect_tally(what, found, values, untimed=0, prefix=""):
    """The members of a tally; values are the durations of the timed rows."""
    values = sorted(values)
    wanted = {"mean_ns": 0, "median_ns": 0, "stddev_ns": 0, "min_ns": 0, "max_ns": 0}
    if values:
        wanted = {"mean_ns": statistics.fmean(values), "median_ns": percentile(values, 0.5),
                  "stddev_ns": statistics.stdev(values) if len(values) > 1 else 0,
                  "min_ns": values[0], "max_ns": values[-1]}
    for key, value in wanted.items():
        expect_near(f"{what}: {prefix}{key}", found[prefix + key], value)


def duration(row):
    return int(row["duration_ns"])


def expect_rows(what, found, groups):
    """Rows of a summary against lists of rows of the CSV, by name."""
    expect(what, sorted(row["name"] for row in found), sorted(groups))
    for row in found:
        rows = groups[row["name"]]
        timed = [duration(other) for other in rows if not other.get("untimed")]
        expect(f"{what} {row['name']}: count", row["count"], len(rows))
        expect(f"{what} {row['name']}: total", row["total_ns"], sum(timed))
        expect_tally(f"{what} {row['name']}", row, timed)


def group(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def check_summaries(folder, activities, calls):
    def load(name):
        return json.loads((folder / f"{name}.json").read_text())

    copies = {"H2D": "copy host to device", "D2H": "copy device to host", "D2D": "copy device to device"}
    kernels = [row for row in activities if row["kind"] == "kernel"]
    others = [row for row in activities if row["kind"] != "kernel"]
    expect_rows("kernels", load("kernel")["kernels"], group(kernels, lambda row: row["name"]))
    expect_rows("copies", load("kernel")["copies"], group(
        others, lambda row: "memset" if row["kind"] == "memset" else copies[row["direction"]]))
    expect_rows("scopes", load("scope")["rows"], group(
        activities, lambda row: row["scope"] or "(no scope)"))
    expect_rows("calls", load("api")["rows"], group(calls, lambda row: row["api"]))


def check_gaps(graph, node, replays):
    """The gaps of a node: its start minus the last end of its predecessors in the same replay."""
    before = [edge["from"] for edge in graph["edges"] if edge["to"] == node["id"]]
    gaps = []
    for rows in replays.values():
        own = [row for row in rows if int(row["node"]) == node["id"]]
        ends = [int(row["end_ns"]) for row in rows if int(row["node"]) in before]
        if len(own) == 1 and ends:
            gaps.append(int(own[0]["start_ns"]) - max(ends))
    expect("gaps", node["gaps"], len(gaps))
    expect_tally("gap", node, gaps, prefix="gap_")
    return len(gaps)


def check_graphs(folder, activities):
    graphs = json.loads((folder / "graph.json").read_text())["graphs"]
    nodes = group((row for row in activities if row["node"]), lambda row: (row["graph"], row["node"]))
    gaps = 0
    for graph in graphs:
        ident = str(graph["id"])
        replays = group((row for row in activities if row["graph"] == ident and row["node"]),
                        lambda row: (row["exec"], row["replay"]))
        for node in graph["nodes"]:
            rows = nodes[(ident, str(node["id"]))]
            expect("activities of a node", node["count"], len(rows))
            expect_tally(f"graph {ident} node {node['id']}", node,
                         [duration(row) for row in rows if not row["untimed"]])
            # A node in a body runs several times in a replay: only its order tells its gaps.
            if all(count == 1 for count in collections.Counter(
                    (row["exec"], row["replay"]) for row in rows).values()):
                gaps += check_gaps(graph, node, replays)
    if not gaps:
        sys.exit("no node has a gap: this test would show nothing")
    return graphs


def check_orders(folder, graphs):
    """--sort and --top: all nodes with activities, the largest value first."""
    keys = {"mean": "mean_ns", "median": "median_ns", "max": "max_ns", "stddev": "stddev_ns",
            "gap": "gap_mean_ns"}
    nodes = [dict(node, graph=graph["id"], pid=graph["pid"]) for graph in graphs
             for node in graph["nodes"] if node["count"]]
    for by, key in keys.items():
        found = json.loads((folder / f"top-{by}.json").read_text())
        counted = "gaps" if by == "gap" else "count"
        wanted = sorted(nodes, key=lambda node: (not node[counted], -node[key]))
        expect(f"nodes by {by}", found["top_count"], len(nodes))
        expect(f"rows by {by}", len(found["top"]), min(10, len(nodes)))
        expect(f"order by {by}", found["top"], wanted[:10])


def check_diff(folder):
    found = json.loads((folder / "diff.json").read_text())
    kernels = {row["name"]: row for row in json.loads((folder / "kernel.json").read_text())["kernels"]}
    for row in found["rows"]:
        for side in ("a", "b"):
            expect("side of a diff", {key: value for key, value in row[side].items() if key != "activities"},
                   {key: value for key, value in kernels[row["name"]].items()
                    if key not in ("name", "occupancy", "occupancy_limit")})
    expect("rows of a diff", len(found["rows"]), len(kernels))


def main():
    folder = pathlib.Path(sys.argv[1])
    activities = read(folder / "activities.csv")
    check_summaries(folder, activities, read(folder / "calls.csv"))
    check_orders(folder, check_graphs(folder, activities))
    check_diff(folder)


if __name__ == "__main__":
    main()
