"""stats_missing.py FOLDER PROGRAM LAUNCHES: PROGRAM plays CUDA with LAUNCHES of a graph of three
kernels, and CUPTI loses kernels without counting them. They are missing in what
`dagtap record --stats`, `dagtap stats` and the file say, unless the program was killed: then they
may have been under way."""
import json
import os
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder, program, launches = sys.argv[1], sys.argv[2], int(sys.argv[3])
OUT = os.path.join(folder, "run.dagstats")
KERNELS, LOSES = 3 * launches, 10


def record(*arguments, **more):
    ran = subprocess.run(
        [DAGTAP, "record", "--backend", "cuda", "--stats", "-f", "-o", OUT, "--", program, str(launches), *arguments],
        capture_output=True, text=True, env=dict(environment(), DAGTAP_CUPTI=BUILD + "/tests/libmodel-cupti.so", **more))
    return ran.stderr


def stats(*options):
    return subprocess.run([DAGTAP, "stats", *options, OUT], capture_output=True, text=True).stdout


def deliveries():
    return json.loads(stats("--json"))["cuda_deliveries"]


def expect_counts(what, **counts):
    found = deliveries()
    for name, count in {"graph_launches": launches, "launched_kernels": KERNELS, "kernel_launches": 0, "not_read": 0,
                        "uncompared_launches": 0, "uncompared_activities": 0, "pending": 0, **counts}.items():
        expect(f"{what}: {name}", found[name], count)


record()
expect_counts("nothing lost", delivered_kernels=KERNELS, missing=0)
if "did not come" in stats():
    fail("a loss is said where there is none: " + stats())

told = record(MODEL_LOSES=str(LOSES))
expect_counts("lost", delivered_kernels=KERNELS - LOSES, missing=LOSES)
if f"CUPTI did not deliver {LOSES} activities" not in told:
    fail("the loss is not said: " + told)
if f"kernels: {KERNELS} launched, {KERNELS - LOSES} came" not in stats() or f"{LOSES} missing without" not in stats():
    fail("dagtap stats does not say the loss: " + stats())

# CUPTI counts some of those that did not come.
record(MODEL_LOSES=str(LOSES), MODEL_DROPS="4")
expect_counts("lost and dropped", delivered_kernels=KERNELS - LOSES, not_read=4, missing=LOSES - 4)

# The process was killed: CUPTI had delivered the full buffers. What did not come may have been
# under way.
launches = 5000
record("killed")
found = deliveries()
expect("killed: launches", found["graph_launches"], launches)
expect("killed: missing", found["missing"], 0)
expect("killed: all", found["delivered_kernels"] + found["not_read"] + found["pending"], 3 * launches)
if not found["pending"]:
    fail("nothing is pending after a kill")
