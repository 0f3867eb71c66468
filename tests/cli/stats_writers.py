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
# As docs/format/spool.md has the header.
COUNTS, CLASSES, CAUSES, NO_WRITER = 3072 + 48, 8, 6, 3


def without_writer():
    """The records that had no writer."""
    name, = os.listdir(SPOOL)
    with open(os.path.join(SPOOL, name), "rb") as file:
        header = file.read(4096)
    counts = struct.unpack_from(f"<{CLASSES + CLASSES * CAUSES}Q", header, COUNTS)
    return sum(counts[CLASSES + kind * CAUSES + NO_WRITER] for kind in range(CLASSES))


ran = subprocess.run([DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", "--keep-spool", "-o", OUT, "--",
                      program, "600"], capture_output=True, text=True, env=environment())
expect("exit status (" + ran.stderr + ")", ran.returncode, 0)
dropped = without_writer()
if not dropped:
    fail("all threads had a writer")
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
expect("lost records", answer["lost_records"], 0)
expect("dropped records", answer["dropped_records"], dropped)
expect("records without a writer", answer["no_writer_records"], dropped)
if f"{dropped:,} dropped" not in ran.stderr or f"{dropped:,} of these: {CAUSE}" not in ran.stderr:
    fail("the cause is not said: " + ran.stderr)
table = subprocess.run([DAGTAP, "stats", OUT], capture_output=True, text=True).stdout
if f"  {dropped:,} of these: {CAUSE}" not in table:
    fail("dagtap stats does not say the cause: " + table)
check = json.loads(subprocess.run([DAGTAP, "check", "--json", SPOOL], capture_output=True, text=True).stdout)
hip, = (source for source in check["sources"] if source["name"] == "hip")
expect("causes of check", sorted(hip["dropped"]), [CAUSE])
