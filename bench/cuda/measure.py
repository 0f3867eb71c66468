#!/usr/bin/env python3
"""What tracing CUDA costs: see README.md beside this file."""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def run(command, environment=None):
    """Runs a command: what it says ("name: number"), its wall seconds and its peak of resident memory."""
    start = time.perf_counter()
    child = subprocess.Popen(command, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(map(str, command))} exited with {child.returncode}:\n{output}")
    said = {name: float(value) for name, value in re.findall(r"^(\w+): ([0-9.]+)", output, re.M)}
    wall = time.perf_counter() - start
    said.setdefault("seconds", wall)
    return {**said, "wall": wall, "rss_mb": usage.ru_maxrss / 1024}


def size_mb(path):
    files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
    return sum(f.stat().st_size for f in files) / 1e6


class Tracer:
    def __init__(self, tree):
        self.dagtap = tree / "bin" / "dagtap"
        self.floor = tree / "bench" / "libcuda-floor.so"

    def with_floor(self, command, work):
        return run(command, {"CUDA_INJECTION64_PATH": str(self.floor)})

    def with_dagtap(self, command, work):
        file = work / "run.dagtap"
        timed = ["sh", "-c", '"$@" && echo "ended: $(date +%s.%N)"', "sh", *command]
        result = run([self.dagtap, "record", "--backend", "cuda", "-f", "-o", file, "--", *timed])
        finished = time.time()
        check = json.loads(subprocess.run([self.dagtap, "check", "--json", file], stdout=subprocess.PIPE).stdout)
        info = json.loads(subprocess.run([self.dagtap, "info", "--json", file], stdout=subprocess.PIPE).stdout)
        return {**result, "finish_seconds": finished - result["ended"], "file_mb": size_mb(file),
                "rows": info["counts"]["activities"], "ok": check["ok"]}


def peer(script):
    def measure(command, work):
        trace = work / "peer"
        result = run([*command, trace])
        result["file_mb"] = size_mb(trace)
        if trace.is_dir():
            shutil.rmtree(trace)
        return result
    return measure


def workloads(arguments, tree, work):
    """Name, command, and the ways beside plain, floor and dagtap."""
    if arguments.dry_run:
        os.environ["DAGTAP_CUPTI"] = str(tree / "tests" / "libmodel-cupti.so")
        return [("played graph", [tree / "tests" / "cuda-program", "1000"], {})]
    replay = work / "replay"
    run(["nvcc", "-O2", "-o", replay, HERE / "replay.cu"])
    rows = [("graph replay, 1 M kernels", [replay, "1000", "1000"], {}),
            ("eager, 100,000 launches", [replay, "--eager", "100000"], {})]
    python = sys.executable
    if importlib.util.find_spec("torch"):
        rows.append(("PyTorch graph, 1 M kernels", [python, HERE / "torch_replay.py", "1000", "1000"],
                     {"torch.profiler": peer("torch")}))
    if importlib.util.find_spec("jax"):
        rows.append(("JAX loop, 1,000 calls", [python, HERE / "jax_loop.py", "1000", "1000"],
                     {"jax.profiler": peer("jax")}))
    return rows


def ratio_text(results, way, base):
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(results[way], results[base])]
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


def cell(runs, key, form="{:.3f}"):
    values = [r[key] for r in runs if key in r]
    return form.format(statistics.median(values)) if values else "-"


def print_rows(name, results):
    for way, runs in results.items():
        columns = [name, way, cell(runs, "seconds"), ratio_text(results, way, "plain"),
                   ratio_text(results, way, "floor"), cell(runs, "finish_seconds"),
                   cell(runs, "rss_mb", "{:.0f}"), cell(runs, "file_mb", "{:.1f}"), cell(runs, "rows", "{:.0f}"),
                   {True: "yes", False: "NO"}.get(runs[0].get("ok"), "-")]
        print("| " + " | ".join(columns) + " |", flush=True)


def measure(arguments, tree, work):
    tracer = Tracer(tree)
    heads = ["workload", "way", "seconds", "x plain", "x floor", "finish s", "RSS MB", "file MB", "rows", "check"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    everything = {}
    for name, command, peers in workloads(arguments, tree, work):
        ways = {"plain": lambda c, w: run(c), "floor": tracer.with_floor, "dagtap": tracer.with_dagtap, **peers}
        results = {way: [] for way in ways}
        for _ in range(arguments.pairs):
            for way, call in ways.items():
                # A peer's run takes half a minute: once is enough to see it.
                if way in peers and results[way]:
                    continue
                results[way].append(call(command, work))
        print_rows(name, results)
        everything[name] = results
    return everything


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=pathlib.Path, default=HERE / "tree", help="build tree")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--dry-run", action="store_true", help="the tests' played CUPTI instead of a GPU")
    parser.add_argument("--json", type=pathlib.Path, help="where to keep every run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        everything = measure(arguments, arguments.tree.resolve(), pathlib.Path(work))
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))


main()
