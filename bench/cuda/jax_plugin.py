#!/usr/bin/env python3
"""jax_plugin.py [--tree BUILD] [--steps N] [--json FILE] [--keep FOLDER]: what the plugin of JAX's
profiler puts into a profile on a machine with an NVIDIA GPU and JAX for CUDA.

The same program, some training steps, runs three times: under jax.profiler alone, under dagtap
with the plugin, and under dagtap with the plugin and XLA's own tracer kept from CUPTI. Of each
profile it prints the planes with their lines and events, and of each GPU's plane how many kernels
and copies there are, how many kernels have an operation of HLO, a step and a graph node. Below it
the kernels of the recording as `dagtap summary --json` counts them: the plugin's profile must have
the same number; twice as many mean that XLA's own tracer ran beside it. Then, of each operation of
HLO, its kernels in JAX's own profile and in the plugin's, which must be equal: the program is
compiled once, into a cache that all runs read, and XLA chooses nothing by measuring. If XProf is
installed (pip install xprof), the rows of its pages follow, and the snapshots and the peak of its
memory_profile. The exit status is 1 if the numbers or the operations differ.

`jax_plugin.py program FOLDER plugin|alone|compile N` is the program itself.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
# By way the variables of its environment; None: without dagtap.
WAYS = {
    "jax.profiler alone": None,
    "plugin": {},
    "plugin, XLA's tracer on a stub of CUPTI": {"TF_GPU_CUPTI_USE_STUB_INTERFACE": "1"},
}
# Every run has the same kernels.
STEADY = ["--xla_gpu_deterministic_ops=true", "--xla_gpu_autotune_level=0"]
OPERATIONS = SOURCE / "tests" / "jax_rocm" / "hlo_operations.py"
PAGES = ["overview_page", "hlo_stats", "framework_op_stats", "kernel_stats", "memory_profile"]
READ_PAGES = """
import json, sys
from xprof.convert import raw_to_tool_data
counts = {}
for page in sys.argv[2].split(","):
    try:
        data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], page, {"use_saved_result": False})
        data = json.loads(data)
        if page == "memory_profile":
            counts[page] = {name: {"snapshots": len(one["sampledTimelineSnapshots"]),
                                   "peak bytes": int(one["profileSummary"]["peakStats"]["peakBytesInUse"])}
                            for name, one in data["memoryProfilePerAllocator"].items()}
            continue
        parts = data if isinstance(data, list) else [data]
        counts[page] = [len(part["rows"]) for part in parts if "rows" in part] or "a page without a table"
    except Exception as failure:
        counts[page] = str(failure)[:200]
