"""jax_program.py FOLDER WORK [alone|serve PORT]: two profiles of JAX on the CPU, in FOLDER/0 and
FOLDER/1. In each step of a profile the program also runs the work of WORK (jax_work.c) on a GPU.
The profiles have dagtap's plugin, unless they are made alone. With `serve` the program makes none,
but takes requests for profiles at PORT, and runs steps until its standard input ends."""
import ctypes
import itertools
import sys
import threading

import jax
import jax.numpy as jnp

STEPS = 3
folder, work = sys.argv[1], ctypes.CDLL(sys.argv[2])
if "alone" not in sys.argv:
    import dagtap.jax

    dagtap.jax.register()
    dagtap.jax.register()


@jax.jit
def step(x):
    return jnp.tanh(x @ x)


x = step(jnp.ones((64, 64)))
work.jax_work_begin()
work.jax_work_run()


def run_step(number):
    global x
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        x = jax.block_until_ready(step(x))
        work.jax_work_run()


def serve(port):
    jax.profiler.start_server(port)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print("ready", flush=True)
    for number in itertools.count():
        if ended.is_set():
            break
        run_step(number)


if "serve" in sys.argv:
    serve(int(sys.argv[-1]))
    sys.exit()
for profile in range(2):
    with jax.profiler.trace(f"{folder}/{profile}"):
        for number in range(STEPS):
            run_step(number)
