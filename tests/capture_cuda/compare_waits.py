#!/usr/bin/env python3
"""compare_waits.py DAGTAP CALLS KINDS: do two recordings of one program say the same of its waits
and of the dependencies that follow? CALLS has the waits from the calls, KINDS from CUPTI (dagtap
record --calls all). Prints what differs, and ends with 1 if anything does."""
import csv
import difflib
import io
import json
import subprocess
import sys


def ask(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def rows(dagtap, file, table):
    return list(csv.DictReader(io.StringIO(ask(dagtap, "export", "--force", "--format", "csv", "--table", table, "-o", "-", file))))


def places(keys):
    """The keys' numbers in the order of their first use: two recordings have other ids for the same
    things."""
    found = {}
    for key in keys:
        found.setdefault(key, len(found))
    return found


def waits(dagtap, file):
    """A line for each wait. A call that failed waited for nothing, and has no row from calls."""
    records = rows(dagtap, file, "events")
    streams = places((r["process"], r["stream"]) for r in rows(dagtap, file, "activities"))
    events = places((r["process"], r["event"], r["generation"]) for r in records)
    made = places((r["process"], r["cid"], r["node"]) for r in records)
    lines = []
    for row in rows(dagtap, file, "waits"):
        process = row["process"]
        if row["result"] not in ("", "0"):
            continue
        parts = [row["api"], row["type"], "known" if row["known"] else "unresolved"]
        if row["stream"]:
            parts.append(f"on {streams.get((process, row['stream']), 'an idle stream')}")
        if row["event"]:
            parts.append(f"event {events.get((process, row['event'], row['generation']), 'never recorded')}")
        if row["producer_cid"]:
            parts.append(f"record {made.get((process, row['producer_cid'], row['producer_node']))} on "
                         f"{streams.get((process, row['producer_stream']), 'an idle stream')}")
        if row["producer_replay"]:
            parts.append(f"of replay {row['producer_replay']}")
        lines.append(", ".join(parts))
    return lines


def dependencies(dagtap, file):
    path = json.loads(ask(dagtap, "path", "--json", file))
    counts = {kind: found["count"] for kind, found in path["dependencies"].items() if kind not in ("launch", "program_order")}
    return {**counts, "waits resolved": path["waits_resolved"], "waits unresolved": path["waits_unresolved"]}


def main():
    dagtap, calls, kinds = sys.argv[1:]
    from_calls, from_kinds = waits(dagtap, calls), waits(dagtap, kinds)
    differences = [line for line in difflib.unified_diff(from_kinds, from_calls, "kinds", "calls", lineterm="", n=0)]
    found, wanted = dependencies(dagtap, calls), dependencies(dagtap, kinds)
    differences += [f"{kind}: {found[kind]} from calls, {wanted[kind]} from kinds" for kind in wanted if found[kind] != wanted[kind]]
    print("\n".join(differences))
    print(json.dumps({"waits": len(from_calls), "differences": len(differences), "dependencies": found}))
    sys.exit(1 if differences else 0)


main()
