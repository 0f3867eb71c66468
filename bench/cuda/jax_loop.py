#!/usr/bin/env python3
"""jax_loop.py STEPS CALLS [FOLDER]: a jitted chain of STEPS matmul and tanh, CALLS times; with
FOLDER under jax.profiler.

The chain is unrolled: of a loop XLA makes no command buffer, which is a CUDA graph."""
import sys
import time

import jax
import jax.numpy as jnp

WARM_UP_CALLS = 3
APART_SECONDS = 0.05  # so that work before the measured calls is told from theirs by its time


def main():
    steps, calls = int(sys.argv[1]), int(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else None

    @jax.jit
    def chain(x):
        for _ in range(steps):
            x = jnp.tanh(x @ x)
        return x

    x = jnp.ones((64, 64)) * 0.01
    start = time.perf_counter()
    for _ in range(WARM_UP_CALLS):
        x = chain(x).block_until_ready()
    print(f"warm_up_seconds: {time.perf_counter() - start:.6f}")
    time.sleep(APART_SECONDS)
    print(f"window_begin_ns: {time.monotonic_ns()}")
    if folder:
        jax.profiler.start_trace(folder)
    start = time.perf_counter()
    for _ in range(calls):
        x = chain(x)
    x.block_until_ready()
    print(f"seconds: {time.perf_counter() - start:.6f}")
    if folder:
        start = time.perf_counter()
        jax.profiler.stop_trace()
        print(f"finish_seconds: {time.perf_counter() - start:.6f}")
    print(f"done: {time.time():.6f}", flush=True)


main()
