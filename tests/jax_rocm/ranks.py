"""One of two processes of JAX, each with a GPU of its own, that gather and sum an array in a jitted
function. ranks.py RANK ADDRESS STEPS; ADDRESS: of JAX's coordination service, HOST:PORT."""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

RANKS, ROWS, WIDTH = 2, 32, 256
rank, address, steps = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
jax.distributed.initialize(address, RANKS, rank, local_device_ids=[0], coordinator_bind_address=address)
mesh = Mesh(np.array(jax.devices()), ("batch",))
spread = PartitionSpec("batch")
x = jax.make_array_from_process_local_data(NamedSharding(mesh, spread), np.ones((ROWS, WIDTH), np.float32))


@jax.jit
@jax.shard_map(mesh=mesh, in_specs=spread, out_specs=spread)
def step(x):
    gathered = jax.lax.all_gather(x, "batch", tiled=True)
    return jnp.tanh(x) + gathered.sum(0) + jax.lax.psum(x, "batch")


for _ in range(steps):
    x = step(x)
jax.block_until_ready(x)
print(f"rank {rank} of {jax.process_count()}: {steps} steps on {len(jax.local_devices())} GPU")
