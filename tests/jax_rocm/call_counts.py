#!/usr/bin/env python3
"""call_counts.py FILE: prints what count_calls.c counted in one process, a line for each function,
the library that called it and the library that defines it."""

import collections
import pathlib
import struct
import sys

RECORD_BYTES = 256


def read_counts(path):
    """{(name, caller, definer): count} of one process."""
    data = pathlib.Path(path).read_bytes()
    counts = collections.Counter()
    for at in range(0, len(data), RECORD_BYTES):
        (count,) = struct.unpack_from("<Q", data, at)
        text = data[at + 8 : at + RECORD_BYTES].rstrip(b"\0").decode()
        if not text.endswith("\n"):
            break
        name, caller, definer = text[:-1].split("\t")
        if name == "#process" and count:
            raise ValueError(f"{path}: {count} functions or libraries were not counted")
        if name != "#process":
            counts[name, caller, definer] += count
    return counts


if __name__ == "__main__":
    for names, number in sorted(read_counts(sys.argv[1]).items()):
        print(*names, number, sep="\t")
