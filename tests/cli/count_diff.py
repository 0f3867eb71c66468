#!/usr/bin/env python3
"""Reckons Welch's t-test and the normalised means of `dagtap diff --json` from the CSV of both
files.

    count_diff.py FOLDER slower FILE    writes FILE with every second kernel row of one name slower,
    as FOLDER/slower.json count_diff.py FOLDER check MODE     FOLDER holds a.csv, b.csv and
    diff.json; MODE is activities or replays
"""

import collections
import json
import math
import pathlib
import statistics
import sys

from count_scopes import expect, expect_near, read

NAME = "CUDAFunctorOnSelf_add"


def slower(folder, path):
    """One kernel takes 1.2 times as long, and another one is only a little noisier."""
    trace = json.loads(pathlib.Path(path).read_text())
    noise = 0
    for row in trace["traceEvents"]:
        if row.get("cat") == "kernel" and NAME in row["name"]:
            row["dur"] *= 1.2
        elif row.get("cat") == "kernel" and "split_k" in row["name"]:
            noise += 1
            row["dur"] += 0.02 if noise % 2 else -0.02
    (folder / "slower.json").write_text(json.dumps(trace))


def probability(a, b):
    """Two-sided, by integrating the density of Student's t."""
    if len(a) < 2 or len(b) < 2:
        return None
    parts = [statistics.variance(values) / len(values) for values in (a, b)]
    if sum(parts) == 0:
        return 1 if statistics.fmean(a) == statistics.fmean(b) else 0
    t = abs(statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(part ** 2 / (len(values) - 1) for part, values in zip(parts, (a, b)))
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    # Of the tail, with u = t / x, which goes from 0 to 1; Simpson's rule.
    steps = 20000
    def density(u):
        return 0 if u == 0 else scale * (1 + (t / u) ** 2 / freedom) ** (-(freedom + 1) / 2) * t / u ** 2
    inner = sum((4 if i % 2 else 2) * density(i / steps) for i in range(1, steps))
    return 2 * (density(0) + inner + density(1)) / (3 * steps) if t else 1


def samples(rows, mode):
    """By name, the durations that are compared, and the number of activities."""
    durations, counts = collections.defaultdict(list), collections.Counter()
    replays = {(row["exec"], row["replay"]) for row in rows if row["replay"]}
    sums = collections.defaultdict(lambda: dict.fromkeys(replays, 0))
    for row in rows:
        key = (row["exec"], row["replay"])
        if row["kind"] != "kernel" or (mode == "replays" and key not in replays):
            continue
        counts[row["name"]] += 1
        durations[row["name"]].append(int(row["duration_ns"]))
        if mode == "replays":
            sums[row["name"]][key] += int(row["duration_ns"])
    if mode == "replays":
        durations = {name: list(values.values()) for name, values in sums.items()}
    return durations, counts, len(replays) if mode == "replays" else 1


def check(folder, mode):
    (of_a, counts_a, parts_a), (of_b, counts_b, parts_b) = (samples(read(folder / f"{side}.csv"), mode)
                                                            for side in "ab")
    found = json.loads((folder / "diff.json").read_text())
    expect("compared", found["compared"], mode)
    expect("names", {row["name"] for row in found["rows"]}, set(of_a) | set(of_b))
    changed = 0
    for row in found["rows"]:
        a, b = of_a[row["name"]], of_b[row["name"]]
        expect("activities", (row["a"]["activities"], row["b"]["activities"]),
               (counts_a[row["name"]], counts_b[row["name"]]))
        expect_near("mean of A", row["a"]["mean_ns"], statistics.fmean(a))
        expect_near("mean of B", row["b"]["mean_ns"], statistics.fmean(b))
        wanted = probability(a, b)
        expect("has a probability", row["probability"] is None, wanted is None)
        if wanted is not None and abs(row["probability"] - wanted) > 1e-6 + 1e-4 * wanted:
            sys.exit(f"probability of {row['name']}: {row['probability']}, and from the CSV {wanted}")
        differs = abs(statistics.fmean(b) / statistics.fmean(a) - 1) >= 0.01
        is_changed = (counts_a[row["name"]] / parts_a != counts_b[row["name"]] / parts_b or
                      (differs and not (wanted is not None and wanted >= 0.01 / len(found["rows"]))))
        expect(f"changed {row['name']}", row["changed"], is_changed)
        changed += is_changed
    expect("rows that changed", found["rows_changed"], changed)


if __name__ == "__main__":
    if sys.argv[2] == "slower":
        slower(pathlib.Path(sys.argv[1]), sys.argv[3])
    else:
        check(pathlib.Path(sys.argv[1]), sys.argv[3])
