"""sdk_toggled.py OUT ACTIVITIES...: of each call of which a profiler got a record while it stopped
and started its context (tests/sdk/client.c, which wrote OUT), it got all kernels and copies that
the recordings have (tables of `dagtap export --format csv`), once. No call has two records, and
each that has one was told at its entry. A call that returns while its recording ends has none. What
is launched while a recording ends may be recorded without its call."""
import collections
import csv
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line.split() for line in file]
if lines[-1] != ["finished"]:
    sys.exit(f"FAILED: the last line is {lines[-1]}")
recorded = collections.Counter()
for path in sys.argv[2:]:
    with open(path, encoding="utf-8", newline="") as file:
        recorded.update(row["cid"] or "0" for row in csv.DictReader(file))
count = collections.Counter(words[0] for words in lines)
calls = collections.Counter(words[1] for words in lines if words[0] == "call")
entered = {words[1] for words in lines if words[0] == "enter"}
activities = collections.Counter(words[1] for words in lines if words[0] in ("dispatch", "copy"))
if max(calls.values(), default=0) > 1:
    sys.exit("FAILED: a call has two records")
if set(calls) - entered:
    sys.exit(f"FAILED: calls {sorted(set(calls) - entered)[:5]} were not told")
if activities["0"] > recorded["0"]:
    sys.exit(f"FAILED: {activities['0']} activities without a call, {recorded['0']} recorded")
for cid in set(calls) | set(activities) - {"0"}:
    if activities[cid] != recorded[cid]:
        sys.exit(f"FAILED: call {cid}: {activities[cid]} activities, {recorded[cid]} recorded")
if not count["toggled"]:
    sys.exit("FAILED: nothing was tried")
print(f"{count['toggled']} times, {len(entered)} calls told, {len(calls)} with a record, {sum(activities.values())} activities")
