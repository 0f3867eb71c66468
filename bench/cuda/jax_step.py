#!/usr/bin/env python3
"""jax_step.py [peer]: training steps in JAX: a scan over layers, its gradient, Adam; see
worker.py."""
import sys
import tempfile

import jax
import jax.numpy as jnp
from jax import lax

from worker import serve

LAYERS, WIDTH, ROWS = 16, 128, 64
RATE, FIRST, SECOND, SMALL = 1e-3, 0.9, 0.999, 1e-8
WARM_UP_STEPS = 5


def loss(weights, x, y):
    out, _ = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, weights)
    return jnp.mean((out - y) ** 2)


@jax.jit
def train(state, x, y):
    weights, mean, square, count = state
    slope = jax.grad(loss)(weights, x, y)
    count = count + 1
    mean = FIRST * mean + (1 - FIRST) * slope
    square = SECOND * square + (1 - SECOND) * slope ** 2
    change = (mean / (1 - FIRST ** count)) / (jnp.sqrt(square / (1 - SECOND ** count)) + SMALL)
    return weights - RATE * change, mean, square, count


def main():
    keys = jax.random.split(jax.random.key(1), 3)
    weights = jax.random.normal(keys[0], (LAYERS, WIDTH, WIDTH)) / WIDTH ** 0.5
    x, y = (jax.random.normal(key, (ROWS, WIDTH)) for key in keys[1:])
    state = [(weights, jnp.zeros_like(weights), jnp.zeros_like(weights), jnp.float32(0))]

    def step():
        state[0] = train(state[0], x, y)

    for _ in range(WARM_UP_STEPS):
        step()
    serve(step, lambda: jax.block_until_ready(state[0]), lambda: jax.profiler.start_trace(tempfile.mkdtemp()))


main()
