"""JAX's loop beside jax.profiler, and our XSpace of it beside JAX's own, read by a reader no one
here wrote."""
import json
import os
import subprocess
import sys

import cost
import report
from tool import HERE, Failure, find_one, run, size_mb

STEPS, CALLS = 1000, 1000
NOTE_CHARS = 2000


def beside(context, kept):
    """jax.profiler as a peer whose file stays."""
    def measure(command, work):
        result = run([*command, kept])
        return {**result, "file_mb": size_mb(kept)}
    return measure


def compare(context, results, kept):
    ours = context.work / "ours.xplane.pb"
    context.tool.export(context.recording, ours, "--format", "xspace")
    begin = str(int(results["dagtap"][-1]["window_begin_ns"]))
    done = subprocess.run([sys.executable, HERE / "jax_compare.py", ours, find_one(kept, "*.xplane.pb"), begin],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if not done.stdout.startswith("{"):
        raise Failure(f"jax_compare.py: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def goals(found):
    by_count = found["counts_differ"][:3]
    return [report.goal("device events in our XSpace, as ProfileData reads it", f"{found['events'][1]:,} (JAX's own)",
                        f"{found['events'][0]:,}", found["events_agree"]),
            report.goal("names of device events", f"the same {found['names'][1]}",
                        f"{found['names'][0]}; of one alone: {', '.join(found['names_of_one'][:3]) or 'none'}", found["names_agree"]),
            report.goal("events of each name", "within 1 %", f"{len(found['counts_differ'])} differ {by_count}", found["counts_agree"]),
            report.goal("ms of GPU time", f"{found['ns'][1] / 1e6:.3f} (JAX's own) within 1 %", f"{found['ns'][0] / 1e6:.3f}",
                        found["time_agrees"])]


def graph_calls(context):
    """Calls that launch graphs, by name."""
    rows = context.tool.ask("summary", context.recording, "--by", "api")["rows"]
    return {row["name"]: row["count"] for row in rows if "GraphLaunch" in row["name"]}


def graphs(context, results):
    """JAX runs its command buffers as it does alone, which it does not under its own profiler."""
    last = results["dagtap"][-1]
    launches = int(last["graph_launches"])
    return [report.goal("JAX's graph launches while dagtap records", f"at least {CALLS:,}, one a call",
                        f"{launches:,} {graph_calls(context)}", launches >= CALLS),
            report.goal("kernels of these launches", "-", f"{int(last['graph_kernels']):,} of {int(last['kernels_recorded']):,}", None)]


def keep_compiled(context):
    """Compiled once: every run then has the same kernels, and none waits for the compiler."""
    os.environ.update({"JAX_COMPILATION_CACHE_DIR": str(context.work / "compiled"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                       "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"})
    return run(context.python("jax_loop.py", STEPS, 1))["warm_up_seconds"]


def measure(context):
    compile_seconds = keep_compiled(context)
    kept = context.work / "jax"
    workload = cost.Workload("jax", context.python("jax_loop.py", STEPS, CALLS), {"jax.profiler": beside(context, kept)},
                             floors=[cost.FLOOR, cost.FLOORS[-1], cost.FLOORS[-1] + ",nvtx"])
    results = cost.interleave(context, workload, context.framework_pairs)
    found = compare(context, results, kept)
    notes = ["XLA names each command in NVTX as soon as anybody listens: a range a command, which dagtap keeps, and the last floor counts.",
             f"Compiled once, in {compile_seconds:.1f} s; the other runs find it in JAX's cache."]
    if not all(found[key] for key in ("events_agree", "names_agree", "counts_agree", "time_agrees")):
        notes.append("By name [our count, JAX's, our ns, JAX's]: " + json.dumps(found["by_name"])[:NOTE_CHARS])
    return report.part(f"JAX, a chain of {STEPS:,} steps, {CALLS:,} calls, beside jax.profiler", cost.HEADS, cost.rows(results),
                       [*goals(found), *graphs(context, results), cost.checked(results)], notes, {**results, "compared": found})
