#!/usr/bin/env python3
"""dagpatch on a machine with an NVIDIA GPU: its tests, other people's work, what it costs. See
README.md."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(title, command, keep, limit_s):
    """Prints the lines of COMMAND's output that match KEEP, or its end when it fails. Whether it
    went well."""
    environment = {**os.environ, "DAGPATCH_LIBRARY": str(ROOT / "lib" / "libdagpatch.so"),
                   "PYTHONPATH": f"{ROOT / 'python'}:{os.environ.get('PYTHONPATH', '')}"}
    if pathlib.Path(command[0]).parent == ROOT / "bin":
        environment["LD_LIBRARY_PATH"] = f"{ROOT / 'needed'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    began = time.perf_counter()
    try:
        done = subprocess.run([str(c) for c in command], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=limit_s)
        output, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        output, code = (late.stdout or b"").decode(errors="replace"), f"none after {limit_s} s"
    lines = output.splitlines()
    shown = [line for line in lines if re.search(keep, line)]
    good = code == 0
    print(f"== {title}: {'ok' if good else f'FAILED (exit status {code})'}, {time.perf_counter() - began:.1f} s")
    print("\n".join(shown if good else (shown + lines[-40:])), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--two-gpus", action="store_true", help="what needs two GPUs, alone")
    parser.add_argument("--rebinds", default="10000", help="of the property test")
    arguments = parser.parse_args()
    suite, bench = ROOT / "bin" / "patch_cuda_suite", ROOT / "bin" / "dagtap-bench"
    if arguments.two_gpus:
        steps = [("tests of two devices", [suite, "-d"], r"FAILED|PASSED|ERROR|^----", 240),
                 ("NCCL", [sys.executable, HERE / "workloads.py", "--two-gpus"], "", 180)]
    else:
        steps = [
            ("tests", [suite, "-r", "50"], r"FAILED|PASSED|SKIPPED|ERROR|^----", 240),
            ("tests of the table", [ROOT / "bin" / "patch_cuda_table"], r"FAILED|PASSED|SKIPPED|ERROR", 60),
            ("property test", [suite, "-R", "-r", arguments.rebinds], r"FAILED|PASSED|seed", 240),
            ("other people's work", [sys.executable, HERE / "workloads.py"], "", 180),
            ("PyTorch example", [sys.executable, ROOT / "examples" / "patch" / "torch_rebind.py"], "", 90),
            ("decode loop, results", [sys.executable, ROOT / "examples" / "patch" / "llm_decode.py", "--check"], "", 240),
            ("decode loop, times", [sys.executable, ROOT / "examples" / "patch" / "llm_decode.py"], "", 120),
            ("costs", [bench, "patch", "--driver", "cuda"], "", 240),
        ]
    results = [run(*step) for step in steps]
    sys.exit(not all(results))


main()
