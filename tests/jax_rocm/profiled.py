"""train.py under JAX's profiler.

profiled.py STEPS FOLDER."""
import pathlib
import runpy
import sys

import jax

folder = sys.argv.pop()
# The device is there before the trace begins, so that all of the program's own work is in it.
jax.block_until_ready(jax.numpy.zeros(8) + 1)
with jax.profiler.trace(folder):
    runpy.run_path(str(pathlib.Path(__file__).with_name("train.py")), run_name="__main__")
