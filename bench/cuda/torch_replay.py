#!/usr/bin/env python3
"""torch_replay.py NODES REPLAYS [TRACE.json]: a CUDA graph of tiny kernels, replayed; with TRACE
under torch.profiler."""
import sys
import time

import torch

from torch_common import profiled, say_done


def main():
    nodes, replays = int(sys.argv[1]), int(sys.argv[2])
    value = torch.zeros(1, device="cuda")
    graph = torch.cuda.CUDAGraph()
    value.add_(0)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(nodes):
            value.add_(1)
    torch.cuda.synchronize()
    with profiled(sys.argv[3] if len(sys.argv) > 3 else None):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(replays):
            graph.replay()
        torch.cuda.synchronize()
        print(f"seconds: {time.perf_counter() - start:.6f}")
    print(f"kernels: {int(value.item())}")
    say_done()


main()
