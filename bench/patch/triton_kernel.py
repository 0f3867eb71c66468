"""Triton wants its kernels in a file. y = x * factor + 1"""
import triton
import triton.language as tl


@triton.jit
def saxpy(x, y, factor, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < count) * factor + 1.0, mask=at < count)
