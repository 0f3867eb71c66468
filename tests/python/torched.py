"""Programs with PyTorch's names and schedules, for test_python_torch.py: runs what its first
argument names and prints, in JSON, what it knows of it. The schedules need no torch."""

import enum
import json
import os
import pathlib
import sys
import warnings

import dagtap
import dagtap.torch

WORK = pathlib.Path(os.environ["TMPDIR"])


def model():
    """Scopes of modules and operators of a model on the CPU."""
    import torch

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.LayerNorm(4)
            self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.ReLU()])

        def forward(self, x, scale=None):
            if scale is None:
                raise ValueError("no scale")
            x = self.norm(x)
            for layer in self.layers:
                x = layer(x)
            return x * scale

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(), Block()])

        def forward(self, x):
            for block in self.blocks:
                x = block(x, scale=torch.ones(1))
            return x

    net, batch = Model(), torch.ones(2, 4)
    with dagtap.record(required=True):
        with dagtap.torch.annotate(net, "net"):
            with dagtap.scope("first"):
                net(batch)
            try:
                net.blocks[0](batch)
            except ValueError:
                pass
            with dagtap.scope("after the exception"):
                pass
        with dagtap.scope("removed"):
            net(batch)
        with dagtap.scope("operators"), dagtap.torch.operators():
            (net.blocks[0].layers[0](batch).sum()).backward()
        with dagtap.scope("observed"), dagtap.torch.annotate(net, "net"), dagtap.torch.observe():
            with torch.profiler.record_function("mine"):
                loss = net(batch).sum()
            loss.backward()
    return torch.version.cuda or torch.version.hip


class Action(enum.Enum):
    """As torch.profiler.ProfilerAction."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


n, w, r, s = Action
SCHEDULES = [
    [n, w, r, s, n, w, r, s, n],
    [r, s, r, s],
    [s, s, n],
    [n, r, n],
    [n, r, r],
    [w, n],
]


def schedules():
    """Steps by several schedules: the steps of each part that was handed over."""
    warnings.simplefilter("ignore")
    results = []
    for actions in SCHEDULES:
        parts = []

        def ready(profiler, parts=parts):
            steps = profiler.recording()["scope_attributes"]
            numbers = [row["int64"] for row in steps if row["key"] == "step_num"]
            parts.append([profiler.step_num, numbers])

        with dagtap.torch.profile(
            schedule=lambda number, actions=actions: actions[number], on_trace_ready=ready
        ) as profiler:
            for _ in actions[1:]:
                profiler.step()
        results.append(parts)
    return results


def likeness():
    """When torch.profiler.profile and ours hand a part over."""
    import torch

    warnings.simplefilter("ignore")
    results = []
    for actions in SCHEDULES:
        for make in torch.profiler.profile, dagtap.torch.profile:
            steps = []
            more = {"activities": [torch.profiler.ProfilerActivity.CPU]}
            with make(
                schedule=lambda number, actions=actions: torch.profiler.ProfilerAction[
                    actions[number].name
                ],
                on_trace_ready=lambda profiler, steps=steps: steps.append(profiler.step_num),
                **(more if make is torch.profiler.profile else {}),
            ) as profiler:
                for _ in actions[1:]:
                    profiler.step()
            results.append(steps)
    return results


def files():
    """Without a schedule, and what trace_handler writes."""
    folder = WORK / "traces"
    ready = dagtap.torch.trace_handler(folder, "worker", use_gzip=True)
    with dagtap.torch.profile(on_trace_ready=ready) as profiler:
        for _ in range(2):
            with dagtap.scope("work"):
                profiler.step()
    (file,) = os.listdir(folder)
    profiler.export_chrome_trace(WORK / "trace.json")
    texts = [row["text"] for row in dagtap.open(WORK / "trace.json")["scopes"]]
    return [file, texts, [row["text"] for row in profiler.recording()["scopes"]]]


def nothing():
    """Without `dagtap record`: nothing is called, and nothing is changed."""
    calls = []
    with dagtap.torch.profile(on_trace_ready=calls.append) as profiler:
        profiler.step()
    try:
        profiler.recording()
    except dagtap.Error as error:
        reason = str(error)
    with dagtap.torch.annotate(object()), dagtap.torch.operators():
        pass
    return [calls, reason, "torch" in sys.modules]


print("result:" + json.dumps(globals()[sys.argv[1]]()))
