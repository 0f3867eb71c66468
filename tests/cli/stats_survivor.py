"""stats_survivor.py FOLDER: the program leaves a process that goes on launching kernels for ever.
`dagtap record --stats` counts what it did until then, and ends."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail

folder = sys.argv[1]
OUT = os.path.join(folder, "run.dagstats")
timers = os.environ.get("DAGTAP_TIMERS", "")
recorder = subprocess.Popen(
    [DAGTAP, "record", "--softgpu=kernel_ns=0", "--stats", "--ring", "64M", "--stats-interval", "0.05", "--outlier", "0",
     "-o", OUT, "--", "sh", "-c", '"$0" 2 1000000000 >/dev/null 2>&1 & echo $!; read line', BUILD + "/examples/threads"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
    env=dict(environment(), DAGTAP_TIMERS=(timers + ",survivors=0").strip(",")))
pid = int(recorder.stdout.readline())


@atexit.register
def end_survivor():
    """Also if the test fails. The folder of spools is in /dev/shm; what is in FOLDER is a link."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    shutil.rmtree(os.path.realpath(os.path.join(folder, "run.spool")), ignore_errors=True)


# -F waits for the file, and then for each line.
tail = subprocess.Popen(["tail", "-n", "+1", "-F", OUT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
while "interval" not in json.loads(tail.stdout.readline()):
    pass
tail.kill()
tail.wait()
recorder.stdin.write("end\n")
said = recorder.stderr.read()
status = recorder.wait()
end_survivor()
expect("exit status (" + said + ")", status, 0)
if "what they record from now on is not counted" not in said:
    fail("not told: " + said)
answer = json.loads(subprocess.run([DAGTAP, "stats", "--json", OUT], capture_output=True, text=True).stdout)
expect("ended processes", (answer["processes"], answer["processes_ended"]), (1, 1))
