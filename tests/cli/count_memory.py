#!/usr/bin/env python3
"""Reckons from the CSV of a recording what `dagtap memory --json` says of it.

    count_memory.py FOLDER [KEY=VALUE...]    FOLDER holds memory.csv, scopes.csv and memory.json.
                                             Only blocks whose columns have these values are
                                             selected.
"""

import collections
import json
import pathlib
import sys

from count_scopes import expect, read


class Block:
    def __init__(self, row, order, scopes):
        self.row, self.begin, self.end = row, order, None
        self.begin_ns, self.end_ns = int(row["ns"]), None
        self.bytes = int(row["bytes"])
        device = row["device"]
        self.place = (int(row["process"]), int(device) if device.isdigit() else None, row["kind"])
        stream = int(row["stream"]) if row["stream"] else None
        # The column scope has the path of scopes, the command the innermost one.
        self.use = self.place + (stream, row["api"] or None, scopes.get((row["process"], row["scope_id"])))


def find_blocks(rows, scopes):
    """Blocks in order of time, the failed allocations, the releases of unknown addresses, and the
    number of begins and ends."""
    rows = sorted(rows, key=lambda row: int(row["ns"]))
    blocks, live, failed, unknown = [], {}, [], 0
    for order, row in enumerate(rows):
        key = (row["process"], row["address"])
        if row["operation"] == "fail":
            failed.append(row)
            continue
        before = live.pop(key, None)
        if before:
            before.end, before.end_ns = order, int(row["ns"])
        if row["operation"] == "release":
            unknown += before is None
        else:
            live[key] = Block(row, order, scopes)
            blocks.append(live[key])
    return blocks, failed, unknown, len(rows)


def held(blocks, order):
    return [block for block in blocks if block.begin <= order and (block.end is None or block.end > order)]


def total(blocks):
    return sum(block.bytes for block in blocks)


def peak(blocks, orders):
    """The most bytes of the blocks, and the first moment of it."""
    most = max(total(held(blocks, order)) for order in orders)
    return most, next(order for order in orders if total(held(blocks, order)) == most)


def by(blocks, key):
    groups = collections.defaultdict(list)
    for block in blocks:
        groups[key(block)].append(block)
    return groups


def place_of(row):
    return (row["pid"], row["gpu"], row["kind"])


def use_of(row):
    return place_of(row) + (row["stream"], row["function"], row["scope"])


def check_devices(found, blocks, orders):
    groups = by(blocks, lambda block: block.place)
    expect("devices", {place_of(row) for row in found["devices"]}, set(groups))
    at_peak = []
    for row in found["devices"]:
        group = groups[place_of(row)]
        most, order = peak(group, orders)
        left = [block for block in group if block.end is None]
        expect("a device", (row["allocations"], row["releases"], row["allocated_bytes"]),
               (len(group), len(group) - len(left), total(group)))
        expect("left of a device", (row["live_bytes"], row["live_count"]), (total(left), len(left)))
        expect("peak of a device", (row["peak_bytes"], row["peak_ns"]),
               (most, next(block.begin_ns for block in group if block.begin == order)))
        at_peak += held(group, order)
    expect("at the peaks", {use_of(row): (row["bytes"], row["count"]) for row in found["peak"]},
           {use: (total(group), len(group)) for use, group in by(at_peak, lambda block: block.use).items()})
    return groups


def check_uses(found, blocks, orders):
    groups = by(blocks, lambda block: block.use)
    expect("scopes", {use_of(row) for row in found["scopes"]}, set(groups))
    for row in found["scopes"]:
        group = groups[use_of(row)]
        left = [block for block in group if block.end is None]
        expect("a scope", (row["allocations"], row["allocated_bytes"], row["live_bytes"], row["live_count"]),
               (len(group), total(group), total(left), len(left)))
        expect("peak of a scope", row["peak_bytes"], peak(group, orders)[0])
    peaks = [row["peak_bytes"] for row in found["scopes"]]
    expect("order of scopes", peaks, sorted(peaks, reverse=True))


def check_leaks(found, blocks):
    groups = by([block for block in blocks if block.end is None], lambda block: (block.use, block.bytes))
    expect("leaks", {(use_of(row), row["bytes"]): row["count"] for row in found["leaks"]},
           {key: len(group) for key, group in groups.items()})


def check_time(found, groups, orders):
    """Within each part, the most and the last; the last part ends with what is left."""
    for place, group in groups.items():
        rows = [row for row in found["time"] if place_of(row) == place]
        changes = sorted([(block.begin, block.begin_ns) for block in group] +
                         [(block.end, block.end_ns) for block in group if block.end is not None])
        live = 0
        for row in rows:
            # A change at the border of two parts may be in either.
            inside = [order for order, ns in changes if row["begin_ns"] < ns < row["end_ns"]]
            values = [total(held(group, order)) for order in inside]
            if row["peak_bytes"] < max([live] + values):
                sys.exit(f"{place}: most of a part: {row['peak_bytes']}, and from the CSV {values}")
            live = row["live_bytes"]
        expect("most of all parts", max(row["peak_bytes"] for row in rows), peak(group, orders)[0])
        expect("end of all parts", rows[-1]["live_bytes"],
               total([block for block in group if block.end is None]))


def main():
    folder = pathlib.Path(sys.argv[1])
    wanted = dict(argument.split("=", 1) for argument in sys.argv[2:])
    found = json.loads((folder / "memory.json").read_text())
    scopes = {(row["process"], row["scope_id"]): row["text"] for row in read(folder / "scopes.csv")}
    blocks, failed, unknown, count = find_blocks(read(folder / "memory.csv"), scopes)
    blocks = [block for block in blocks if all(block.row[key] == value for key, value in wanted.items())]
    failed = [row for row in failed if all(row[key] == value for key, value in wanted.items())]
    if not blocks:
        sys.exit("nothing to compare")
    orders = range(count)
    expect("unknown releases", found["unknown_releases"], unknown)
    groups = check_devices(found, blocks, orders)
    check_uses(found, blocks, orders)
    check_leaks(found, blocks)
    check_time(found, groups, orders)
    expect("failed", [(row["ns"], row["bytes"], row["function"]) for row in found["failed"]],
           [(int(row["ns"]), int(row["bytes"]), row["api"]) for row in failed])


if __name__ == "__main__":
    main()
