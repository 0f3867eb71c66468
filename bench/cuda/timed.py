#!/usr/bin/env python3
"""timed.py NAME COMMAND...: runs it, and says as NAME_ended and NAME_mb when it ended and what
memory the largest process had.

A process of its own, and a small one: Linux counts what the starter of a process has as the
process's own until it runs."""
import os
import subprocess
import sys
import time

name = sys.argv[1]
child = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(child.pid, 0)
print(f"{name}_ended: {time.time():.6f}\n{name}_mb: {usage.ru_maxrss / 1024:.1f}", flush=True)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
