"""A convolution (MIOpen), Fourier transforms (rocFFT), random numbers and a sort. fourier.py
STEPS."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

steps = int(sys.argv[1])
image = jnp.asarray(np.ones((4, 32, 32, 16), np.float32))
kernel = jnp.asarray(np.ones((3, 3, 16, 32), np.float32))


@jax.jit
def convolve(image, kernel):
    return jax.nn.relu(jax.lax.conv_general_dilated(
        image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


@jax.jit
def transform(image):
    return jnp.fft.irfft(jnp.fft.rfft(image[..., 0]) * 2)


@jax.jit
def order(key):
    return jnp.sort(jax.random.normal(key, (100,)))


for i in range(steps):
    jax.block_until_ready((convolve(image, kernel), transform(image), order(jax.random.key(i))))
print(f"{steps} steps")
