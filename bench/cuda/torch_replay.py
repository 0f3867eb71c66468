#!/usr/bin/env python3
"""torch_replay.py NODES REPLAYS [TRACE.json]: a CUDA graph of tiny kernels, replayed; with TRACE under torch.profiler."""
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile


def main():
    nodes, replays = int(sys.argv[1]), int(sys.argv[2])
    trace = sys.argv[3] if len(sys.argv) > 3 else None
    value = torch.zeros(1, device="cuda")
    graph = torch.cuda.CUDAGraph()
    value.add_(0)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(nodes):
            value.add_(1)
    profiler = profile(activities=[ProfilerActivity.CUDA]) if trace else None
    if profiler:
        profiler.start()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(replays):
        graph.replay()
    torch.cuda.synchronize()
    print(f"seconds: {time.perf_counter() - start:.6f}")
    if profiler:
        start = time.perf_counter()
        profiler.stop()
        profiler.export_chrome_trace(trace)
        print(f"finish_seconds: {time.perf_counter() - start:.6f}")
    print(f"kernels: {int(value.item())}")


main()
