#!/usr/bin/env python3
"""timed.py NAME COMMAND...: runs it, and says as NAME_ended, NAME_mb and NAME_cpu when it ended,
what memory the largest process had, and the CPU seconds of it and of what it waited for.

A process of its own, and a small one: Linux counts what the starter of a process has as the
process's own until it runs."""
import os
import subprocess
import sys
import time

name = sys.argv[1]
child = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(child.pid, 0)
print(f"{name}_ended: {time.time():.6f}\n{name}_mb: {usage.ru_maxrss / 1024:.1f}\n"
      f"{name}_cpu: {usage.ru_utime + usage.ru_stime:.3f}", flush=True)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
