"""stats_lost.py FOLDER STEPS REPLAYS: the recorder does not read before the program has ended, and
the ring is small: what the ring dropped first is counted, exactly, and said."""
import glob
import json
import os
import struct
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder, steps, replays = sys.argv[1:]
OUT = os.path.join(folder, "run.dagstats")
HEADER, WRITER, WRITERS, CLASSES, CAUSES, RING = 4096, 512, 1024, 8, 6, 4


def dropped_by_ring(path):
    """Over all writers, as docs/format/spool.md has them."""
    with open(path, "rb") as file:
        data = file.read(HEADER + WRITER * WRITERS)
    total = 0
    for writer in range(WRITERS):
        counts = struct.unpack_from(f"<{CLASSES + CLASSES * CAUSES}Q", data, HEADER + writer * WRITER)
        total += sum(counts[CLASSES + kind * CAUSES + RING] for kind in range(CLASSES))
    return total


timers = os.environ.get("DAGTAP_TIMERS", "")
preload = (os.environ.get("SANITIZER_RUNTIME", "") + " " + BUILD + "/tests/paced_program.so").strip()
ran = subprocess.run(
    [DAGTAP, "record", "--softgpu=kernel_ns=0", "--stats", "--ring", "4M", "--keep-spool", "-o", OUT, "--",
     BUILD + "/examples/graph-bubbles", steps, replays, "10"],
    capture_output=True, text=True,
    env=dict(environment(), LD_PRELOAD=preload, DAGTAP_TIMERS=(timers + ",stats_poll=never").strip(",")))
expect("exit status (" + ran.stderr + ")", ran.returncode, 0)
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
spool, = glob.glob(os.path.join(folder, "run.spool", "*.spool"))
lost = dropped_by_ring(spool)
if not lost:
    fail("the ring dropped nothing")
expect("lost records", answer["lost_records"], lost)
expect("dropped records", answer["dropped_records"], 0)
if "records not counted" not in ran.stderr:
    fail("the loss is not said: " + ran.stderr)
if "not counted" not in subprocess.run([DAGTAP, "stats", OUT], capture_output=True, text=True).stdout:
    fail("dagtap stats does not say the loss")
