#!/usr/bin/env python3
"""A decode step of a Llama-like model as one CUDA graph, whose KV cache lies elsewhere at each
replay.

    pip install ./python/dagpatch
    llm_decode.py [--check] [--json FILE]

Needs a GPU and a PyTorch whose CUDAGraph has raw_cuda_graph_exec (2.11 has), nothing else: weights
are random. Each layer's keys and values are a page of their own; the pages are the slots of the
graph. A step samples a token with random numbers of PyTorch's, which go on as its own replay() has
them.

--check: rebinds the graph to pages drawn at random, and compares the logits, the sampled tokens and
every page, bit for bit, with the same step run without a graph elsewhere. Pages that are not bound
must stay as they are.

The table: a step that works on another sequence's pages each time. "host" is from its begin until
the launch has returned, "step" until the result is there; medians, us.
"""

import argparse
import dataclasses
import json
import os
import random
import statistics
import sys
import time

# Else cuBLAS may add in another order when there is more than one stream.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Config:
    layers: int = 32
    width: int = 2048
    heads: int = 16
    kv_heads: int = 4
    inner: int = 5632
    words: int = 32000
    batch: int = 16
    context: int = 1024

    @property
    def head(self):
        return self.width // self.heads

    @property
    def page_shape(self):
        """Keys and values of a layer."""
        return 2, self.batch, self.kv_heads, self.context, self.head


