#!/usr/bin/env python3
"""torch_decode.py eager|graph [peer]: tokens of a small Llama, one at a time, batch 1, random
weights; see worker.py.

The layers are those of transformers' Llama without its generation code: RMSNorm in float32, rotary
embedding, a cache of fixed size, scaled_dot_product_attention, SwiGLU. Eager launches each kernel;
graph replays one CUDA graph a token."""
import sys

import torch
from torch import nn
from torch.nn import functional

from worker import serve

LAYERS, WIDTH, HEADS, INNER, WORDS, PLACES = 12, 1024, 16, 2816, 32000, 256
WARM_UP_TOKENS = 3


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        y = x.float()
        return self.weight * (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def rotate(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = Norm(), Norm()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.down = nn.Linear(INNER, WIDTH, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, HEADS, PLACES, WIDTH // HEADS))

    def heads(self, x):
        return x.view(1, 1, HEADS, -1).transpose(1, 2)

    def forward(self, x, place, cos, sin, mask):
        y = self.before(x)
        q, k, v = (self.heads(linear(y)) for linear in (self.q, self.k, self.v))
        self.keys.index_copy_(2, place, rotate(k, cos, sin))
        self.values.index_copy_(2, place, v)
        y = functional.scaled_dot_product_attention(rotate(q, cos, sin), self.keys, self.values, attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).reshape(1, 1, WIDTH))
        y = self.after(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.head = Norm(), nn.Linear(WIDTH, WORDS, bias=False)
        self.register_buffer("places", torch.arange(PLACES))
        self.register_buffer("speeds", 10000.0 ** (-torch.arange(0, 1, 2 * HEADS / WIDTH).float()))

    def forward(self, token, place):
        angles = torch.cat((place.float()[:, None] * self.speeds,) * 2, -1)
        x = self.words(token)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        mask = (self.places <= place)[None, None, None]
        for layer in self.layers:
            x = layer(x, place, cos, sin, mask)
        return self.head(self.norm(x)).argmax(-1)


def make_step(is_graph):
    torch.manual_seed(1)
    model = Decoder().to("cuda", torch.bfloat16).eval()
    token = torch.zeros(1, 1, dtype=torch.long, device="cuda")
    place = torch.zeros(1, dtype=torch.long, device="cuda")

    def decode():
        token.copy_(model(token, place))
        place.add_(1).remainder_(PLACES)

    def run(once):
        def step():
            once()
            token.item()  # a decode loop looks at each token
        return step

    for _ in range(WARM_UP_TOKENS):
        run(decode)()
    if not is_graph:
        return run(decode)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        decode()
    return run(graph.replay)


def begin_profiler():
    from torch.profiler import ProfilerActivity, profile
    profile(activities=[ProfilerActivity.CUDA]).start()


def main():
    with torch.inference_mode():
        serve(make_step(sys.argv[1] == "graph"), torch.cuda.synchronize, begin_profiler)


main()
