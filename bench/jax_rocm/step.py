"""step.py STEPS: a training step of tests/jax_rocm/train.py's kind, timed: prints microseconds a
step, from the first of STEPS to the end of the last on the device, after 20 that are not timed."""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, BATCH, WIDTH, HIDDEN = 3, 64, 256, 512
steps = int(sys.argv[1])
random = np.random.default_rng(0)


def normal(*shape):
    return jnp.asarray(random.normal(size=shape).astype(np.float32))


def loss(layers, x):
    for w1, w2 in layers:
        x = x + jax.nn.gelu(x @ w1) @ w2
        x = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return jnp.mean(x**2)


@jax.jit
def step(layers, x):
    value, slope = jax.value_and_grad(loss)(layers, x)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, layers, slope), value


layers = [(normal(WIDTH, HIDDEN), normal(HIDDEN, WIDTH)) for _ in range(LAYERS)]
x = normal(BATCH, WIDTH)
for _ in range(20):
    layers, value = step(layers, x)
jax.block_until_ready((layers, value))
begin = time.perf_counter_ns()
for _ in range(steps):
    layers, value = step(layers, x)
jax.block_until_ready((layers, value))
print((time.perf_counter_ns() - begin) / steps / 1000)
