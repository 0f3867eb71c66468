#!/usr/bin/env python3
"""document.py RUN.json...: docs/cuda-measured.md, of what measure_cuda.py --json kept; of a part
that is in several, the last. Another build that was measured beside this one is left out."""
import json
import pathlib
import sys

import report

INTRODUCTION = """# Recording CUDA, measured

Written by `bench/cuda/document.py` of what `bench/cuda/measure_cuda.py` kept, never by hand;
[bench/cuda/README.md](../bench/cuda/README.md) says how each figure comes about. Ways run in turn; seconds are the program's
own, medians; ratios are medians of those of neighbouring runs, with the least and the greatest. `exit s`: from the end of main to
the end of the process, where a recording's last records are taken in. `finish s`: with dagtap from the end of the process to a
finished file; with another profiler what its stop and export take. `program MB`: the program's most resident memory; `most MB`:
that of any process, dagtap's own among them."""


def machine_line(machine):
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return (f"{machine['day']}: {machine['gpus']} x {machine['gpu']}, {machine['cores']} cores, Linux {machine['kernel'].split('-')[0]}, "
            f"{machine['nvcc']}, {packages}; dagtap {machine['dagtap']}.")


def of_this_build(part):
    rows, goals = ([row for row in part[key] if not text(row).startswith("dagtap before")]
                   for key, text in (("rows", lambda row: row[0]), ("goals", lambda goal: goal["what"])))
    return {**part, "rows": rows, "goals": goals}


def run_lines(run, later):
    """What of a run is in none of the later ones."""
    parts = [of_this_build(part) for name, part in run["parts"].items() if not any(name in other["parts"] for other in later)]
    return [machine_line(run["machine"]), "", *(line for part in parts for line in report.part_lines(part))] if parts else []


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    runs = [json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:]]
    lines = [INTRODUCTION, ""]
    for i, run in enumerate(runs):
        lines += run_lines(run, runs[i + 1:])
    print("\n".join(lines).rstrip())


main()
