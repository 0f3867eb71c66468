#!/usr/bin/env python3
"""torch_train.py train|infer: a program of torch.compile whose graphs are those of Inductor's
cudagraph trees; measure_preload.py runs it.

train: steps of a small transformer, forward, backward and Adam, compiled with mode
"reduce-overhead". infer: its forward alone. It answers each line of its input, a number of steps,
with the seconds that they took and a checksum of the results after each line so far.
"""
import hashlib
import os
import sys
import time

# Equal results; read when the first context is made.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
from torch import nn  # noqa: E402

WIDTH, HEADS, LAYERS, ROWS, TOKENS = 256, 4, 4, 8, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        parts = self.mixed(self.first(x)).view(ROWS, TOKENS, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        scores = torch.softmax(query @ key.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5, -1)
        x = x + self.out((scores @ value).transpose(1, 2).reshape(ROWS, TOKENS, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


def main():
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    model = nn.Sequential(*(Block() for _ in range(LAYERS)), nn.Linear(WIDTH, WIDTH)).cuda()
    x, y = (torch.randn(ROWS, TOKENS, WIDTH, device="cuda") for _ in range(2))
    compiled = torch.compile(model, mode="reduce-overhead")
    optimizer = torch.optim.Adam(model.parameters(), 1e-4)

    def train():
        loss = nn.functional.mse_loss(compiled(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach().clone()

    def infer():
        with torch.no_grad():
            return compiled(x).mean()

    step, digest = {"train": train, "infer": infer}[sys.argv[1]], hashlib.sha256()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        results = [step() for _ in range(int(line))]
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        for value in results + list(model.parameters()):
            digest.update(value.detach().cpu().numpy().tobytes())
        print(f"{seconds:.6f} {digest.hexdigest()}", flush=True)


main()
