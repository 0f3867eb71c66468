"""Gradients of a loss whose batch is sharded over all GPUs: XLA adds RCCL's all-reduces. sharded.py
STEPS."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

steps = int(sys.argv[1])
mesh = Mesh(np.array(jax.devices()), ("batch",))
x = jax.device_put(np.ones((64, 256), np.float32), NamedSharding(mesh, PartitionSpec("batch")))
w = jax.device_put(np.ones((256, 256), np.float32), NamedSharding(mesh, PartitionSpec()))


@jax.jit
def step(x, w):
    return w - 1e-3 * jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).mean())(w)


for _ in range(steps):
    w = step(x, w)
jax.block_until_ready(w)
print(f"{steps} steps on {len(jax.devices())} GPUs, w[0][0] {float(w[0, 0]):g}")
