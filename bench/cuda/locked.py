"""What recording costs programs as people run them, measured in locked rounds.

A machine's speed drifts by a third from minute to minute. So one process of each way lives through
the whole measurement, and one after the other does a short batch of steps (worker.py): a round has
a batch of each way within a second or two. The order turns from round to round. Ratios are of
batches of one round; of all rounds their median is given, with the 95 % interval of the median by
order statistics. A goal is not said to be reached when that interval is wider than
INTERVAL_MOST."""
import math
import os
import statistics
import subprocess
import threading

import report
from tool import Failure, size_mb

INTERVAL_MOST = 0.05
READY_SECONDS_MOST = 120
FLOOR = "kernels"
FLOOR_CALLBACKS = "kernels,copies,callbacks"
HEADS = ["way", "steps/s, median", "x plain [95 %]", f"x floor: {FLOOR} [95 %]"]


class Worker:
    """A process of one way, which waits for batches."""

    def __init__(self, command, environment=None):
        self.child = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, **(environment or {})}, process_group=0)
        self.timer = threading.Timer(READY_SECONDS_MOST, self.child.kill)
        self.timer.start()
        # One after the other, so that no process disturbs the start of another.
        try:
            self.read()
        finally:
            self.timer.cancel()

    def read(self):
        for line in self.child.stdout:
            if line.strip() == "ready" or line[0].isdigit():
                return line
        raise Failure(f"{' '.join(self.child.args)} ended with {self.child.wait()}")

    def batch(self, steps):
        print(steps, file=self.child.stdin, flush=True)
        return float(self.read())

    def end(self):
        self.timer.cancel()
        self.child.stdin.close()
        self.child.stdout.read()
        return self.child.wait()


def interval(values):
    """The 95 % interval of the median."""
    ordered = sorted(values)
    low = max(0, math.floor((len(ordered) - 1.96 * math.sqrt(len(ordered))) / 2))
    return ordered[low], ordered[-1 - low]


def ratios(batches, way, base):
    return [a / b for a, b in zip(batches[way], batches[base])]


def ratio_text(values):
    low, high = interval(values)
    return f"{statistics.median(values):.3f} [{low:.3f} to {high:.3f}]"


def floor_workers(context, command):
    """Workers by way. A further floor that this CUPTI refuses is left out, and says so on
    stderr."""
    workers = {}
    for names in (FLOOR, *([] if context.is_bisection else [FLOOR_CALLBACKS]), *context.floors):
        try:
            workers[f"floor: {names}"] = Worker(command, context.tool.floor_environment(names))
        except Failure:
            if names not in context.floors:
                raise
    return workers


def ways(context, command):
    """Workers by way, and the recording of each that makes one."""
    tool, before = context.tool, context.tool.tree.parent / "before"
    files = {"dagtap": context.recording}
    if not context.is_bisection:
        files["dagtap --calls all"] = context.work / "all.dagtap"
    options = {"dagtap": [], "dagtap --calls all": ["--calls", "all"]}
    workers = {"plain": Worker(command)}
    workers.update(floor_workers(context, command))
    workers.update({way: Worker(tool.record_command(command, files[way], options[way])) for way in files})
    if before.exists():  # another build to compare with, packed by hand
        files["dagtap before"] = context.work / "before.dagtap"
        workers["dagtap before"] = Worker([before / "bin" / "dagtap", "record", "--backend", "cuda", "-f", "-o", files["dagtap before"],
                                           "--", *command])
    if not context.is_bisection:
        workers["peer"] = Worker([*command, "peer"])
    return workers, files


def measure_rounds(workers, steps, rounds):
    batches = {way: [] for way in workers}
    order = list(workers)
    for number in range(rounds + 1):
        for way in order:
            seconds = workers[way].batch(steps)
            if number:  # the first warms up
                batches[way].append(seconds)
        order.append(order.pop(0))
    return batches


def end_all(workers):
    codes = {}
    threads = [threading.Thread(target=lambda way=way: codes.update({way: workers[way].end()})) for way in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = {way: code for way, code in codes.items() if code}
    if failed:
        raise Failure(f"exit codes: {failed}")


def row(batches, way, steps):
    return [way, f"{steps / statistics.median(batches[way]):.0f}", ratio_text(ratios(batches, way, "plain")),
            ratio_text(ratios(batches, way, f"floor: {FLOOR}"))]


def recording_goals(context, way, file, total_steps):
    """Rows, bytes and the ledger of one recording."""
    counts = context.tool.ask("summary", file)["totals"]
    kernels, calls = counts["kernels"], counts["api_calls"]
    fault = context.tool.fault(file)
    return [report.goal(f"{way}: kernels, calls, graph launches a step", "-",
                        f"{kernels / total_steps:.1f}, {calls / total_steps:.1f}, {counts['graph_launches'] / total_steps:.1f}", None),
            report.goal(f"{way}: MB of file; bytes a row (kernels and calls)", "-",
                        f"{size_mb(file):.2f}; {size_mb(file) * 1e6 / max(1, kernels + calls):.1f}", None),
            report.goal(f"{way}: `dagtap check`", "0", fault or "0", not fault)]


def ratio_goal(batches, most):
    values = ratios(batches, "dagtap", f"floor: {FLOOR}")
    low, high = interval(values)
    is_reached = high - low <= INTERVAL_MOST and statistics.median(values) <= most
    return report.goal(f"seconds by those of the floor that asks for {FLOOR} alone, interval at most {INTERVAL_MOST:.2f}",
                       f"at most {most:.2f}", ratio_text(values), is_reached)


def measure(context, title, command, steps, most):
    workers, files = ways(context, command)
    try:
        batches = measure_rounds(workers, steps, context.rounds)
    finally:
        for worker in workers.values():
            worker.timer.cancel()
        if any(worker.child.poll() is not None for worker in workers.values()):
            for worker in workers.values():
                worker.child.kill()
    end_all(workers)
    goals = [ratio_goal(batches, most)]
    for way, file in files.items():
        goals += recording_goals(context, way, file, steps * (context.rounds + 1))
    notes = [f"{context.rounds} rounds of {steps} steps a way; the processes of all ways live at once, and one works at a time.",
             "Rows a step include those of the start: warm-up, compilation, loading of modules."]
    return report.part(title, HEADS, [row(batches, way, steps) for way in batches], goals, notes, batches)


def decode(context):
    return measure(context, "Eager decode in PyTorch, 12 layers, batch 1; a step is a token; peer: torch.profiler",
                   context.python("torch_decode.py", "eager"), 8, 1.05)


def decode_graph(context):
    return measure(context, "The same decode as one CUDA graph a token; peer: torch.profiler",
                   context.python("torch_decode.py", "graph"), 64, 1.05)


def jax_step(context):
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # many processes share the memory
    return measure(context, "JAX training step, scan, gradient, Adam; peer: jax.profiler", context.python("jax_step.py"), 200, 1.0)
