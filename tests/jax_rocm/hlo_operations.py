"""hlo_operations.py PROFILE...: prints as JSON, for each XSpace file, how often each operation of
HLO ran each kernel: {"MODULE OPERATION": {KERNEL: COUNT}}. What no operation ran is left out.
Copies and fills are called `copy`: XLA's tracer shows those that a kernel does as kernels. Needs
JAX."""
import collections
import json
import sys

from jax.profiler import ProfileData

COPIES = ("Memcpy", "Memset", "__amd_rocclr_")


def count_operations(path):
    operations = collections.defaultdict(collections.Counter)
    for plane in ProfileData.from_file(path).planes:
        if not plane.name.startswith("/device:GPU:"):
            continue
        for event in (event for line in plane.lines for event in line.events):
            stats = dict(event.stats)
            if stats.get("hlo_op"):
                # XLA keeps the suffix of the symbol's descriptor.
                name = "copy" if event.name.startswith(COPIES) else event.name.removesuffix(".kd")
                operations[f"{stats.get('hlo_module')} {stats['hlo_op']}"][name] += 1
    return operations


print(json.dumps([count_operations(path) for path in sys.argv[1:]]))
