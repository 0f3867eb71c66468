#!/usr/bin/env python3
"""torch_layers.py EXPECTED.json REPLAYS: a small transformer's blocks, captured into a CUDA graph
four times, their layers named in another way each time, and replayed. Writes what each graph's work
must show: the layer of each node, in order. How many nodes a layer has is asked of CUDA, of graphs
of one layer alone."""
import contextlib
import json
import sys

import torch
from torch import nn

from torch_common import count_nodes, say_done

BLOCKS, WIDTH, BATCH = 6, 256, 64


class Block(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.repeats = 1 + number % 3  # layers of different lengths: a shift by one shows

    def forward(self, x):
        for _ in range(self.repeats):
            x = x + self.down(nn.functional.gelu(self.up(self.norm(x))))
        return x


def by_nvtx(name):
    return torch.cuda.nvtx.range(name)


def by_record_function(name):
    return torch.profiler.record_function(name)


def capture(layers, x, annotate, keep=False):
    graph = torch.cuda.CUDAGraph(keep_graph=keep)
    with torch.cuda.graph(graph):
        for name, layer in layers:
            with annotate(name):
                x = layer(x)
    return graph


WAYS = {"nothing": (lambda name: contextlib.nullcontext(), contextlib.nullcontext),
        "torch.cuda.nvtx": (by_nvtx, contextlib.nullcontext),
        "record_function": (by_record_function, contextlib.nullcontext),
        "record_function under emit_nvtx": (by_record_function, torch.autograd.profiler.emit_nvtx)}


def main():
    path, replays = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    layers = [(f"layer {i}", Block(i).cuda()) for i in range(BLOCKS)]
    x = torch.randn(BATCH, WIDTH, device="cuda")
    expected = []
    with torch.no_grad():
        for _ in range(2):
            for _, layer in layers:
                layer(x)
        torch.cuda.synchronize()
        counts = [count_nodes(capture([named], x, WAYS["nothing"][0], keep=True)) for named in layers]
        nodes = [name for (name, _), count in zip(layers, counts) for _ in range(count)]
        for way, (annotate, around) in WAYS.items():
            with around():
                graph = capture(layers, x, annotate)
            for _ in range(replays):
                graph.replay()
            torch.cuda.synchronize()
            expected.append({"way": way, "replays": replays, "nodes": nodes})
    with open(path, "w") as out:
        json.dump(expected, out)
    say_done()


main()
