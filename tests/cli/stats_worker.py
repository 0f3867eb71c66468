"""stats_worker.py FOLDER: two processes of a program are killed while it goes on. The statistics of
each are ended and its spool is removed then, not when the program ends."""
import json
import os
import signal
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder = sys.argv[1]
OUT, SPOOLS = os.path.join(folder, "run.dagstats"), os.path.join(folder, "run.spool")
recorder = subprocess.Popen(
    [DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", "--stats-interval", "0.05", "--outlier", "0", "-o", OUT,
     "--", "sh", "-c", '"$0"; "$0"; cat', BUILD + "/tests/obedient"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment())
# -F waits for the file, and then for each line.
tail = subprocess.Popen(["tail", "-n", "+1", "-F", OUT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def await_line(first, process):
    """Waits for this line of the file."""
    while json.loads(tail.stdout.readline()).get(first) != process:
        pass


for process in range(2):
    pid = int(recorder.stdout.readline().split()[1])
    recorder.stdin.write("launch 25\n")
    expect("launch", recorder.stdout.readline(), "done\n")
    await_line("interval", process)
    os.kill(pid, signal.SIGKILL)
    await_line("end", process)
# The spool of the first one was removed before that of the second one was read to its end.
left = [name for name in os.listdir(SPOOLS) if name.endswith(".spool")]
if len(left) > 1:
    fail(f"the spools of killed processes are left: {left}")
tail.kill()
tail.wait()
recorder.stdin.close()
expect("exit status", recorder.wait(), 0)
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
expect("ended processes", (answer["processes"], answer["processes_ended"]), (2, 2))
expect("losses", (answer["lost_records"], answer["dropped_records"]), (0, 0))
expect("kernels", sum(row["count"] + row["untimed"] for row in answer["rows"] if row["kind"] == "kernel"), 50)