print(json.dumps(counts))
"""


def program(folder, way, steps):
    if way == "plugin":
        import dagtap.jax
        dagtap.jax.register()
    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        return jnp.mean(jnp.tanh(x @ weights[0]) @ weights[1])

    @jax.jit
    def step(weights, x):
        value, slope = jax.value_and_grad(loss)(weights, x)
        return jax.tree.map(lambda w, g: w - 0.01 * g, weights, slope), value

    weights = (jnp.ones((512, 512)), jnp.ones((512, 512)))
    x = jnp.ones((256, 512))
    weights, _ = step(weights, x)
    jax.block_until_ready(weights)
    if way == "compile":
        return
    with jax.profiler.trace(folder):
        for number in range(steps):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                weights, _ = step(weights, x)
                jax.block_until_ready(weights)


def count_planes(profile):
    """By plane its lines with the number of events; by GPU what its events have."""
    from jax.profiler import ProfileData

    planes, gpus = {}, {}
    for plane in ProfileData.from_file(str(profile)).planes:
        lines, found = collections.Counter(), collections.Counter()
        for line in plane.lines:
            for event in line.events:
                lines[line.name] += 1
                stats = dict(event.stats)
                is_kernel = bool(stats.get("kernel_details"))
                found["kernels"] += is_kernel
                found["copies"] += bool(stats.get("memcpy_details"))
                for name in ("hlo_op", "program_id", "correlation_id", "cuda_graph_node_id"):
                    found[f"kernels with {name}"] += is_kernel and name in stats
        planes.setdefault(plane.name, []).append(dict(lines))
        if plane.name.startswith("/device:GPU:"):
            gpus[plane.name] = {"kernels": 0, "copies": 0, **found}
    return planes, gpus


def count_pages(profile):
    done = subprocess.run([sys.executable, "-c", READ_PAGES, str(profile), ",".join(PAGES)],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()[-300:]


def count_operations(profile):
    """By operation of HLO its kernels with their counts."""
    done = subprocess.run([sys.executable, str(OPERATIONS), str(profile)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)[0]


def program_environment(compiled):
    """COMPILED: the folder of what is compiled, which all runs share."""
    return {**os.environ, "XLA_FLAGS": " ".join([os.environ.get("XLA_FLAGS", ""), *STEADY]).strip(),
            "JAX_COMPILATION_CACHE_DIR": str(compiled), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


def compile_program(compiled):
    subprocess.run([sys.executable, str(HERE / "jax_plugin.py"), "program", "none", "compile", "1"],
                   env=program_environment(compiled), check=True)


def run(name, variables, options, compiled, work):
    folder, recording = work / "profile", work / "run.dagtap"
    environment = {**program_environment(compiled), "DAGTAP_PREFIX": str(options.tree), **(variables or {})}
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(SOURCE / "python" / "dagtap" / "src"), os.environ.get("PYTHONPATH")]))
    way = "alone" if variables is None else "plugin"
    command = [sys.executable, str(HERE / "jax_plugin.py"), "program", str(folder), way, str(options.steps)]
    if way == "plugin":
        command = [str(options.tree / "bin" / "dagtap"), "record", "--wait", "-o", str(recording), "--", *command]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    result = {"way": name, "status": done.returncode}
    profiles = list(folder.glob("plugins/profile/*/*.xplane.pb"))
    if done.returncode != 0 or not profiles:
        return {**result, "failure": (done.stdout + done.stderr)[-3000:]}
    if options.keep:
        shutil.copy(profiles[0], options.keep / (name.replace(" ", "-").replace(",", "") + ".xplane.pb"))
    result["planes"], result["gpus"] = count_planes(profiles[0])
    result["operations"] = count_operations(profiles[0])
    result["pages"] = count_pages(profiles[0])
    if way == "plugin":
        summary = subprocess.run([str(options.tree / "bin" / "dagtap"), "summary", "--json", str(recording)],
                                 capture_output=True, text=True, check=False)
        check = subprocess.run([str(options.tree / "bin" / "dagtap"), "check", str(recording)],
                               capture_output=True, text=True, check=False)
        result["recorded kernels"] = sum(row["count"] for row in json.loads(summary.stdout)["kernels"])
        result["check"] = check.stdout.strip().splitlines()[-1:]
    return result


def show(result):
    print(f"== {result['way']}")
    if "failure" in result:
        print(f"exit status {result['status']}\n{result['failure']}")
        return False
    for plane, copies in result["planes"].items():
        for lines in copies:
            print(f"  {plane}: {sum(lines.values())} events on {len(lines)} lines {list(lines)[:6]}")
    for plane, found in result["gpus"].items():
        print(f"  {plane}: {', '.join(f'{count} {what}' for what, count in found.items())}")
    print(f"  XProf: {result['pages']}")
    if "recorded kernels" not in result:
        return True
    shown = sum(found["kernels"] for found in result["gpus"].values())
    same = shown == result["recorded kernels"]
    print(f"  dagtap summary: {result['recorded kernels']} kernels, the profile {shown}"
          f"{'' if same else ': NOT THE SAME'}; {result['check']}")
    return same


def compare_operations(result, own):
    """Prints whether the operations are those of OWN, JAX's own profile."""
    if "operations" not in result or "operations" not in own:
        return False
    names = set(result["operations"]) | set(own["operations"])
    others = sorted(name for name in names if result["operations"].get(name) != own["operations"].get(name))
    kernels = sum(sum(one.values()) for one in own["operations"].values())
    print(f"  kernels of each operation of HLO, beside {own['way']}: {len(names)} operations with {kernels} kernels, "
          f"{len(others)} differ")
    for name in others[:20]:
        print(f"    {name}: {result['operations'].get(name)}, JAX's own {own['operations'].get(name)}")
    return bool(names) and not others


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the profiles, to read their pages elsewhere")
    options = parser.parse_args()
    options.tree = options.tree.resolve()
    results, fine = [], True
    with tempfile.TemporaryDirectory() as compiled:
        compile_program(compiled)
        for name, variables in WAYS.items():
            with tempfile.TemporaryDirectory() as work:
                results.append(run(name, variables, options, compiled, pathlib.Path(work)))
            fine = show(results[-1]) and fine
            fine = compare_operations(results[-1], results[0]) and fine
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "program":
        program(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
