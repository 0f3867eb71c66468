#!/usr/bin/env python3
"""measure_preload.py [--programs scan,decode,scan64] [--rounds N] [--steps N] [--seconds S] [--json
FILE]

What libdagpatch-preload.so gains under unmodified programs of JAX (jax_train.py) and PyTorch
(torch_train.py: torch-train, torch-infer), on a machine with a GPU; it builds the library with the
C compiler alone. Of each program four processes live all the time and do a short batch in turn, in
another order each round: plain, plain again (the control), preloaded, and counted, which times
every call that sets a graph node (the ceiling). Ratios are of batches of one round; the interval is
the 95 % one of their median. The results of all processes must be equal, to the byte.
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
WAYS = {"plain": None, "control": None, "preloaded": "1", "counted": "count"}
FLAGS = "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0"


def build(folder):
    library = folder / "libdagpatch-preload.so"
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-O2", "-g", "-shared", "-fPIC", "-fvisibility=hidden",
                    "-ffunction-sections", "-fno-strict-aliasing", "-D_GNU_SOURCE", f"-I{ROOT}/include", f"-I{ROOT}/src",
                    f"-Wl,--version-script={ROOT}/src/preload/preload.map", "-Wl,--gc-sections,-z,nodelete,-z,now,-z,defs",
                    "-Wl,--defsym=dlsym=dlsym_entry", "-o", library,
                    *(source for source in SOURCES if not source.name.startswith("run")), "-lpthread", "-ldl"], check=True)
    return library


class Worker:
    def __init__(self, program, way, library, folder):
        self.stats = folder / f"{program}-{way}.json"
        self.stats.unlink(missing_ok=True)
        environment = dict(os.environ, XLA_FLAGS=os.environ.get("XLA_FLAGS", FLAGS), XLA_PYTHON_CLIENT_MEM_FRACTION="0.15")
        if WAYS[way]:
            environment.update(LD_PRELOAD=str(library), DAGPATCH_PRELOAD=WAYS[way], DAGPATCH_PRELOAD_STATS=str(self.stats))
        script = "torch_train.py" if program.startswith("torch-") else "jax_train.py"
        self.process = subprocess.Popen([sys.executable, Path(__file__).with_name(script), program.removeprefix("torch-")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.steps = 0

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


def interval(values):
    """The median and its 95 % interval, by order statistics."""
    values, count = sorted(values), len(values)
    low = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)) - 1)
    return statistics.median(values), values[low], values[count - 1 - low]


def measure(program, arguments, library, folder):
    workers = {way: Worker(program, way, library, folder) for way in WAYS}
    for worker in workers.values():
        worker.await_ready()
    for _ in range(arguments.warm_up):
        for worker in workers.values():
            worker.batch(arguments.steps)
    times = {way: [] for way in WAYS}
    order, shuffled, end = list(WAYS), random.Random(1), time.monotonic() + arguments.seconds
    while len(times["plain"]) < arguments.rounds and time.monotonic() < end:
        shuffled.shuffle(order)
        for way in order:
            times[way].append(workers[way].batch(arguments.steps))
    digests = {way: worker.digest for way, worker in workers.items()}
    ended = {way: worker.finish() for way, worker in workers.items()}
    counters = ended["preloaded"][1]
    counted = ended["counted"][1]
    plain_ns = statistics.median(times["plain"]) / arguments.steps * 1e9
    set_ns = counted.get("set_ns", 0) / workers["counted"].steps
    result = {
        "program": program, "rounds": len(times["plain"]), "steps_a_round": arguments.steps,
        "step_us": {way: statistics.median(values) / arguments.steps * 1e6 for way, values in times.items()},
        "speed": {way: interval([p / t for p, t in zip(times["plain"], times[way])]) for way in WAYS if way != "plain"},
        "ceiling": plain_ns / (plain_ns - set_ns) if plain_ns > set_ns else None,
        "set_us_a_step": set_ns / 1e3, "sets_a_step": counted.get("sets", 0) / workers["counted"].steps,
        "equal": len(set(digests.values())) == 1, "control_equal": digests["plain"] == digests["control"],
        "exit": {way: code for way, (code, _) in ended.items()}, "counters": counters,
    }
    print(json.dumps(result), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--programs", default="scan,decode,scan64,scan-kept,decode-kept")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warm-up", type=int, default=20, help="batches")
    parser.add_argument("--seconds", type=float, default=100, help="of each program, at most")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        results = [measure(program, arguments, library, Path(folder)) for program in arguments.programs.split(",")]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


main()
