"""sdk_rows.py OUT ACTIVITIES CALLS SCOPES WORK_LOG...: what a profiler got from
librocprofiler-sdk.so.1 (tests/sdk/client.c, which wrote OUT) is what dagtap recorded (tables of
`dagtap export --format csv`) and what the software GPU ran: each call, kernel and copy with its
correlation id, name and dimensions, the times and arguments of calls, and the messages of roctx's.
Each kernel has an external id of its own, and what else a call has caused the one that was pushed
at its entry. Other processes that the program starts have no profiler. The times of activities are
not compared: both sides convert the same ticks, but with the anchors that were known at different
moments."""
import collections
import csv
import re
import sys

out, activities, calls, scopes = sys.argv[1:5]
NUMBER = r"-?\d+|0x[0-9a-f]+"
AXES = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"]


def fail(text):
    sys.exit(f"FAILED: {text}")


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["process"] == profile.pid]


def axes(words):
    return tuple(int(number) for word in words for number in word.split(","))


class Profile:
    """What the profiler wrote."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if lines[-1] != "finished":
            fail(f"the last line is {lines[-1]}")
        self.pid = None
        self.kernels = {}
        self.activities = collections.defaultdict(list)  # by correlation id, in order
        self.calls, self.told = collections.defaultdict(list), collections.defaultdict(list)
        self.requests = collections.Counter()  # by correlation id
        self.answers = collections.defaultdict(list)  # that its dispatches got
        self.values = {}  # of arguments
        self.marks = collections.defaultdict(list)  # by correlation id
        self.ranges = collections.defaultdict(list)  # the same calls, as ranges
        self.memory = {"allocation": collections.Counter(), "allocated": collections.Counter()}
        self.over = set()
        for line in lines:
            words = line.split()
            getattr(self, words[0], self.pass_over)(words)

    def process(self, words):
        self.pid = words[1]

    def mark(self, words):
        if int(words[6]) > int(words[7]):
            fail(f"times of {' '.join(words)}")
        self.marks[words[1]].append(("mark", words[5]))

    def allocation(self, words):
        self.alive(words[1])
        if not 0 < int(words[6]) <= int(words[7]):
            fail(f"times of {' '.join(words)}")
        self.memory[words[0]][" ".join(words[1:])] += 1

    allocated = allocation

    def begin(self, words):
        self.marks[words[1]].append((words[0], *words[3:]))

    end = begin

    def range_enter(self, words):
        self.ranges[words[1]].append(words[0])

    range_exit = range = range_enter

    def alive(self, cid):
        if cid in self.over:
            fail(f"call {cid} was retired, and comes again")

    def retired(self, words):
        self.alive(words[1])
        self.over.add(words[1])

    def pass_over(self, words):
        if words[0] != "finished":
            fail(" ".join(words))

    def kernel(self, words):
        self.kernels[words[1]] = words[2].removesuffix(".kd")

    def dispatch(self, words):
        if words[5] not in self.kernels:
            fail(f"a record names kernel {words[5]}, of which there was no callback")
        self.answers[words[1]].append(int(words[3]))
        shape = (self.kernels[words[5]], *axes([words[11], words[13]]))
        self.activity(words, shape, words[6:8])

    def copy(self, words):
        self.pushed(words)
        self.activity(words, int(words[7]), words[4:6])

    def activity(self, words, what, times):
        self.alive(words[1])
        if not 0 < int(times[0]) <= int(times[1]):
            fail(f"times of {' '.join(words)}")
        self.activities[words[1]].append(what)

    def pushed(self, words):
        if words[1] != "0" and int(words[3]) != int(words[1]) * 5 + 2:
            fail(f"external id of {' '.join(words)}")

    def request(self, words):
        self.requests[words[1]] += 1

    def call(self, words):
        self.alive(words[1])
        self.pushed(words)
        self.calls[words[1]].append((int(words[6]), int(words[7])))

    def arguments(self, words):
        self.values[words[1]] = dict(word.split("=", 1) for word in words[2:] if "=" in word)

    def collective(self, words):
        self.alive(words[1])

    collective_enter = collective_exit = result = collective
    control = control_enter = control_exit = collective

    def enter(self, words):
        self.told[words[1]].append(words)

    exit = enter

    def flushed(self, words):
        if words[1] != "ROCPROFILER_STATUS_SUCCESS":
            fail(" ".join(words))

    def delivered(self, words):
        if words[3] != "0":
            fail(" ".join(words))


profile = Profile(out)
recorded = collections.defaultdict(list)
for row in sorted(rows(activities), key=lambda row: int(row["ordinal"])):
    recorded[row["cid"]].append(row)
if sorted(recorded) != sorted(profile.activities):
    fail(f"activities of other calls: {sorted(set(recorded) ^ set(profile.activities))[:5]}")
count = 0
for cid, all_of_call in recorded.items():
    if len(all_of_call) != len(profile.activities[cid]):
        fail(f"call {cid}: {len(all_of_call)} activities recorded, {len(profile.activities[cid])} delivered")
    for row, what in zip(all_of_call, profile.activities[cid]):
        is_dispatch = row["kind"] == "kernel" or row["blit"] == "1"
        expected = tuple(int(row[axis]) for axis in AXES) if is_dispatch else int(row["bytes"])
        if (what[1:] if is_dispatch else what) != expected:
            fail(f"call {cid}: {what} delivered, {expected} recorded")
        count += 1

seen = collections.Counter(what for all_of_call in profile.activities.values() for what in all_of_call
                           if isinstance(what, tuple))
ran = collections.Counter()
for path in (path for path in sys.argv[5:] if path.endswith(f".{profile.pid}")):
    with open(path, encoding="utf-8") as file:
        columns = file.readline().rstrip("\n").split("\t")
        for line in file:
            row = dict(zip(columns, line.rstrip("\n").split("\t")))
            if row["type"] == "dispatch":
                ran[(row["kernel"], *(int(row[axis]) for axis in AXES))] += 1
if seen != ran:
    fail(f"the device ran {ran - seen}, which was not delivered, and not {seen - ran}")

expected = {row["cid"]: (int(row["begin_ns"]), int(row["end_ns"])) for row in rows(calls) if row["api"].startswith("hip")}
if sorted(profile.calls) != sorted(expected):
    fail(f"calls: {sorted(set(profile.calls) ^ set(expected))[:5]}")
# The clocks of the two are apart by the time for which the machine was suspended.
apart = {delivered[0] - expected[cid][0] for cid, all_of_call in profile.calls.items() for delivered in all_of_call}
if len(apart) > 1:
    fail(f"calls: begin {sorted(apart)[:5]} ns after what is recorded")
for cid, (begin, end) in expected.items():
    if profile.calls[cid] != [(begin + min(apart), end + min(apart))]:
        fail(f"call {cid}: {profile.calls[cid]} delivered, {begin} to {end} recorded")
is_alone = len({row["thread"] for row in rows(calls)}) == 1
if not set(expected) <= profile.over:
    fail(f"calls that were not retired: {sorted(set(expected) - profile.over)[:5]}")
for cid, marks in profile.marks.items():
    if sorted(marks) != sorted([("begin", *marks[0][1:]), ("end", *marks[0][1:]), ("mark", marks[0][1])]):
        fail(f"roctx's call {cid}: {marks}")
# A mark, and what begins a range; roctxGetThreadId.
if set(profile.ranges) != {cid for cid, marks in profile.marks.items() if marks[0][1] in ("0", "1", "3", "5")}:
    fail(f"ranges {sorted(profile.ranges)} of roctx's calls {sorted(profile.marks)}")
for cid, told in profile.ranges.items():
    if sorted(told) != ["range", "range_enter", "range_exit"]:
        fail(f"range {cid}: {told}")
begun = collections.Counter(marks[0][2] for marks in profile.marks.values() if marks[0][2] != "-")
if begun != collections.Counter(row["text"] for row in rows(scopes) if row["kind"] == "roctx"):
    fail(f"roctx: {begun} delivered")
for cid, answers in profile.answers.items():
    requests = profile.requests[cid]
    # Packets that another thread passes to the device after the call's return share one answer.
    own = min(requests, len(answers))
    if cid != "0" and (len(set(answers)) != own or not set(answers) <= {int(cid) * 100000 + k for k in range(requests)}
                       or (is_alone and requests != len(answers))):
        fail(f"call {cid}: asked {requests} times, external ids of its kernels: {sorted(answers)[:5]}")
# Each call that allocates or frees has a record with what its callback had.
if profile.memory["allocation"] != profile.memory["allocated"] or not profile.memory["allocation"]:
    fail(f"allocations: {list((profile.memory['allocation'] - profile.memory['allocated']).items())[:5]} delivered, "
         f"{list((profile.memory['allocated'] - profile.memory['allocation']).items())[:5]} told")
compared = 0
for row in rows(calls):
    # Names are the interface's here, and HIP's there; texts and structs look otherwise.
    for name, value in (word.split("=", 1) for word in row["args"].split() if "=" in word):
        delivered = profile.values.get(row["cid"], {}).get(name, "{")
        if re.fullmatch(NUMBER, value) and re.fullmatch(NUMBER, delivered) and row["result"] == "0":
            compared += 1
            if int(value, 0) != int(delivered, 0):
                fail(f"call {row['cid']}: {name} is {delivered}, {value} recorded")
if not compared:
    fail("no arguments")
for cid in expected:
    told = profile.told[cid]
    if [words[0] for words in told] != ["enter", "exit"] or told[0][2:] != told[1][2:]:
        fail(f"callbacks of call {cid}: {told}")
print(f"{count} activities, {sum(seen.values())} of them dispatches, {len(expected)} calls, {compared} arguments, "
      f"{len(profile.marks)} of roctx")
