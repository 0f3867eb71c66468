#!/usr/bin/env python3
"""Reckons from the CSV of a recording what `dagtap scopes --json` says of it.

    count_scopes.py FOLDER PATTERN FOLDER holds activities.csv, scopes.csv, groups.json and
    instances.json
"""

import collections
import csv
import fnmatch
import json
import pathlib
import re
import statistics
import sys


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found}, and from the CSV {wanted}")


def expect_near(what, found, wanted):
    if abs(found - wanted) > 1e-6 * max(1, abs(wanted)):
        sys.exit(f"{what}: {found}, and from the CSV {wanted}")


def percentile(values, part):
    at = part * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (at - below) * (values[above] - values[below])


def expect_distribution(what, found, values):
    values = sorted(values)
    expect(f"{what}: count", found["count"], len(values))
    if not values:
        return
    expect(f"{what}: total", found["total_ns"], sum(values))
    expect(f"{what}: min, max", (found["min_ns"], found["max_ns"]), (values[0], values[-1]))
    expect_near(f"{what}: mean", found["mean_ns"], statistics.fmean(values))
    expect_near(f"{what}: stddev", found["stddev_ns"],
                statistics.stdev(values) if len(values) > 1 else 0)
    for key, part in (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)):
        expect_near(f"{what}: {key}", found[key], percentile(values, part))


class Scopes:
    def __init__(self, folder):
        self.rows = {(row["process"], row["scope_id"]): row for row in read(folder / "scopes.csv")}
        self.work = collections.defaultdict(list)
        for row in read(folder / "activities.csv"):
            for key in self.around((row["process"], row["launch_scope_id"])):
                self.work[key].append(row)

    def around(self, key):
        while key in self.rows:
            yield key
            key = (key[0], self.rows[key]["parent_id"])

    def is_interval(self, key):
        row = self.rows[key]
        return row["kind"] != "mark" and int(row["end_ns"]) > int(row["begin_ns"])

    def host_ns(self, key):
        return int(self.rows[key]["end_ns"]) - int(self.rows[key]["begin_ns"])

    def projection(self, key):
        timed = [row for row in self.work[key] if not row["untimed"]]
        if not timed:
            return None
        return (min(int(row["start_ns"]) for row in timed), max(int(row["end_ns"]) for row in timed))


def union(spans):
    total, end = 0, None
    for begin, stop in sorted(spans):
        begin = begin if end is None else max(begin, end)
        if stop > begin:
            total += stop - begin
            end = stop
    return total


def check_instances(scopes, found, pattern):
    def is_meant(key):
        row = scopes.rows[key]
        return scopes.is_interval(key) and fnmatch.fnmatchcase(row["text"], pattern)

    instances = [key for key in scopes.rows
                 if is_meant(key) and not any(is_meant(other) for other in list(scopes.around(key))[1:])]
    instances.sort(key=lambda key: int(scopes.rows[key]["begin_ns"]))
    expect("instances", found["instance_count"], len(instances))
    if not instances:
        sys.exit("the pattern matches nothing: this test would show nothing")
    for row, key in zip(found["instances"], instances):
        projection = scopes.projection(key)
        expect("scope", row["scope"], scopes.rows[key]["text"])
        expect("begin", row["begin_ns"], int(scopes.rows[key]["begin_ns"]))
        expect("activities", row["activities"], len(scopes.work[key]))
        expect("has a projection", row["projection"] is not None, projection is not None)
        if projection:
            gpu = row["projection"]
            expect("projection", (gpu["begin_ns"], gpu["end_ns"]), projection)
            expect("busy and idle", gpu["busy_ns"] + sum(gpu["idle_ns"].values()),
                   gpu["gpus"] * gpu["duration_ns"])
            expect("busy", gpu["busy_ns"], union(
                (max(int(other["start_ns"]), projection[0]), min(int(other["end_ns"]), projection[1]))
                for other in scopes.all_timed))
    projections = [scopes.projection(key) for key in instances]
    expect_distribution("host", found["host"], [scopes.host_ns(key) for key in instances])
    expect_distribution("projection", found["projection"],
                        [end - begin for begin, end in filter(None, projections)])


def check_groups(scopes, found):
    groups = collections.defaultdict(list)
    for key, row in scopes.rows.items():
        if scopes.is_interval(key):
            groups[re.sub(r"[0-9]+", "*", row["text"])[:255]].append(key)
    expect("groups", {row["name"] for row in found["groups"]}, set(groups))
    for row in found["groups"]:
        keys = groups[row["name"]]
        projections = [scopes.projection(key) for key in keys]
        expect("scopes of a group", row["scopes"], len(keys))
        expect_distribution(f"host of {row['name']}", row["host"], [scopes.host_ns(key) for key in keys])
        expect_distribution(f"projection of {row['name']}", row["projection"],
                            [end - begin for begin, end in filter(None, projections)])


def main():
    folder = pathlib.Path(sys.argv[1])
    scopes = Scopes(folder)
    scopes.all_timed = [row for row in read(folder / "activities.csv") if not row["untimed"]]
    check_instances(scopes, json.loads((folder / "instances.json").read_text()), sys.argv[2])
    check_groups(scopes, json.loads((folder / "groups.json").read_text()))


if __name__ == "__main__":
    main()
