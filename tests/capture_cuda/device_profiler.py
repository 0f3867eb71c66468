#!/usr/bin/env python3
"""device_profiler.py LIBDAGTAP ROUNDS: PyTorch's profiler in ROUNDS ranges, each around replays of
a CUDA graph that holds KERNELS kernels. Prints "profiled: N" for each range: how many kernels the
profiler has; then replays in a recording that LIBDAGTAP begins. Needs a GPU. Exit status 77 without
PyTorch."""
import ctypes
import sys

try:
    import torch
except ImportError:
    sys.exit(77)
from torch.profiler import ProfilerActivity, profile

KERNELS, REPLAYS = 5, 4


def main():
    session, rounds = ctypes.CDLL(sys.argv[1]), int(sys.argv[2])
    data = torch.zeros(1 << 16, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        data.add_(1)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(KERNELS):
            data.add_(1)
    for _ in range(rounds):
        with profile(activities=[ProfilerActivity.CUDA]) as found:
            for _ in range(REPLAYS):
                graph.replay()
            torch.cuda.synchronize()
        kernels = [e for e in found.events() if e.device_type == torch.autograd.DeviceType.CUDA and "elementwise" in e.name]
        print(f"profiled: {len(kernels)}")
    session.dagtap_session_start()
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    session.dagtap_session_stop()


if __name__ == "__main__":
    main()
