#!/usr/bin/env python3
"""compare-programs.py [--rounds N] PROGRAM PROGRAM... -- ARGUMENT...: compares the CPU time (user
and system) of the same command in several builds of a program. Each round runs every PROGRAM once
with the ARGUMENTs, in an order that the next round reverses, so that a busy machine slows all of
them alike. Prints for each program its median time, and the median over the rounds of its time
divided by the first program's, with the 95 % confidence interval of that median.

For example, whether an export got slower:

  bench/compare-programs.py old/bin/dagtap build/bin/dagtap -- summary FILE
"""
import math
import os
import statistics
import subprocess
import sys

ROUNDS_DEFAULT, ROUNDS_LEAST = 20, 6  # fewer rounds have no 95 % interval


def cpu_seconds(command):
    """CPU time of one run; ends this script if it fails."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def interval(values):
    """The 95 % confidence interval of the median, by order statistics: no distribution is
    assumed."""
    count, rank, below = len(values), 0, 0.0
    while below + math.comb(count, rank) / 2 ** count <= 0.025:
        below += math.comb(count, rank) / 2 ** count
        rank += 1
    ordered = sorted(values)
    return ordered[rank - 1], ordered[count - rank]


def main():
    arguments = sys.argv[1:]
    rounds = ROUNDS_DEFAULT
    if arguments[:1] == ["--rounds"] and len(arguments) > 1 and arguments[1].isdigit():
        rounds = int(arguments[1])
        del arguments[:2]
    if "--" not in arguments or arguments.index("--") < 2 or rounds < ROUNDS_LEAST:
        sys.exit(__doc__)
    programs, command = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    seconds = {at: [] for at in range(len(programs))}
    for number in range(rounds):
        for at in sorted(seconds, reverse=number % 2 == 1):
            seconds[at].append(cpu_seconds([programs[at], *command]))
    for at, program in enumerate(programs):
        ratios = [mine / first for mine, first in zip(seconds[at], seconds[0])]
        low, high = interval(ratios)
        print(f"{program}: {statistics.median(seconds[at]):.3f} s, {statistics.median(ratios):.3f} of the first "
              f"({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
