"""stats_writers.py FOLDER PROGRAM: more threads record at the same time than a ring has writers
for. What the others did is counted, and the cause is named: by `dagtap record --stats` and
`dagtap stats`, and by `dagtap check` of the same run."""
import json
import os
import struct
import subprocess
import sys

from controlled import DAGTAP, environment, expect, fail

folder, program = sys.argv[1:]
OUT, SPOOL = os.path.join(folder, "run.dagstats"), os.path.join(folder, "run.spool")
CAUSE = "more threads at once than can be recorded"
# As docs/format/spool.md has the header and the writers.
COUNTS, WRITERS, WRITER_BYTES, WRITER_COUNT = 3072 + 48, 4096, 512, 1024
CLASSES, CAUSES, NO_WRITER, RING = 8, 6, 3, 4


def dropped_records():
    """How many records each cause dropped, by the spool."""
    name, = os.listdir(SPOOL)
    with open(os.path.join(SPOOL, name), "rb") as file:
        head = file.read(WRITERS + WRITER_COUNT * WRITER_BYTES)
    found = [0] * CAUSES
    for at in [COUNTS, *range(WRITERS, len(head), WRITER_BYTES)]:
        counts = struct.unpack_from(f"<{CLASSES + CLASSES * CAUSES}Q", head, at)[CLASSES:]
        found = [n + sum(counts[cause::CAUSES]) for cause, n in enumerate(found)]
    return found


ran = subprocess.run([DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", "--keep-spool", "-o", OUT, "--",
                      program, "600"], capture_output=True, text=True, env=environment())
expect("exit status (" + ran.stderr + ")", ran.returncode, 0)
# On a busy machine chunks may not be ready in time, too.
by_cause = dropped_records()
dropped = by_cause[NO_WRITER]
if not dropped:
    fail("all threads had a writer")
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
expect("lost records", answer["lost_records"], 0)
expect("dropped records", answer["dropped_records"], sum(by_cause) - by_cause[RING])
expect("records without a writer", answer["no_writer_records"], dropped)
said = f"{dropped:,} of these: {CAUSE}"
if f"{answer['dropped_records']:,} dropped" not in ran.stderr or said not in ran.stderr:
    fail("the cause is not said: " + ran.stderr)
table = subprocess.run([DAGTAP, "stats", OUT], capture_output=True, text=True).stdout
if "  " + said not in table:
    fail("dagtap stats does not say the cause: " + table)
check = json.loads(subprocess.run([DAGTAP, "check", "--json", SPOOL], capture_output=True, text=True).stdout)
hip, = (source for source in check["sources"] if source["name"] == "hip")
if CAUSE not in hip["dropped"]:
    fail(f"check does not say the cause: {hip['dropped']}")
