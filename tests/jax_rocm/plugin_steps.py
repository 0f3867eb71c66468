"""plugin_steps.py FOLDER: three steps in a profile of JAX with the plugin, in FOLDER. Prints as
JSON what the profile has: kernels of GPUs by name, and the calls on the line that has JAX's
steps; and what the allocator counted before and after the profile."""
import collections
import json
import pathlib
import sys

import dagtap.jax
import jax
import jax.numpy as jnp

dagtap.jax.register()


@jax.jit
def step(x, w):
    return jnp.tanh(x @ w) + x.sum(-1, keepdims=True)


x, w = jnp.ones((256, 256)), jnp.ones((256, 256))
# Kept, because JAX frees an array at some moment after its last use: maybe in the profile.
first = jax.block_until_ready(step(x, w))
memory = [jax.devices()[0].memory_stats()]
with jax.profiler.trace(sys.argv[1]):
    for number in range(3):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            x = jax.block_until_ready(step(x, w))
memory.append(jax.devices()[0].memory_stats())

profile, = pathlib.Path(sys.argv[1]).glob("plugins/profile/*/*.xplane.pb")
kernels, calls, inside = collections.Counter(), collections.Counter(), 0
for plane in jax.profiler.ProfileData.from_file(str(profile)).planes:
    for line in plane.lines:
        events = list(line.events)
        if plane.name.startswith("/device:GPU:"):
            kernels.update(event.name for event in events if "kernel_details" in dict(event.stats))
        steps = [event for event in events if event.name == "train"]
        for event in events if steps else ():
            if event.name.startswith("hip"):
                calls[event.name] += 1
                inside += any(step.start_ns <= event.start_ns and event.end_ns <= step.end_ns
                              for step in steps)
print(json.dumps({"kernels": kernels, "calls": calls, "inside": inside, "memory": memory}))
