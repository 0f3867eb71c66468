"""own_thread.py THREADS LAUNCHES ACTIVITIES CALLS: each kernel worker_N stands LAUNCHES times under
calls of one thread, and of no other's."""
import collections
import csv
import sys


def rows(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(file)


threads, launches = int(sys.argv[1]), int(sys.argv[2])
thread_of_call = {row["cid"]: row["thread"] for row in rows(sys.argv[4])}
by_kernel = collections.defaultdict(collections.Counter)
problems = set()
for row in rows(sys.argv[3]):
    if row["kind"] != "kernel":
        continue
    by_kernel[row["name"]][thread_of_call.get(row["cid"], "no call")] += 1
    if row["thread"] != thread_of_call.get(row["cid"]):
        problems.add("a kernel whose thread is not its call's")

if len(by_kernel) != threads:
    problems.add(f"{len(by_kernel)} kernels, not {threads}")
for name, by_thread in sorted(by_kernel.items()):
    if list(by_thread.values()) != [launches]:
        problems.add(f"{name}: {dict(by_thread)}")
if len({thread for by_thread in by_kernel.values() for thread in by_thread}) != threads:
    problems.add("two kernels under one thread")
sys.exit("; ".join(sorted(problems)) or None)