class Model:
    """Weights, and what the step reads and writes besides the pages: all at fixed addresses."""

    def __init__(self, config, device="cuda", dtype=torch.bfloat16):
        self.config, self.device, self.dtype = config, device, dtype
        kv = config.kv_heads * config.head
        self.layers = [
            {
                "qkv": self.weight(config.width, config.width + 2 * kv),
                "out": self.weight(config.width, config.width),
                "gate": self.weight(config.width, config.inner),
                "up": self.weight(config.width, config.inner),
                "down": self.weight(config.inner, config.width),
            }
            for _ in range(config.layers)
        ]
        self.embedding = self.weight(config.words, config.width)
        self.unembedding = self.weight(config.width, config.words)
        rates = 10000.0 ** (-torch.arange(0, config.head, 2, device=device) / config.head)
        angles = torch.outer(torch.arange(config.context, device=device), rates).repeat(1, 2)
        self.cosines, self.sines = angles.cos().to(dtype), angles.sin().to(dtype)
        self.places = torch.arange(config.context, device=device)
        # A step's input and output.
        self.tokens = torch.zeros(config.batch, dtype=torch.long, device=device)
        self.position = torch.zeros(1, dtype=torch.long, device=device)
        self.logits = torch.empty(config.batch, config.words, device=device)
        self.sampled = torch.zeros(config.batch, dtype=torch.long, device=device)

    def weight(self, rows, columns):
        return torch.randn(rows, columns, device=self.device, dtype=self.dtype) * rows**-0.5

    def turned(self, x):
        """x with its position in it."""
        first, second = x.chunk(2, dim=-1)
        turned = torch.cat((-second, first), dim=-1)
        return x * self.cosines.index_select(0, self.position) + turned * self.sines.index_select(
            0, self.position
        )

    def attended(self, weights, x, page, mask):
        """One query a sequence: heads that share keys are as many queries of one head."""
        c = self.config
        q, k, v = (x @ weights["qkv"]).split(
            [c.width, c.kv_heads * c.head, c.kv_heads * c.head], dim=-1
        )
        q = self.turned(q.view(c.batch, c.kv_heads, c.heads // c.kv_heads, c.head))
        page[0].index_copy_(2, self.position, self.turned(k.view(c.batch, c.kv_heads, 1, c.head)))
        page[1].index_copy_(2, self.position, v.view(c.batch, c.kv_heads, 1, c.head))
        mixed = F.scaled_dot_product_attention(q, page[0], page[1], attn_mask=mask)
        return mixed.reshape(c.batch, c.width) @ weights["out"]

    @torch.inference_mode()
    def step(self, *pages):
        """Leaves nothing behind but what is in the pages, logits and sampled."""
        c = self.config
        x = F.embedding(self.tokens, self.embedding)
        mask = (
            (self.places <= self.position)
            .view(1, 1, 1, -1)
            .expand(c.batch, c.kv_heads, c.heads // c.kv_heads, -1)
        )
        with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
            for weights, page in zip(self.layers, pages):
                x = x + self.attended(weights, F.rms_norm(x, (c.width,)), page, mask)
                y = F.rms_norm(x, (c.width,))
                x = x + (F.silu(y @ weights["gate"]) * (y @ weights["up"])) @ weights["down"]
        self.logits.copy_(F.rms_norm(x, (c.width,)) @ self.unembedding)
        noise = -torch.log(-torch.log(torch.rand_like(self.logits)))
        self.sampled.copy_((self.logits + noise).argmax(dim=-1))

    def pages(self, count=None):
        return [
            torch.zeros(self.config.page_shape, device=self.device, dtype=self.dtype)
            for _ in range(count or self.config.layers)
        ]

    def set_input(self, seed):
        """Token, position and the generator's state for a step."""
        draw = random.Random(seed)
        self.tokens.copy_(
            torch.tensor([draw.randrange(self.config.words) for _ in range(self.config.batch)])
        )
        self.position.fill_(draw.randrange(self.config.context))
        torch.cuda.manual_seed(seed)


def warm(model, pages):
    """Libraries load what they need before anything is captured."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model.step(*pages)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()


def captured(model, pages, stream, pool=None):
    """Without torch.cuda.graph, which empties PyTorch's caches first."""
    graph = torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        graph.capture_begin(pool=pool)
        model.step(*pages)
        graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    return graph


# ---- right? ----


def check(model, adopted, rebinds):
    """Counts of tensors that are not what the step without a graph gives."""
    layers, generator, unbound = model.config.layers, random.Random(1), 7.0
    pool = model.pages(2 * layers)
    for page in pool:
        page.fill_(unbound)
    contents = [torch.randn_like(page) for page in pool[:layers]]
    fresh = model.pages()
    wrong = {"logits": 0, "tokens": 0, "pages": 0, "unbound": 0}
    for number in range(rebinds):
        order = generator.sample(range(2 * layers), 2 * layers)
        bound, others = ([pool[i] for i in part] for part in (order[:layers], order[layers:]))
        for page, other, content in zip(bound, fresh, contents):
            page.copy_(content)
            other.copy_(content)
        model.set_input(number)
        adopted.bind_all(bound)
        adopted.replay()
        logits, sampled = model.logits.clone(), model.sampled.clone()
        model.logits.zero_()
        model.sampled.zero_()
        model.set_input(number)
        model.step(*fresh)
        wrong["logits"] += not torch.equal(logits, model.logits)
        wrong["tokens"] += not torch.equal(sampled, model.sampled)
        wrong["pages"] += sum(not torch.equal(page, other) for page, other in zip(bound, fresh))
        wrong["unbound"] += sum(not bool((page == unbound).all()) for page in others)
        for page in bound:
            page.fill_(unbound)
    return {
        "rebinds": rebinds,
        "tensors": rebinds * (2 + 2 * layers),
        "wrong": wrong,
        "relocations": adopted.recording.stats().relocation_count,
    }


# ---- what does it cost? ----


def timed(steps, step):
    """Medians of the host's time and of the whole, us, and the middle half of the whole."""
    hosts, wholes = [], []
    for number in range(steps + 3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step(number)
        launched = time.perf_counter()
        torch.cuda.synchronize()
        done = time.perf_counter()
        if number >= 3:
            hosts.append((launched - begin) * 1e6)
            wholes.append((done - begin) * 1e6)
    quarters = statistics.quantiles(wholes, n=4)
    return {
        "host_us": statistics.median(hosts),
        "step_us": statistics.median(wholes),
        "step_us_quartiles": [quarters[0], quarters[2]],
    }


def measure(model, adopted, steps, sequences):
    sets = [model.pages() for _ in range(sequences)]
    static, stream, rows = model.pages(), torch.cuda.Stream(), {}

    def of(number):
        return sets[number % sequences]

    fixed = captured(model, sets[0], stream)
    rows["graph, always the same pages"] = timed(steps, lambda number: fixed.replay())

    def rebound(number):
        adopted.bind_all(of(number))
        adopted.replay()

    rows["dagpatch, all pages changed"] = timed(steps, rebound)

    one = [*sets[0]]

    def rebound_one(number):
        one[0] = of(number)[0]
        adopted.bind_all(one)
        adopted.replay()

    rows["dagpatch, one page changed"] = timed(steps, rebound_one)

    still = captured(model, static, stream)

    def copied(number):
        for page, there in zip(of(number), static):
            there.copy_(page)
        still.replay()
        # Only what the step has written goes back.
        for page, there in zip(of(number), static):
            page.index_copy_(3, model.position, there.index_select(3, model.position))

    rows["copied into static pages and back"] = timed(steps, copied)

    def again(number):
        captured(model, of(number), stream, fixed.pool()).replay()

    rows["captured again"] = timed(max(5, steps // 10), again)

    graphs = [captured(model, pages, stream) for pages in sets]
    rows[f"{sequences} graphs, one a sequence"] = timed(
        steps, lambda number: graphs[number % sequences].replay()
    )
    rows["without a graph"] = timed(max(5, steps // 10), lambda number: model.step(*of(number)))
    rows["graph, always the same pages, once more"] = timed(steps, lambda number: fixed.replay())
    return rows


def adopt(model):
    import dagpatch.torch

    began = time.perf_counter()
    adopted = dagpatch.torch.capture(
        model.step, {f"page {i}": page for i, page in enumerate(model.pages())}
    )
    return adopted, (time.perf_counter() - began) * 1e3


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare instead of measuring")
    parser.add_argument("--rebinds", type=int, default=1000, help="of --check")
    parser.add_argument("--steps", type=int, default=200, help="measured, of each way")
    parser.add_argument("--sequences", type=int, default=3, help="whose pages take turns")
    parser.add_argument("--json", help="file for the figures; - is standard output")
    for field in dataclasses.fields(Config):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=int, default=field.default)
    arguments = parser.parse_args()
    config = Config(
        **{field.name: getattr(arguments, field.name) for field in dataclasses.fields(Config)}
    )
    torch.manual_seed(0)
    model = Model(config)
    warm(model, model.pages())
    adopted, adopt_ms = adopt(model)
    page_bytes = model.pages(1)[0].nbytes
    result = {
        "config": dataclasses.asdict(config),
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "page_bytes": page_bytes,
        "nodes": adopted.recording.stats().node_count,
        "adopt_ms": adopt_ms,
    }
    out = sys.stderr if arguments.json == "-" else sys.stdout
    print(
        f"{result['device']}, torch {result['torch']}: {config.layers} layers, "
        f"{result['nodes']} nodes, "
        f"{config.layers} pages of {page_bytes / 1e6:.1f} MB; adopted in {adopt_ms:.0f} ms",
        file=out,
    )
    if arguments.check:
        result["check"] = found = check(model, adopted, arguments.rebinds)
        print(
            f"{found['rebinds']} rebinds, {found['tensors']} tensors compared, "
            f"{found['relocations']} relocations; wrong: "
            + ", ".join(f"{name} {count}" for name, count in found["wrong"].items()),
            file=out,
        )
    else:
        result["ways"] = rows = measure(model, adopted, arguments.steps, arguments.sequences)
        print(f"{'':42} {'host':>9} {'step':>9}   middle half", file=out)
        for name, row in rows.items():
            print(
                f"{name:42} {row['host_us']:9.1f} {row['step_us']:9.1f}   "
                f"{row['step_us_quartiles'][0]:.1f} .. {row['step_us_quartiles'][1]:.1f}",
                file=out,
            )
    if arguments.json:
        text = json.dumps(result, indent=1)
        if arguments.json == "-":
            print(text)
        else:
            with open(arguments.json, "w", encoding="ascii") as file:
                file.write(text + "\n")
    adopted.close()
    sys.exit(bool(arguments.check and any(result["check"]["wrong"].values())))


if __name__ == "__main__":
    main()
