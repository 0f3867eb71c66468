"""stats_dropped.py FOLDER PROGRAM ARGS...: PROGRAM plays CUDA, and CUPTI says that it dropped
records. They are in what `dagtap record --stats`, `dagtap stats` and the file say was dropped."""
import json
import os
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder, program = sys.argv[1], sys.argv[2:]
OUT = os.path.join(folder, "run.dagstats")
DROPS = 1234

ran = subprocess.run(
    [DAGTAP, "record", "--backend", "cuda", "--stats", "-o", OUT, "--", *program], capture_output=True, text=True,
    env=dict(environment(), DAGTAP_CUPTI=BUILD + "/tests/libmodel-cupti.so", MODEL_DROPS=str(DROPS)))
expect("exit status (" + ran.stderr + ")", ran.returncode, 0)
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
expect("lost records", answer["lost_records"], 0)
expect("dropped records", answer["dropped_records"], DROPS)
if "records not counted" not in ran.stderr or "1,234 dropped" not in ran.stderr:
    fail("the loss is not said: " + ran.stderr)
if "1,234 that a process could not write or CUPTI dropped" not in subprocess.run(
        [DAGTAP, "stats", OUT], capture_output=True, text=True).stdout:
    fail("dagtap stats does not say the loss")
