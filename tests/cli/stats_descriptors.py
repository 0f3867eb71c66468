"""stats_descriptors.py FOLDER: dagtap has too few descriptors left to watch each process of a
program. It follows them all the same."""
import json
import os
import resource
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect

folder = sys.argv[1]
OUT, PROCESSES = os.path.join(folder, "run.dagstats"), 4
# Each process has its commands from a pipe that is open until the end.
pipes = [os.path.join(folder, f"pipe{process}") for process in range(PROCESSES)]
for pipe in pipes:
    os.mkfifo(pipe)
recorder = subprocess.Popen(
    [DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", "--stats-interval", "0.05", "--outlier", "0", "-o", OUT,
     "--", "sh", "-c", 'for pipe; do "$0" <"$pipe" & done; wait', BUILD + "/tests/obedient", *pipes],
    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, env=environment())
# -F waits for the file, and then for each line.
tail = subprocess.Popen(["tail", "-n", "+1", "-F", OUT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
ends = []
for process, pipe in enumerate(pipes):
    # A process starts when its pipe is opened.
    ends.append(open(pipe, "w", buffering=1))
    recorder.stdout.readline()
    ends[-1].write("launch 25\n")
    expect("launch", recorder.stdout.readline(), "done\n")
    while json.loads(tail.stdout.readline()).get("interval") != process:
        pass
    if process == 0:
        # Five are left. Each process needs one that stays, one for its watch and one for a moment.
        used = {int(fd) for fd in os.listdir(f"/proc/{recorder.pid}/fd")}
        left = [fd for fd in range(len(used) + 5 + max(used)) if fd not in used]
        resource.prlimit(recorder.pid, resource.RLIMIT_NOFILE,
                         (left[5], resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
tail.kill()
tail.wait()
for end in ends:
    end.close()
said = recorder.stderr.read()
expect("exit status (" + said + ")", recorder.wait(), 0)
expect("a process was not followed", "could not be" in said, False)
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
expect("ended processes", (answer["processes"], answer["processes_ended"]), (PROCESSES, PROCESSES))
expect("kernels", sum(row["count"] + row["untimed"] for row in answer["rows"] if row["kind"] == "kernel"), 25 * PROCESSES)
