#!/usr/bin/env python3
"""jax_train.py scan|decode|scan64[-kept]: a program that knows nothing of dagpatch;
measure_preload.py runs it.

scan: training steps, a scan over 8 layers, its gradient, Adam. scan64: the same over 64 layers.
decode: tokens of a small decoder with a KV cache, each step one jitted call. It answers each line
of its input, a number of steps, with the seconds that they took and a checksum of the state after
each line so far. With -kept, a result of each step is kept until the line is done, as a program
does that collects its losses: then the allocator has other addresses at each step.
"""
import hashlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

WIDTH, ROWS, RATE, FIRST, SECOND, SMALL = 128, 64, 1e-3, 0.9, 0.999, 1e-8


def training(layers):
    def loss(weights, x, y):
        out, _ = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, weights)
        return jnp.mean((out - y) ** 2)

    @jax.jit
    def step(state, x, y):
        weights, mean, square, count, _ = state
        value, slope = jax.value_and_grad(loss)(weights, x, y)
        count = count + 1
        mean = FIRST * mean + (1 - FIRST) * slope
        square = SECOND * square + (1 - SECOND) * slope ** 2
        change = (mean / (1 - FIRST ** count)) / (jnp.sqrt(square / (1 - SECOND ** count)) + SMALL)
        return weights - RATE * change, mean, square, count, value

    keys = jax.random.split(jax.random.key(1), 3)
    weights = jax.random.normal(keys[0], (layers, WIDTH, WIDTH)) / WIDTH ** 0.5
    x, y = (jax.random.normal(key, (ROWS, WIDTH)) for key in keys[1:])
    state = (weights, jnp.zeros_like(weights), jnp.zeros_like(weights), jnp.float32(0), jnp.float32(0))
    return state, lambda state: step(state, x, y)


def decoding(layers=8, tokens=256, heads=4):
    @jax.jit
    def step(state, weights, out):
        hidden, keys, values, at = state

        def layer(h, inputs):
            w, k, v = inputs
            q, nk, nv = (h @ w[i] for i in range(3))
            k = lax.dynamic_update_slice(k, nk[None], (at % tokens, 0))
            v = lax.dynamic_update_slice(v, nv[None], (at % tokens, 0))
            split = lambda a: a.reshape(a.shape[:-1] + (heads, -1))
            scores = jnp.einsum("hd,thd->ht", split(q), split(k)) / (WIDTH // heads) ** 0.5
            scores = jnp.where(jnp.arange(tokens) <= at, scores, -1e9)
            mixed = jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), split(v)).reshape(-1)
            return jnp.tanh(h + mixed @ w[3]), (k, v)

        hidden, (keys, values) = lax.scan(layer, hidden, (weights, keys, values))
        return jnp.tanh(hidden @ out), keys, values, at + 1

    key = jax.random.split(jax.random.key(2), 3)
    weights = jax.random.normal(key[0], (layers, 4, WIDTH, WIDTH)) / WIDTH ** 0.5
    out = jax.random.normal(key[1], (WIDTH, WIDTH)) / WIDTH ** 0.5
    empty = jnp.zeros((layers, tokens, WIDTH))
    state = (jax.random.normal(key[2], (WIDTH,)), empty, empty, jnp.int32(0))
    return state, lambda state: step(state, weights, out)


def main():
    kinds = {"scan": lambda: training(8), "scan64": lambda: training(64), "decode": decoding}
    kind, _, kept = sys.argv[1].partition("-")
    state, step = kinds[kind]()
    digest = hashlib.sha256()
    for _ in range(5):
        state = step(state)
    jax.block_until_ready(state)
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        results = []
        for _ in range(int(line)):
            state = step(state)
            if kept:
                results.append(state[-1])
        jax.block_until_ready(state)
        seconds = time.perf_counter() - start
        for array in results + list(state):
            digest.update(np.asarray(array).tobytes())
        print(f"{seconds:.6f} {digest.hexdigest()}", flush=True)


main()
