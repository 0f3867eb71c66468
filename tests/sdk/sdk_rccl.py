"""sdk_rccl.py OUT CALLS [NAME=COUNT...]: the calls of RCCL that a profiler got from
librocprofiler-sdk.so.1 (tests/sdk/client.c, which wrote OUT) are those that the program has made on
its main thread, COUNT of each NAME, beside those that RCCL makes itself, inside of others and on
its threads; and they are those that dagtap recorded (CALLS, a table of `dagtap export --format
csv`): each has callbacks at its entry and its return and one record, with its correlation id,
operation, thread, times, result and arguments, and the external id that was pushed at its entry.
The calls of HIP that it makes have it as their ancestor."""
import collections
import csv
import re
import sys

out, calls = sys.argv[1:3]
NUMBER = re.compile(r"-?\d+|0x[0-9a-f]+")
# Where the interface names an argument otherwise than the recording.
OTHER_NAMES = {"ncclCommInitRankConfig": {"newcomm": "comm"}, "ncclScatter": {"sendcount": "recvcount"}}
TEXTS = "ncclGetErrorString", "ncclGetLastError"  # what these return; the recording has 0
LIBRARY = re.compile("nccl|msccl")


def fail(text):
    sys.exit(f"FAILED: {text}")


with open(out, encoding="utf-8") as file:
    lines = [line.split() for line in file]
if lines[-1] != ["finished"]:
    fail(f"the last line is {lines[-1]}")
pid = next(words[1] for words in lines if words[0] == "process")
with open(calls, encoding="utf-8", newline="") as file:
    rows = {row["cid"]: row for row in csv.DictReader(file) if row["process"] == pid}
of_library = {cid: row for cid, row in rows.items() if LIBRARY.match(row["api"])}

told = collections.defaultdict(list)  # lines by correlation id, in order
for words in lines:
    if len(words) > 1:
        told[words[1]].append(words)
records = [words for words in lines if words[0] == "collective"]
names = collections.Counter(words[2] for words in records)
made = collections.Counter({name: int(count) for name, count in (word.split("=") for word in sys.argv[3:])})
if names != collections.Counter(row["api"] for row in of_library.values()):
    fail(f"{dict(names)} delivered")
own = collections.Counter(words[2] for words in records if words[4] == pid and words[6] == "0")
if own != made:
    fail(f"{dict(own)} delivered, the program made {dict(made)}")

WANTED = ["collective_enter", "result", "arguments", "collective_exit", "collective", "retired"]
apart = set()
compared = 0
for cid, row in of_library.items():
    got = [words for words in told[cid] if words[0] in WANTED]
    if [words[0] for words in got] != WANTED:
        fail(f"call {cid}: {got}")
    enter, result, arguments, leave, record, _ = got
    where = [row["api"], "tid", row["thread"], "ancestor", row["parent_cid"] or "0"]
    if not enter[2:] == leave[2:] == record[2:7] == where:
        fail(f"call {cid}: {enter}, {leave}, {record}; {where} recorded")
    if (result[2] == "(null)" if row["api"] in TEXTS else result[2] != row["result"]) or int(record[10]) != int(cid) * 5 + 2:
        fail(f"call {cid}: {result}, {record}; {row['result']} recorded")
    apart |= {int(record[7]) - int(row["begin_ns"]), int(record[8]) - int(row["end_ns"])}
    values = dict(word.split("=", 1) for word in arguments[2:] if "=" in word)
    for name, value in (word.split("=", 1) for word in row["args"].split() if "=" in word):
        name = OTHER_NAMES.get(row["api"], {}).get(name, name)
        if NUMBER.fullmatch(value) and NUMBER.fullmatch(values.get(name, "{")) and row["result"] == "0":
            compared += 1
            if int(value, 0) != int(values[name], 0):
                fail(f"call {cid}: {name} is {values[name]}, {value} recorded")
if len(apart) != 1:
    fail(f"times are {sorted(apart)[:5]} ns after what is recorded")
if not compared:
    fail("no arguments")

inside = 0
for cid, row in rows.items():
    for words in told[cid]:
        if words[0] == "enter":
            inside += row["parent_cid"] in of_library
            if words[6:] != ["ancestor", row["parent_cid"] or "0"]:
                fail(f"call {cid}: {words}, inside of {row['parent_cid']}")
if not inside:
    fail("no call of HIP inside")
print(f"{len(of_library)} calls of RCCL, {compared} arguments, {inside} calls of HIP inside")
