#!/usr/bin/env python3
"""check-circles.py BUILD: fails on files of src/ that call each other in a circle.

What a file takes from which other file is read from the object files of BUILD with nm: a symbol
that one leaves undefined and another one defines. So calls and objects count, whatever includes
say. Prints each circle with the symbols that tie it.
"""
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def objects(build):
    """The first object of each source file of src/ and of each generated one: {source: object}."""
    found = {}
    for path in sorted((build / "src").rglob("*.o")):
        inner = re.sub(r"CMakeFiles/[^/]+\.dir/", "", str(path.relative_to(build)))[:-len(".o")]
        inner = os.path.normpath(inner.replace("__/", "../"))  # CMake's name for a folder above
        if (ROOT / inner).is_file() or (build / inner).is_file():
            found.setdefault(inner, path)
    return found


def symbols(path):
    """(defined, undefined) names of an object file."""
    defined, undefined = set(), set()
    listed = subprocess.run(["nm", "-P", path], check=True, capture_output=True, text=True)
    for line in listed.stdout.split("\n"):
        name, _, kind = line.partition(" ")
        if kind.startswith("U"):
            undefined.add(name)
        elif kind[:1].isupper():
            defined.add(name)
    return defined, undefined


def arrows(build):
    """{file: {file: [symbols that the first takes from the second]}}; only within what one library
    can hold: names that several files define (the vendors' own functions) tie nothing."""
    tables = {source: symbols(path) for source, path in objects(build).items()}
    owners = collections.defaultdict(list)
    for source, (defined, _) in tables.items():
        for name in defined:
            owners[name].append(source)
    graph = {source: collections.defaultdict(list) for source in tables}
    for source, (_, undefined) in tables.items():
        for name in sorted(undefined):
            if len(owners[name]) == 1 and owners[name][0] != source:
                graph[source][owners[name][0]].append(name)
    return graph


def circles(graph):
    """The strongly connected components of more than one file (Tarjan's algorithm, without
    recursion)."""
    number, low, stack, found = {}, {}, [], []
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(sorted(graph[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    work.append((target, iter(sorted(graph[target]))))
                    break
                if target in stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    members, stack[at:] = stack[at:], []
                    if len(members) > 1:
                        found.append(sorted(members))
    return sorted(found)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    graph = arrows(Path(sys.argv[1]))
    found = circles(graph)
    for members in found:
        print(f"a circle of {len(members)} files:", file=sys.stderr)
        for source in members:
            for target in sorted(set(graph[source]) & set(members)):
                print(f"  {source} -> {target}: {', '.join(graph[source][target])}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
