#!/usr/bin/env python3
"""Reckons from the CSV of a recording what `dagtap gaps --json --limit 0` says of it.

    count_gaps.py FOLDER    FOLDER holds activities.csv, calls.csv, scopes.csv and gaps.json
"""

import collections
import json
import pathlib
import sys

from count_scopes import Scopes, expect, read


def find_gaps(activities):
    """(begin, end, activity that ends it), by device, of the time in which none of its activities
    runs."""
    gaps = []
    for device in {row["device"] for row in activities}:
        end = None
        rows = (row for row in activities if row["device"] == device and not row["untimed"])
        for row in sorted(rows, key=lambda row: int(row["start_ns"])):
            if end is not None and int(row["start_ns"]) > end:
                gaps.append((end, int(row["start_ns"]), row))
            end = max(int(row["end_ns"]), end or 0)
    return sorted(gaps, key=lambda gap: (gap[0] - gap[1], gap[0]))


def overlap(row, begin, end):
    return min(int(row["end_ns"]), end) - max(int(row["begin_ns"]), begin)


def parts(rows, name, begin, end):
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if int(row["begin_ns"]) < end and int(row["end_ns"]) > begin:
            sums[row[name]][0] += 1
            sums[row[name]][1] += overlap(row, begin, end)
    return {(key, count, ns) for key, (count, ns) in sums.items()}


def innermost(scopes, keys, begin, end, thread):
    """The depths and texts of the deepest scopes that cover half of the gap, on the thread, or else
    on any."""
    covering = [(len(list(scopes.around(key))), scopes.rows[key]["text"], scopes.rows[key]["thread"])
                for key in keys if 2 * overlap(scopes.rows[key], begin, end) >= end - begin]
    covering = [row for row in covering if row[2] == thread] or covering
    return {text for depth, text, _ in covering if depth == max(covering)[0]}


def main():
    folder = pathlib.Path(sys.argv[1])
    activities, calls = read(folder / "activities.csv"), read(folder / "calls.csv")
    by_cid = {(row["process"], row["cid"]): row for row in calls}
    outermost = [row for row in calls if not row["parent_cid"]]
    scopes = Scopes(folder)
    keys = [key for key in scopes.rows if scopes.is_interval(key)]
    found = json.loads((folder / "gaps.json").read_text())
    wanted = find_gaps(activities)
    expect("gaps", [(row["begin_ns"], row["end_ns"]) for row in found["gaps"]],
           [(begin, end) for begin, end, _ in wanted])
    expect("number of gaps", found["gap_count"], len(wanted))
    expect("sum of gaps", found["total_ns"], sum(end - begin for begin, end, _ in wanted))
    for row, (begin, end, after) in zip(found["gaps"], wanted):
        expect("duration", row["duration_ns"], end - begin)
        expect("sum of the causes", sum(row["idle_ns"].values()), end - begin)
        expect("cause", row["idle_ns"][row["cause"]], max(row["idle_ns"].values()))
        expect("work that ends it", row["after"]["correlation_id"], int(after["cid"]))
        call = by_cid.get((after["process"], after["cid"]))
        if call and after["submit_ns"]:
            # CUPTI does not tell the submission, and then the call's begin stands for it: its end
            # is surer.
            released = int(after["submit_ns"])
            released = released if released > int(call["begin_ns"]) else int(call["end_ns"])
            expect("time until it was submitted", row["idle_ns"]["host"], max(0, min(released, end) - begin))
        expect("calls", {(part["name"], part["count"], part["ns"]) for part in row["calls"]},
               parts(outermost, "api", begin, end))
        expect("scopes", {(part["name"], part["count"], part["ns"]) for part in row["scopes"]},
               parts((scopes.rows[key] for key in keys), "text", begin, end))
        for key in ("calls", "scopes"):
            times = [part["ns"] for part in row[key]]
            expect(f"order of {key}", times, sorted(times, reverse=True))
        texts = innermost(scopes, keys, begin, end, after["thread"])
        if (row["scope"] is None) != (not texts) or (texts and row["scope"] not in texts):
            sys.exit(f"scope of a gap: {row['scope']}, and from the CSV one of {texts}")


if __name__ == "__main__":
    main()
