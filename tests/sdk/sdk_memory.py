"""sdk_memory.py OUT LOG SAID CALLS HAS_AGENTS: what a profiler got of memory (tests/sdk/client.c,
which wrote OUT) is what the program saw (tests/sdk/allocating.c, which wrote LOG, and SAID what HIP
gave it). CALLS is dagtap's table of calls. HAS_AGENTS: 1 if the agents' ids are known."""
import collections
import csv
import sys

OPERATIONS = {"1": "allocate", "2": "vmem_allocate", "3": "free", "4": "vmem_free"}


def fail(text):
    sys.exit(f"FAILED: {text}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def delivered(kind):
    """Operation, address and bytes of each line of KIND, with the correlation id."""
    found = []
    for line in read(sys.argv[1]):
        words = line.split()
        if words[0] == kind:
            found.append((words[1], f"{OPERATIONS[words[5]]} {words[9]} {words[11]}"))
    return found


log = read(sys.argv[2])
over = log.index("over")
seen = log[:over] + log[over + 1:]
with open(sys.argv[4], encoding="utf-8", newline="") as file:
    calls = {row["cid"]: row["api"] for row in csv.DictReader(file)}
for kind in ["allocation", "allocated"]:
    rows = collections.Counter(what for cid, what in delivered(kind))
    if rows - collections.Counter(seen):
        fail(f"{kind}: the program has not seen {rows - collections.Counter(seen)}")
    if collections.Counter(log[:over]) - rows:
        fail(f"{kind}: missing {collections.Counter(log[:over]) - rows}")
if {what.split()[0] for what in log[:over]} != set(OPERATIONS.values()):
    fail("the program has not done everything")
allocating = {what: cid for cid, what in delivered("allocation")}
for line in read(sys.argv[3]):
    words = line.split()
    if words[:1] != ["hipMalloc"]:
        continue
    cid = allocating.get(f"allocate {words[1]} {words[2]}")
    if calls.get(cid) != "hipMalloc":
        fail(f"{line}: in call {cid}, {calls.get(cid)}")
# What the program asks HSA for itself is in no call.
own = [cid for cid, what in delivered("allocation") if what.startswith("vmem")]
if set(own) & set(calls) or len(set(own)) != len(own):
    fail("calls of the program's own have no correlation ids of their own")
# Agent 1 is the CPU, 2 the GPU; what frees has none.
agents = {}
for line in read(sys.argv[1]):
    words = line.split()
    if words[0] == "allocation":
        agents[f"{OPERATIONS[words[5]]} {words[9]} {words[11]}"] = words[13]
for what, agent in agents.items():
    if "free" in what and agent != "0":
        fail(f"{what}: agent {agent}")
if sys.argv[5] == "1":
    for line in read(sys.argv[3]):
        words = line.split()
        agent = agents.get(f"allocate {words[1]} {words[2]}")
        if agent != ("1" if words[0] == "hipHostMalloc" else "2"):
            fail(f"{line}: of agent {agent}")
print(f"{over} calls of {len(log) - 1}")
