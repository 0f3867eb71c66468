#!/usr/bin/env python3
"""Two versions of libdagpatch in turn on one machine: `dagtap-bench patch` of each, ROUNDS times.
See README.md."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WAYS = {"node by node": "dagpatch_set_params", "table": "dagpatch_table", "AUTO": "dagpatch_auto"}


def measure(version, arguments):
    """One run of the benchmark. Its figures by name."""
    command = [HERE / version / "dagtap-bench", "patch", "--driver", arguments.driver, "--repeats", arguments.repeats]
    for nodes in arguments.nodes:
        command += ["--nodes", str(nodes)]
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{HERE / 'needed'}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    done = subprocess.run([*map(str, command), "--json"], env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{version}: exit status {done.returncode}")
    return json.loads(done.stdout)[0]


def spread(runs, name):
    """The median of a figure over the runs, with the smallest and the largest."""
    values = [run[name] for run in runs if name in run]
    return f"{statistics.median(values):8.2f} ({min(values):.2f} to {max(values):.2f})" if values else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="cuda")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--repeats", default="21")
    parser.add_argument("--nodes", type=int, action="append", help="10, 100, 300 and 1000 unless given")
    arguments = parser.parse_args()
    arguments.nodes = arguments.nodes or [10, 100, 300, 1000]
    runs = {"old": [], "new": []}
    for number in range(arguments.rounds):
        for version in ("old", "new") if number % 2 == 0 else ("new", "old"):
            runs[version].append(measure(version, arguments))
    both = f"{'old':>26}  {'new':>26}"
    print(f"host time divided by that of the bare calls; median of {arguments.rounds} runs, least and most\n"
          f"{'nodes':>6} {'changed':>8}  {'':12} {both}")
    for nodes in arguments.nodes:
        for percent in (1, 10, 100):
            for title in ("node by node", "AUTO"):
                name = f"n{nodes}_p{percent}_{WAYS[title]}_to_bare_median_ratio"
                print(f"{nodes:>6} {percent:>6} %  {title:12} " +
                      "  ".join(f"{spread(runs[version], name):>26}" for version in runs))
    print(f"us from bind to the end of the replay\n{'nodes':>6} {'changed':>8}  {'':12} {both}")
    for nodes in arguments.nodes:
        for percent in (0, 1, 10, 100):
            for title, way in WAYS.items():
                name = f"n{nodes}_p{percent}_{way}_result_us"
                print(f"{nodes:>6} {percent:>6} %  {title:12} " +
                      "  ".join(f"{spread(runs[version], name):>26}" for version in runs))
    print("1,000 unchanged slots, ns: " +
          ", ".join(f"{version} {spread(runs[version], 'unchanged_1000_slots_ns').strip()}" for version in runs))


main()
