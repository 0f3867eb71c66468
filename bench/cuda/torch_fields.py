#!/usr/bin/env python3
"""torch_fields.py [TRACE.json]: the same thousand kernels, copies and memsets in each run, of many
shapes, on two streams; with TRACE under torch.profiler. A memset of MARK_BYTES on each stream opens
and closes what is to be compared."""
import ctypes
import sys

import torch

from torch_common import call, profiled, runtime, say_done

MARK_BYTES = 77777
ROUNDS = 50


def fill(pointer, value, count, stream):
    call(runtime().cudaMemsetAsync, ctypes.c_void_p(pointer), value, ctypes.c_size_t(count), ctypes.c_void_p(stream.cuda_stream))


def one_round(size, stream, scratch):
    a = torch.full((size, size), 0.01, device="cuda")
    b = torch.nn.functional.softmax(a @ a.t() + torch.arange(size, device="cuda"), dim=1)
    c = torch.nn.functional.layer_norm(b, (size,)).sum(dim=0).cumsum(0)
    d = torch.nn.functional.avg_pool1d(b, 4)
    torch.sort(c)
    torch.topk(d.flatten(), 5)
    b.to(torch.float16).t().contiguous()
    fill(scratch.data_ptr(), size % 251, 4 * size, stream)
    host = torch.full((size,), 1.5)
    pinned = torch.full((3 * size,), 2.5).pin_memory()
    host.cuda()
    pinned.to("cuda", non_blocking=True)
    c.cpu()
    a.clone()
    scratch[:size].copy_(scratch[size:2 * size])


def work(streams, scratch):
    for stream in streams:
        with torch.cuda.stream(stream):
            fill(scratch.data_ptr(), 0, MARK_BYTES, stream)
    for i in range(ROUNDS):
        stream = streams[i % 2]
        with torch.cuda.stream(stream):
            one_round(16 + 24 * i, stream, scratch)
        stream.synchronize()
    for stream in streams:
        with torch.cuda.stream(stream):
            fill(scratch.data_ptr(), 0, MARK_BYTES, stream)
    torch.cuda.synchronize()


def main():
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    scratch = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
    for stream in streams:
        with torch.cuda.stream(stream):
            one_round(32, stream, scratch)
    torch.cuda.synchronize()
    with profiled(sys.argv[1] if len(sys.argv) > 1 else None):
        work(streams, scratch)
    say_done()


if __name__ == "__main__":
    main()
