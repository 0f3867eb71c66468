#!/usr/bin/env python3
"""jax_loop.py STEPS CALLS [FOLDER]: a jitted loop of STEPS matmul and tanh, CALLS times; with FOLDER under jax.profiler."""
import sys
import time

import jax
import jax.numpy as jnp


def main():
    steps, calls = int(sys.argv[1]), int(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else None

    @jax.jit
    def loop(x):
        return jax.lax.fori_loop(0, steps, lambda _, y: jnp.tanh(y @ y), x)

    x = loop(jnp.ones((64, 64)) * 0.01).block_until_ready()
    if folder:
        jax.profiler.start_trace(folder)
    start = time.perf_counter()
    for _ in range(calls):
        x = loop(x)
    x.block_until_ready()
    print(f"seconds: {time.perf_counter() - start:.6f}")
    if folder:
        start = time.perf_counter()
        jax.profiler.stop_trace()
        print(f"finish_seconds: {time.perf_counter() - start:.6f}")


main()
