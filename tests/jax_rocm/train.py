"""A training step with a scan over layers, gradients and Adam, and a second function with a scan of
its own.

train.py STEPS. What it prints is the same in every run."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, BATCH, WIDTH, HIDDEN = 3, 64, 256, 512
steps = int(sys.argv[1])
random = np.random.default_rng(0)


def normal(*shape):
    return jnp.asarray(random.normal(size=shape).astype(np.float32))


def network(layers, x):
    def layer(x, weights):
        w1, b1, w2, b2 = weights
        x = x + jax.nn.gelu(x @ w1 + b1) @ w2 + b2
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5), None

    return jax.lax.scan(layer, x, layers)[0]


def loss(layers, x, y):
    return jnp.mean((network(layers, x) - y) ** 2)


@jax.jit
def step(state, x, y):
    layers, mean, square, count = state
    value, slope = jax.value_and_grad(loss)(layers, x, y)
    count = count + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, slope)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, slope)

    def moved(p, m, s):
        return p - 1e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

    return (jax.tree.map(moved, layers, mean, square), mean, square, count), value


@jax.jit
def roll(x, w):
    def turn(carry, _):
        return jnp.tanh(carry @ w) + carry.sum(-1, keepdims=True), None

    return jax.lax.scan(turn, x, None, length=8)[0]


layers = (normal(LAYERS, WIDTH, HIDDEN), jnp.zeros((LAYERS, HIDDEN)), normal(LAYERS, HIDDEN, WIDTH),
          jnp.zeros((LAYERS, WIDTH)))
zeros = jax.tree.map(jnp.zeros_like, layers)
state = (layers, zeros, zeros, jnp.float32(0))
x, y, w = normal(BATCH, WIDTH), normal(BATCH, WIDTH), normal(WIDTH, WIDTH)
for _ in range(steps):
    state, value = step(state, x, y)
for _ in range(steps):
    x = roll(x, w)
jax.block_until_ready((state, value, x))
print(f"{steps} steps on {jax.devices()[0].platform}, loss {float(value):g}, jax {jax.__version__}")
