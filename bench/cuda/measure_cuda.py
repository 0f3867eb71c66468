#!/usr/bin/env python3
"""What recording CUDA costs, and whether what is recorded is right: see README.md beside this
file."""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import cost
import fields
import jax_part
import layers
import locked
import report
import ring
import tool
import waits
from tool import HERE, Failure, Tool, finish, start

NVCC_SECONDS_MOST = 120
RING_MB = 64
PYTHON_PACKAGES = ["torch", "jax", "numpy"]


class Context:
    """What every part of the measurement needs."""

    def __init__(self, arguments, work):
        self.tool = Tool(arguments.tree.resolve())
        self.work = work
        self.recording = work / "run.dagtap"
        self.pairs = arguments.pairs
        self.framework_pairs = arguments.framework_pairs
        self.rounds = arguments.rounds
        self.floors = arguments.floors.split()
        self.is_bisection = arguments.bisect
        self.is_dry = arguments.dry_run
        self.kept = arguments.keep
        self.ring_seconds, self.ring_rate = arguments.ring_seconds, arguments.ring_rate
        self.gpus = count_gpus()

    def python(self, script, *arguments):
        return [sys.executable, HERE / script, *arguments]

    def replay_program(self):
        program = self.work / "replay"
        if not program.exists():
            finish(*start(["nvcc", "-O2", "-arch=native", "-o", program, HERE / "replay.cu"], NVCC_SECONDS_MOST))
        return program

    def replay_command(self):
        """The program, and the kernels that it launches."""
        if self.is_dry:
            return [self.tool.tree / "tests" / "cuda-program", 100], 300
        return [self.replay_program(), 1000, 1000], 1000000

    def eager_command(self):
        if self.is_dry:
            return self.replay_command()
        return [self.replay_program(), "--eager", 100000], 100000

    def ring_command(self):
        """The program, the kernels of a launch, how many seconds it takes, and the ring's MB."""
        if self.is_dry:
            return [self.tool.tree / "tests" / "cuda-program", 100000, "paced"], 3, 0, 4
        return [self.replay_program(), "--seconds", self.ring_seconds, 1000, self.ring_rate], 1000, self.ring_seconds, RING_MB


# Name, what it does, whether it is done unless others are asked for.
PARTS = {
    "replay": (cost.replay, True),
    "eager": (cost.eager, True),
    "layers": (layers.measure, True),
    "fields": (fields.measure, True),
    "torch-graph": (cost.torch_graph, True),
    "jax": (jax_part.measure, True),
    "decode": (locked.decode, True),
    "decode-graph": (locked.decode_graph, True),
    "jax-step": (locked.jax_step, True),
    "nccl": (waits.measure, True),
    "ring": (ring.measure, False),
}
DRY_PARTS = ["replay", "eager", "ring"]


def count_gpus():
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:
        return 0
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())


def first_line(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:
        return ""
    return (done.stdout.strip().splitlines() or [""])[0]


def version_of(package):
    from importlib import metadata
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def describe_machine(context):
    """What the figures hold for."""
    smi = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    revision = HERE / "revision"
    return {"day": datetime.date.today().isoformat(), "gpu": smi, "gpus": context.gpus, "cores": os.cpu_count(),
            "kernel": os.uname().release, "nvcc": version_line(),
            "dagtap": revision.read_text().strip() if revision.exists() else first_line([context.tool.dagtap, "--version"]),
            "packages": {name: version_of(name) for name in PYTHON_PACKAGES if version_of(name)}}


def version_line():
    if not shutil.which("nvcc"):
        return ""
    text = subprocess.run(["nvcc", "--version"], stdout=subprocess.PIPE, text=True).stdout
    return next((line for line in text.splitlines() if "release" in line), "")


def do_part(name, context):
    """A part that fails says so, and the others go on."""
    start = time.perf_counter()
    try:
        found = PARTS[name][0](context)
    except Failure as failure:
        found = {**report.part(name), "error": str(failure)}
    except Exception:
        found = {**report.part(name), "error": traceback.format_exc()}
    tidy(name, context, is_kept="error" in found or any(goal["reached"] is False for goal in found["goals"]))
    return {**found, "part_seconds": time.perf_counter() - start}


def tidy(name, context, is_kept):
    """A recording that missed something may be looked at later; else parts leave nothing to each
    other but the program."""
    if is_kept and context.kept and context.recording.exists():
        context.kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(context.recording, context.kept / f"{name}.dagtap")
    for left in context.work.iterdir():
        if left.name != "replay":
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, default=HERE / "tree", help="build tree")
    parser.add_argument("--only", help="parts, by commas: " + ", ".join(PARTS))
    parser.add_argument("--pairs", type=int, default=9, help="runs of each way, for programs in C")
    parser.add_argument("--framework-pairs", type=int, default=2, help="runs of each way, for PyTorch and JAX")
    parser.add_argument("--rounds", type=int, default=60, help="of the parts that are measured in locked rounds")
    parser.add_argument("--floors", default="", help="more floors for these parts, by spaces: what floor.c may ask CUPTI for")
    parser.add_argument("--bisect", action="store_true", help="of these parts only plain, dagtap, and the floors of --floors")
    parser.add_argument("--ring-seconds", type=int, default=480)
    # CUPTI's own thread takes longer for each record the longer it has been at work: what it can
    # follow for a while it cannot for long.
    parser.add_argument("--ring-rate", type=int, default=400_000, help="kernels a second; 0: as fast as it goes")
    parser.add_argument("--dry-run", action="store_true", help="the tests' played CUPTI instead of a GPU; the figures mean nothing")
    parser.add_argument("--json", type=pathlib.Path, help="where to keep everything")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the last recording of parts that missed something")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else [n for n, (_, is_usual) in PARTS.items() if is_usual]
    arguments.parts = DRY_PARTS if arguments.dry_run else names
    for name in arguments.parts:
        if name not in PARTS:
            parser.error(f"no part {name}")
    return arguments


def play_cupti(folder):
    os.environ["DAGTAP_CUPTI"] = str(folder / "libmodel-cupti.so")
    # The program that imitates it may have been built elsewhere.
    os.environ["LD_LIBRARY_PATH"] = str(folder)


def main():
    arguments = parse()
    if arguments.dry_run:
        play_cupti(arguments.tree.resolve() / "tests")
        tool.has_limits = False
    everything = {"parts": {}}
    with tempfile.TemporaryDirectory() as work:
        context = Context(arguments, pathlib.Path(work))
        everything["machine"] = describe_machine(context)
        for name in arguments.parts:
            found = everything["parts"][name] = do_part(name, context)
            print("\n".join(report.part_lines(found)) + f"\n({name}: {found['part_seconds']:.0f} s)\n", flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(everything, indent=1))
    sys.exit(1 if any("error" in part for part in everything["parts"].values()) else 0)


if __name__ == "__main__":
    main()
