#!/usr/bin/env python3
"""alone.py [--tree TREE] [--seconds N] SCRIPT...: which ways of recording end a program with an
error?

Runs a program of worker.py (jax_step.py) with one way after the other, each alone on the GPU, and
prints how each run ended. A way that failed runs again with what tells the cause apart: without
XLA's command buffers, with blocking launches, under
compute-sanitizer where there is one. Then two ways run at once, as locked.py has them."""
import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time

from tool import HERE, Tool

BATCHES, STEPS = 12, 1000
RUN_SECONDS_MOST = 120
TELLING_CHARS = 900
FLOORS = ["kernels", "kernels,copies,callbacks", "kinds", "kinds,callbacks", "kinds,graphs,runtime,driver"]
NO_GRAPHS = {"XLA_FLAGS": "--xla_gpu_enable_command_buffer="}
BLOCKING = {"CUDA_LAUNCH_BLOCKING": "1"}


def ways(tool, work, command):
    """Command and environment by way."""
    found = {"plain": (command, {})}
    for names in FLOORS:
        found[f"floor: {names}"] = (command, tool.floor_environment(names))
    found["dagtap"] = (tool.record_command(command, work / "selected.dagtap"), {})
    found["dagtap --calls all"] = (tool.record_command(command, work / "all.dagtap", ["--calls", "all"]), {})
    return found


def start(command, environment):
    return subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", **environment}, process_group=0)


def finish(child, batches=BATCHES):
    """Exit code, and what the output says of the end."""
    try:
        output = child.communicate(f"{STEPS}\n" * batches, timeout=RUN_SECONDS_MOST)[0]
    except subprocess.TimeoutExpired:
        child.kill()
        output = child.communicate()[0] + "\n(took too long)"
    done = sum(line[:1].isdigit() for line in output.splitlines())
    telling = [line for line in output.splitlines() if any(word in line for word in ("CUDA_ERROR", "Error", "error", "ERROR", "Invalid"))]
    return child.returncode, f"{done} of {batches} batches", "\n    ".join(telling or output.splitlines()[-3:])[:TELLING_CHARS]


def tell(name, child, begin, batches=BATCHES):
    code, done, telling = finish(child, batches)
    print(f"{name}: {'ok' if not code else f'exit {code}'}, {done}, {time.monotonic() - begin:.0f} s"
          + (f"\n    {telling}" if code else ""), flush=True)
    return bool(code)


def sanitizer():
    found = shutil.which("compute-sanitizer") or next(iter(map(str, pathlib.Path("/usr/local").glob("cuda*/**/compute-sanitizer"))), None)
    return [found, "--target-processes", "all"] if found else []


def tell_apart(name, command, environment):
    for what, more in (("without command buffers", NO_GRAPHS), ("blocking", BLOCKING)):
        tell(f"{name}, {what}", start(command, {**environment, **more}), time.monotonic())
    if sanitizer():
        tell(f"{name}, compute-sanitizer", start([*sanitizer(), *command], environment), time.monotonic(), 1)
    else:
        print("no compute-sanitizer here")


def tell_together(found, first, second):
    begin = time.monotonic()
    children = [start(*found[way]) for way in (first, second)]
    threads = [threading.Thread(target=tell, args=(f"{way}, beside {other}", child, begin))
               for way, other, child in zip((first, second), (second, first), children)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, default=HERE / "tree", help="build tree")
    parser.add_argument("--seconds", type=int, default=480, help="begin no run after these")
    parser.add_argument("--only", help="ways, by semicolons")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as work:
        found = ways(Tool(arguments.tree.resolve()), pathlib.Path(work), arguments.command)
        failed = []
        for name in arguments.only.split(";") if arguments.only else ["plain", "dagtap --calls all", "dagtap", *found, *found]:
            if time.monotonic() < end and name not in failed and tell(name, start(*found[name]), time.monotonic()):
                failed.append(name)
        for name in failed:
            if time.monotonic() < end:
                tell_apart(name, *found[name])
        for pair in (("plain", "plain"), ("plain", "dagtap"), ("plain", "dagtap --calls all"), ("dagtap", "dagtap --calls all")):
            if time.monotonic() < end:
                tell_together(found, *pair)


if __name__ == "__main__":
    main()
