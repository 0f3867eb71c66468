"""Runs programs, with and without dagtap, and asks dagtap what it recorded."""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
run_seconds_most = 150  # of one run of a program; a part with longer runs sets it
has_limits = True  # False in a dry run, which its caller limits: a busy machine is slow
TAIL_CHARS = 2000


class Failure(Exception):
    """What a part of the measurement could not do, in words."""


def timed(name, command):
    return [sys.executable, HERE / "timed.py", name, *command]


def start(command, seconds_most, environment=None):
    """A program, and the timer that ends it and all that it started when it takes too long."""
    seconds_most = seconds_most if has_limits else threading.TIMEOUT_MAX
    child = subprocess.Popen(list(map(str, command)), env={**os.environ, **(environment or {})}, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0)
    timer = threading.Timer(seconds_most, os.killpg, (child.pid, signal.SIGKILL))
    timer.start()
    return child, timer


def said(output):
    """What a program says of itself, a line each: "name: number"; and the records that floor.c has
    counted."""
    found = {name: float(value) for name, value in re.findall(r"^(\w+): ([0-9.]+)$", output, re.M)}
    counted = re.search(r"^floor: (\d+) records,", output, re.M)
    return {**found, "floor_records": int(counted[1])} if counted else found


def finish(child, timer, output=""):
    """What is left of the program's output, when it has ended well."""
    with child.stdout:
        output += child.stdout.read()
    code = child.wait()
    timer.cancel()
    if code:
        raise Failure(f"{' '.join(child.args)} exited with {code}: ...{output[-TAIL_CHARS:]}")
    return output


def measured(command, environment=None):
    begin = time.perf_counter()
    output = finish(*start(timed("all", command), run_seconds_most, environment))
    return {"seconds": time.perf_counter() - begin, **said(output)}


def run(command, environment=None):
    """What a program says of itself, or how long it took; when it ended, and the memory that it
    had."""
    return measured(timed("program", command), environment)


def size_mb(path):
    """Without what goes away while we look."""
    total = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            pass
    return total / 1e6


def find_one(folder, pattern):
    found = sorted(folder.rglob(pattern))
    if not found:
        raise Failure(f"{folder}: no {pattern}")
    return found[0]


class Tool:
    """dagtap, and the floor, of a build tree."""

    def __init__(self, tree):
        self.tree = tree
        self.dagtap = tree / "bin" / "dagtap"
        self.floor = tree / "bench" / "libcuda-floor.so"

    def record(self, command, file, options=()):
        result = measured(self.record_command(timed("program", command), file, options))
        return {**result, "finish_seconds": result["all_ended"] - result["program_ended"], "file_mb": size_mb(file)}

    def record_command(self, command, file, options=()):
        return [self.dagtap, "record", "--backend", "cuda", "-f", *options, "-o", file, "--", *command]

    def floor_environment(self, floor):
        """What makes CUDA, and NVTX if FLOOR names it, load the floor."""
        doors = ["CUDA_INJECTION64_PATH"] + (["NVTX_INJECTION64_PATH"] if "nvtx" in floor else [])
        return {"FLOOR": floor, **{door: str(self.floor) for door in doors}}

    def count(self, command, floor):
        """With the floor counting what FLOOR names."""
        return run(command, self.floor_environment(floor))

    def ask(self, what, file, *options):
        """The JSON of a sub-command; a file that `check` finds fault with has one too."""
        done = subprocess.run([self.dagtap, what, "--json", *options, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 3):
            raise Failure(f"dagtap {what}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def export(self, file, out, *options):
        done = subprocess.run([self.dagtap, "export", "-f", "-o", out, *options, file], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failure(f"dagtap export: {done.stderr.strip()}")

    def rows(self, table, file):
        """The rows of a CSV table, as dictionaries, while they are read."""
        out = file.with_suffix(f".{table}.csv")
        self.export(file, out, "--format", "csv", "--table", table)
        with out.open(newline="") as lines:
            yield from csv.DictReader(lines)
        out.unlink()

    def fault(self, file):
        """What `dagtap check` finds, as text; "" if everything is accounted for."""
        check = self.ask("check", file)
        if check["ok"]:
            return ""
        return "; ".join([f"{s['name']}: {s['unexplained']} unexplained" for s in check["sources"] if s["unexplained"]] +
                         [m["text"] for m in check["messages"] if m["damage"]])
