"""The same program under torch.profiler and under dagtap: what both say of each kernel, copy and
memset, field by field."""
import collections
import json
import re
import shutil
import subprocess

import report
from tool import Failure, find_one, run

MARK_BYTES = "77777"  # torch_fields.py
EVENTS_LEAST = 1000
KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "memset"}
COMPARED = {"kernel": ["kind", "name", "device", "stream", "grid", "block", "registers", "shared memory"],
            "copy": ["kind", "device", "stream", "bytes", "copy kind"],
            "memset": ["kind", "device", "stream", "bytes"]}


def from_kineto(events):
    """Rows by stream in the order of start."""
    rows = []
    for event in events:
        if event.get("ph") != "X" or event.get("cat") not in KINDS:
            continue
        args = event["args"]
        copy_kind = re.match(r"Memcpy (\w)to(\w)", event["name"])
        rows.append({"start": float(event["ts"]), "kind": KINDS[event["cat"]], "name": event["name"], "device": str(args["device"]),
                     "stream": str(args["stream"]), "bytes": str(args.get("bytes", "")),
                     "grid": tuple(args.get("grid", ())), "block": tuple(args.get("block", ())),
                     "registers": str(args.get("registers per thread", "")), "shared memory": str(args.get("shared memory", "")),
                     "copy kind": "2".join(copy_kind.groups()) if copy_kind else ""})
    return by_stream(rows)


def blocks(row):
    """A CSV has CUDA's grids in blocks."""
    return tuple(int(row["grid_" + axis]) for axis in "xyz"), tuple(int(row["workgroup_" + axis]) for axis in "xyz")


def from_dagtap(csv_rows):
    rows = []
    for row in csv_rows:
        is_kernel = row["kind"] == "kernel"
        grid, block = blocks(row) if is_kernel else ((), ())
        rows.append({"start": float(row["start_ns"] or 0), "kind": row["kind"], "name": row["name"], "device": row["device"],
                     "stream": row["stream_handle"], "bytes": row["bytes"], "grid": grid, "block": block,
                     "registers": row["registers"] or "0", "shared memory": row["group_bytes"] or "0",
                     "copy kind": row["direction"]})
    return by_stream(rows)


def by_stream(rows):
    streams = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: row["start"]):
        streams[row["stream"]].append(row)
    return {stream: cut for stream, rows in streams.items() if (cut := between_marks(rows))}


def between_marks(rows):
    marks = [i for i, row in enumerate(rows) if row["kind"] == "memset" and row["bytes"] == MARK_BYTES]
    return rows[marks[0]:marks[-1] + 1] if len(marks) == 2 else []


def demangle(names):
    """As c++filt says them; without it as they are."""
    filter_path = shutil.which("c++filt") or shutil.which("cu++filt")
    if not filter_path or not names:
        return dict(zip(names, names))
    done = subprocess.run([filter_path], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True)
    return dict(zip(names, done.stdout.split("\n")))


def pairs_of(ours, theirs):
    """Neighbours in the two runs: streams in the order of their numbers, rows in the order of
    start."""
    if [len(rows) for _, rows in sorted(ours.items(), key=stream_number)] != \
       [len(rows) for _, rows in sorted(theirs.items(), key=stream_number)]:
        raise Failure("the runs had different work: rows by stream are " +
                      f"{ {s: len(r) for s, r in ours.items()} } with dagtap and { {s: len(r) for s, r in theirs.items()} } with Kineto")
    return [pair for (_, a), (_, b) in zip(sorted(ours.items(), key=stream_number), sorted(theirs.items(), key=stream_number))
            for pair in zip(a, b)]


def stream_number(item):
    return int(item[0])


def compare(ours, theirs):
    """Of each field: [compared, different], and an example of the difference."""
    pairs = pairs_of(ours, theirs)
    plain = demangle(sorted({row["name"] for pair in pairs for row in pair if row["kind"] == "kernel"}))
    tally, examples = collections.defaultdict(lambda: [0, 0]), {}
    for a, b in pairs:
        for field in COMPARED[b["kind"]]:
            left, right = a[field], b[field]
            tally[field][0] += 1
            if field == "name":
                left, right = plain[left], plain[right]
            if left != right:
                tally[field][1] += 1
                examples.setdefault(field, f"{left} here, {right} there ({b['name'][:60]})")
    return dict(tally), examples


def goals(tally, examples):
    events = tally["kind"][0]
    found = [report.goal("events compared", f"at least {EVENTS_LEAST}", str(events), events >= EVENTS_LEAST)]
    return found + [report.goal(field, f"0 of {compared} differ", f"{different} of {compared} differ" +
                                (f": {examples[field]}" if different else ""), not different)
                    for field, (compared, different) in tally.items()]


def measure(context):
    trace = context.work / "fields.json"
    run(context.python("torch_fields.py", trace))
    context.tool.record(context.python("torch_fields.py"), context.recording)
    theirs = from_kineto(json.loads(find_one(context.work, "fields.json").read_text())["traceEvents"])
    ours = from_dagtap(context.tool.rows("activities", context.recording))
    tally, examples = compare(ours, theirs)
    return report.part("Kineto's JSON and dagtap, field by field", goals=goals(tally, examples),
                       runs={"tally": tally, "examples": examples})
