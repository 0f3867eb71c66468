#!/usr/bin/env python3
"""measure_preload.py [--programs scan,decode,scan64] [--ways W,...] [--processes N] [--rounds N]
[--steps N] [--seconds S] [--cpus LIST] [--json FILE]

What libdagpatch-preload.so gains under unmodified programs of JAX (jax_train.py) and PyTorch
(torch_train.py: torch-train, torch-infer), on a machine with a GPU; it builds the library with the
C compiler alone. Of each program several processes of each way live all the time and do a short
batch in turn, in another order each round. The ways: plain, control (plain again), preloaded, off
(the library does nothing), one (it makes no further executables), counted, which times every call
that sets a graph node, and skipped, in which these calls do nothing (skip_sets.h): its results are
wrong, and its speed is the most that can be reached.

Two processes of one way differ by some percent for as long as they live. So the speed of a process
is the median over the rounds of the mean time of the plain processes divided by its own. The ratio
is that of the means over the processes of a way and over those of plain and control together, and
the interval is the 95 % one (Student's t). The results of all processes but those of skipped must
be equal, to the byte.
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*sorted((ROOT / "src/preload").glob("*.[cS]")), *(ROOT / "src" / source for source in """
base/amount.c base/dlsym_entry.c base/dlsym_entry.S base/hash_map.c base/msgpack.c base/table.c patch/layout.c patch/driver.c patch/cuda/cuda_call.c patch/hip/hip_code.c
patch/hip/hip_library.c patch/hip/amd_code.c""".split())]
WAYS = {"plain": {}, "control": {}, "preloaded": {"DAGPATCH_PRELOAD": "1"}, "off": {"DAGPATCH_PRELOAD": "0"},
        "one": {"DAGPATCH_PRELOAD": "1", "DAGPATCH_PRELOAD_EXECS": "1"}, "counted": {"DAGPATCH_PRELOAD": "count"},
        "skipped": {"DAGPATCH_PRELOAD": "count"}}
# Student's t, 97.5 %, for 1, 2, ... degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
           2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
FLAGS = "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0"


def build(folder, name="libdagpatch-preload.so", *options):
    library = folder / name
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-O2", "-g", "-shared", "-fPIC", "-fvisibility=hidden",
                    "-ffunction-sections", "-fno-strict-aliasing", "-D_GNU_SOURCE", f"-I{ROOT}/include", f"-I{ROOT}/src",
                    *options, f"-Wl,--version-script={ROOT}/src/preload/preload.map",
                    "-Wl,--gc-sections,-z,nodelete,-z,now,-z,defs", "-Wl,--defsym=dlsym=dlsym_entry", "-o", library,
                    *(source for source in SOURCES if not source.name.startswith("run")), "-lpthread", "-ldl"], check=True)
    return library


def build_all(folder):
    usual = build(folder)
    skipping = build(folder, "libskipping.so", "-include", ROOT / "bench/preload/skip_sets.h")
    return {way: skipping if way == "skipped" else usual for way in WAYS}


class Worker:
    def __init__(self, program, way, number, libraries, folder, arguments):
        self.way = way
        self.stats = folder / f"{program}-{way}-{number}.json"
        self.stats.unlink(missing_ok=True)
        environment = dict(os.environ, XLA_FLAGS=os.environ.get("XLA_FLAGS", FLAGS), PYTHONHASHSEED="0",
                           XLA_PYTHON_CLIENT_MEM_FRACTION=str(0.6 / arguments.processes / len(arguments.ways)))
        if WAYS[way]:
            environment.update(WAYS[way], LD_PRELOAD=str(libraries[way]))
            # Measuring costs time, so only the first process does, unless the way is for it.
            if number == 0 or WAYS[way]["DAGPATCH_PRELOAD"] == "count":
                environment.update(DAGPATCH_PRELOAD_STATS=str(self.stats))
        script = "torch_train.py" if program.startswith("torch-") else "jax_train.py"
        pinned = ["taskset", "-c", arguments.cpus] if arguments.cpus else []
        self.process = subprocess.Popen([*pinned, sys.executable, Path(__file__).with_name(script),
                                         program.removeprefix("torch-")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.steps = 0
        self.times = []

    def await_ready(self):
        line = self.process.stdout.readline()
        if line != "ready\n":
            raise SystemExit(f"{self.stats.stem} did not start: {line!r}, exit {self.process.wait()}")

    def batch(self, steps):
        print(steps, file=self.process.stdin, flush=True)
        seconds, self.digest = self.process.stdout.readline().split()
        self.steps += steps
        return float(seconds)

    def finish(self):
        self.process.stdin.close()
        code = self.process.wait()
        return code, json.loads(self.stats.read_text()) if self.stats.exists() else {}


def log_speeds(workers):
    """Of each worker, the logarithm of its speed beside that of the plain processes, by way."""
    plain = [worker.times for worker in workers if worker.way == "plain"]
    reference = [statistics.mean(times) for times in zip(*plain)]
    speeds = {worker.way: [] for worker in workers}
    for worker in workers:
        speeds[worker.way].append(math.log(statistics.median(r / t for r, t in zip(reference, worker.times))))
    return speeds


def interval(speeds, base):
    """The speed beside BASE's, and its 95 % interval over processes if there are several."""
    ratio = statistics.mean(speeds) - statistics.mean(base)
    if len(speeds) < 2 or len(base) < 2:
        return [math.exp(ratio)]
    freedom = min(len(speeds) + len(base) - 2, len(STUDENT))
    half = STUDENT[freedom - 1] * math.sqrt(statistics.variance(speeds) / len(speeds) +
                                            statistics.variance(base) / len(base))
    return [math.exp(at) for at in (ratio, ratio - half, ratio + half)]


