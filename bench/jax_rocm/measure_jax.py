#!/usr/bin/env python3
"""What a step of JAX on the software GPU costs with nothing and under dagtap, in interleaved runs.

measure_jax.py BUILD JAX_ROCM/RELEASE/python [PAIRS [STEPS]]

Plain is `dagtap softgpu`, which only puts the software GPU in. Both ways are run PAIRS times (9),
by turns, in the other order each time; a table of the medians, with the least and the most, of
microseconds a step (STEPS of them, 1,000), and of the ratio within a pair.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEVICE = "gfx90a,kernel_ns=1000"


def run(dagtap, python, steps, recording):
    command = [dagtap, f"softgpu={DEVICE}", "--"]
    if recording:
        command = [dagtap, "record", "-q", f"--softgpu={DEVICE}", "-o", recording, "--"]
    environment = os.environ | {"XLA_FLAGS": "--xla_gpu_autotune_level=0", "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run([*command, python, HERE / "step.py", steps], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1])


def line(name, values, unit):
    print(f"{name:10} {statistics.median(values):10.3f}{unit}   ({min(values):.3f} to {max(values):.3f})")


def main():
    dagtap, python = pathlib.Path(sys.argv[1]) / "bin/dagtap", sys.argv[2]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    steps = sys.argv[4] if len(sys.argv) > 4 else "1000"
    plain, traced = [], []
    with tempfile.TemporaryDirectory() as folder:
        for pair in range(pairs):
            turns = [(plain, None), (traced, pathlib.Path(folder) / f"{pair}.dagtap")]
            for values, recording in turns if pair % 2 else reversed(turns):
                values.append(run(dagtap, python, steps, recording))
            if sys.stderr.isatty():
                print(f"\rpair {pair + 1} of {pairs}", end="\n" if pair + 1 == pairs else "", file=sys.stderr, flush=True)
    line("plain", plain, " us")
    line("recorded", traced, " us")
    line("ratio", [b / a for a, b in zip(plain, traced)], "   ")


if __name__ == "__main__":
    main()
