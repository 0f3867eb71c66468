"""The other half of locked.py: a program that stays, and does so many steps as each line of its
input says.

It answers each line with the seconds that the steps took, and ends with its input."""
import os
import sys
import time


def serve(step, wait, begin_profiler=None):
    """STEP does one step of work; WAIT returns when the GPU is done. BEGIN_PROFILER starts the
    peer, if this process is to be one."""
    is_peer = "peer" in sys.argv[1:]
    if is_peer:
        begin_profiler()
    wait()
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            step()
        wait()
        print(f"{time.perf_counter() - start:.6f}", flush=True)
    if is_peer:
        os._exit(0)  # what the peer's export costs is measured elsewhere
