"""stats_killed.py FOLDER: the program is killed. The statistics have what it had recorded, each
launched kernel once, and the recorder ends as usual."""
import json
import os
import signal
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder = sys.argv[1]
OUT = os.path.join(folder, "run.dagstats")
recorder = subprocess.Popen(
    [DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", "--outlier", "0", "-o", OUT, "--", BUILD + "/tests/obedient"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment())
pid = int(recorder.stdout.readline().split()[1])
recorder.stdin.write("launch 25\n")
expect("launch", recorder.stdout.readline(), "done\n")
os.kill(pid, signal.SIGKILL)
expect("exit status", recorder.wait(), 128 + signal.SIGKILL)
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
# Exact: a record that a thread of the program had begun when it was killed was never written.
expect("losses", (answer["lost_records"], answer["dropped_records"]), (0, 0))
expect("ended processes", answer["processes_ended"], 1)
# The completion of the last ones may not have been recorded yet.
expect("kernels", sum(row["count"] + row["untimed"] for row in answer["rows"] if row["kind"] == "kernel"), 25)
if os.path.exists(os.path.join(folder, "run.spool")):
    fail("the folder of spools is left")