def measure(program, arguments, libraries, folder):
    workers = [Worker(program, way, number, libraries, folder, arguments)
               for number in range(arguments.processes) for way in arguments.ways]
    for worker in workers:
        worker.await_ready()
    for _ in range(arguments.warm_up):
        for worker in workers:
            worker.batch(arguments.steps)
    order, shuffled, end, rounds = list(workers), random.Random(1), time.monotonic() + arguments.seconds, 0
    while rounds < arguments.rounds and time.monotonic() < end:
        shuffled.shuffle(order)
        for worker in order:
            worker.times.append(worker.batch(arguments.steps))
        rounds += 1
    ended = [(worker, *worker.finish()) for worker in workers]
    first = {}
    for worker, _, counters in ended:
        first.setdefault(worker.way, (worker, counters))
    digests = {worker.digest for worker in workers if worker.way != "skipped"}
    times = {way: [t for worker in workers if worker.way == way for t in worker.times] for way in arguments.ways}
    plain_ns = statistics.median(times["plain"]) / arguments.steps * 1e9
    speeds = log_speeds(workers)
    base = speeds["plain"] + speeds.get("control", [])
    result = {
        "program": program, "processes": arguments.processes, "rounds": rounds, "steps_a_round": arguments.steps,
        "step_us": {way: statistics.median(values) / arguments.steps * 1e6 for way, values in times.items()},
        "speed": {way: interval(values, speeds["plain"] if way == "control" else base)
                  for way, values in speeds.items() if way != "plain"},
        "of_process": {way: [math.exp(value) for value in values] for way, values in speeds.items()},
        "equal": len(digests) == 1, "exit": sorted({code for _, code, _ in ended}),
        "counters": {way: counters for way, (_, counters) in first.items()},
    }
    if "counted" in first:
        worker, counters = first["counted"]
        # Skipped calls take no time: what they are measured with is what measuring takes.
        nothing = first.get("skipped", (None, {}))[1]
        measuring_ns = nothing["set_ns"] / nothing["set_count"] if nothing else 0
        set_ns = (counters["set_ns"] - counters["set_count"] * measuring_ns) / worker.steps
        result.update(ceiling=plain_ns / (plain_ns - set_ns) if plain_ns > set_ns else None,
                      set_us_a_step=set_ns / 1e3, sets_a_step=counters.get("sets", 0) / worker.steps)
    print(json.dumps(result), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--programs", default="scan,decode,scan64,scan-kept,decode-kept")
    parser.add_argument("--ways", default="plain,control,preloaded,counted,skipped", type=lambda text: text.split(","))
    parser.add_argument("--processes", type=int, default=4, help="of each way")
    parser.add_argument("--cpus", help="all processes run on these, as taskset's -c says it")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warm-up", type=int, default=20, help="batches of each process")
    parser.add_argument("--seconds", type=float, default=100, help="of each program, at most")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        libraries = build_all(Path(folder))
        results = [measure(program, arguments, libraries, Path(folder)) for program in arguments.programs.split(",")]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


main()
