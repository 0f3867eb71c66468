"""two.py PROGRAM ARGUMENTS...: two processes that run it at the same time."""
import pathlib
import subprocess
import sys

command = [sys.executable, pathlib.Path(__file__).parent / sys.argv[1], *sys.argv[2:]]
processes = [subprocess.Popen(command) for _ in range(2)]
sys.exit(max(process.wait() for process in processes))
