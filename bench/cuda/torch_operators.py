#!/usr/bin/env python3
"""torch_operators.py REPLAYS: the forward of a small transformer, once eagerly and in two CUDA
graphs, which are replayed. Eagerly and in the first graph each module and operator has a scope
(dagtap.torch), in the second one the ranges of emit_nvtx. `dagtap export --format kineto` of the
recording then has the operator of each kernel:

    DAGTAP_PREFIX=TREE PYTHONPATH=python/dagtap/src dagtap record -o run.dagtap -- \\
        python3 torch_operators.py 50
"""
import sys

import torch
from torch import nn

import dagtap
import dagtap.torch
from torch_common import say_done

WIDTH, HEADS, LAYERS, ROWS, TOKENS = 256, 4, 4, 8, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        inputs = self.first(x)
        x = x + self.attention(inputs, inputs, inputs, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    replays = int(sys.argv[1])
    model, x = Model().cuda(), torch.randn(ROWS, TOKENS, WIDTH, device="cuda")
    graphs = [torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()]
    with torch.no_grad():
        for _ in range(3):
            model(x)
        with dagtap.torch.annotate(model):
            with dagtap.scope("eager"), dagtap.torch.operators():
                model(x)
            torch.cuda.synchronize()
            with dagtap.torch.operators(), torch.cuda.graph(graphs[0]):
                model(x)
        for number in range(replays):
            with dagtap.step("step", number):
                graphs[0].replay()
        torch.cuda.synchronize()
        with torch.autograd.profiler.emit_nvtx(record_shapes=True), torch.cuda.graph(graphs[1]):
            model(x)
        for _ in range(replays):
            graphs[1].replay()
        torch.cuda.synchronize()
    say_done()


main()
