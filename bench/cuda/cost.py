"""What recording costs: the same program plain, under the floor, under dagtap and under other
profilers, in turn."""
import shutil
import statistics

import report
from tool import run, size_mb

HEADS = ["way", "seconds", "x plain", "x floor", "exit s", "finish s", "program MB", "most MB", "above plain MB", "file MB", "kernels",
         "check"]

# What FLOOR asks CUPTI for. The first is what most tools ask for; the last is nearest to what
# dagtap asks for with all calls.
FLOOR = "kernels,copies,calls"
FLOORS = [FLOOR, "kernels", "callbacks", "kernels,copies,waits,callbacks"]


class Workload:
    def __init__(self, name, command, peers=None, floors=(FLOOR,)):
        self.name = name
        self.command = command
        self.peers = peers or {}  # name -> function of (command, work)
        self.floors = floors


def peer(trace_name):
    """A profiler of the program's own, which is told where to write: the last argument."""
    def measure(command, work):
        trace = work / trace_name
        result = run([*command, trace])
        result["file_mb"] = size_mb(trace)
        shutil.rmtree(trace) if trace.is_dir() else trace.unlink()
        return result
    return measure


def with_dagtap(tool, command, file):
    result = tool.record(command, file)
    totals = tool.ask("summary", file)["totals"]
    return {**result, "kernels_recorded": totals["kernels"], "graph_kernels": totals["graph_kernels"],
            "graph_launches": totals["graph_launches"], "fault": tool.fault(file)}


def exit_seconds(result):
    """From the end of main to the end of the process: a profiler's last work is there."""
    return {**result, "exit_seconds": result["program_ended"] - result["done"]} if "done" in result else result


def floor_name(floor):
    return "floor" if floor == FLOOR else f"floor: {floor}"


def interleave(context, workload, pairs):
    """Runs by way; the last recording stays at the context's `recording`."""
    ways = {"plain": lambda: run(workload.command)}
    for floor in workload.floors:
        ways[floor_name(floor)] = lambda floor=floor: context.tool.count(workload.command, floor)
    ways["dagtap"] = lambda: with_dagtap(context.tool, workload.command, context.recording)
    for name, measure in workload.peers.items():
        ways[name] = lambda measure=measure: measure(workload.command, context.work)
    results = {way: [] for way in ways}
    for _ in range(pairs):
        for way, call in ways.items():
            # A peer's run takes half a minute: once is enough to see it.
            if way not in workload.peers or not results[way]:
                results[way].append(exit_seconds(call()))
    return results


def above_plain_mb(results, way):
    return report.median(results[way], "all_mb") - report.median(results["plain"], "all_mb")


def row(results, way):
    runs = results[way]
    faults = [r["fault"] for r in runs if "fault" in r]
    return [way, report.cell(report.median(runs, "seconds")), report.ratio_text(report.ratios(results, way, "plain")),
            report.ratio_text(report.ratios(results, way, "floor")),
            report.cell(report.median(runs, "exit_seconds")), report.cell(report.median(runs, "finish_seconds")),
            report.cell(report.median(runs, "program_mb"), "{:.0f}"), report.cell(report.median(runs, "all_mb"), "{:.0f}"),
            report.cell(above_plain_mb(results, way), "{:.0f}"), report.cell(report.median(runs, "file_mb"), "{:.1f}"),
            report.cell(report.median(runs, "kernels_recorded"), "{:.0f}"),
            "-" if not faults else next(filter(None, faults), "0")]


def rows(results):
    return [row(results, way) for way in results]


def checked(results):
    runs = results["dagtap"]
    closed = sum(not r["fault"] for r in runs)
    return report.goal("recordings that `dagtap check` finds whole", f"{len(runs)} of {len(runs)}",
                       f"{closed} of {len(runs)}", closed == len(runs))


def limit(what, most, measured, form="{:.3f}"):
    return report.goal(what, "at most " + form.format(most), form.format(measured), measured <= most)


def count_named(tool, file):
    """Kernels that a graph launch brought, and how many different (process, exec, replay, node)
    they name."""
    named, kernels = set(), 0
    for r in tool.rows("activities", file):
        if r["kind"] == "kernel" and r["exec"]:
            kernels += 1
            if r["graph"] and r["node"] and r["replay"]:
                named.add((r["process"], r["exec"], r["replay"], r["graph"], r["node"]))
    return kernels, len(named)


def named_goal(context, expected):
    kernels, named = count_named(context.tool, context.recording)
    return report.goal("graph kernels with graph, node and replay, each different", f"{expected} of {expected}",
                       f"{named} of {kernels}", kernels == named == expected)


def replay_goals(context, results, expected):
    """Issue 5's first point."""
    return [limit("seconds by the floor's, median of ratios", 1.03,
                  statistics.median(report.ratios(results, "dagtap", "floor"))),
            limit("seconds from program end to the finished file", 1, report.median(results["dagtap"], "finish_seconds")),
            limit("resident MB above the plain program", 300, above_plain_mb(results, "dagtap"), "{:.0f}"),
            limit("MB of file", 12, report.median(results["dagtap"], "file_mb"), "{:.1f}"),
            named_goal(context, expected), checked(results)]


def launch_ns(results, way, count):
    """Of a launch, over the plain program's: median of neighbours' differences."""
    return statistics.median((a["seconds"] - b["seconds"]) / count * 1e9 for a, b in zip(results[way], results["plain"]))


def eager_goals(results, count):
    found = [report.goal(f"ns a launch over the plain program, {way}", "-", f"{launch_ns(results, way, count):.0f}", None)
             for way in results if way != "plain"]
    recorded = {int(r["kernels_recorded"]) for r in results["dagtap"]}
    return found + [report.goal("kernels recorded, each run", str(count), ", ".join(map(str, sorted(recorded))),
                                recorded == {count}), checked(results)]


def replay(context):
    command, kernels = context.replay_command()
    results = interleave(context, Workload("replay", command), context.pairs)
    return report.part(f"Graph replay in C, {kernels:,} kernels", HEADS, rows(results), replay_goals(context, results, kernels),
                       runs=results)


def eager(context):
    command, launches = context.eager_command()
    results = interleave(context, Workload("eager", command, floors=[*FLOORS, *context.floors]), context.pairs)
    notes = ["The floors ask CUPTI for what they name and do nothing with it; kernels,copies,waits,callbacks is nearest to `--calls all`."]
    return report.part(f"Eager, {launches:,} launches", HEADS, rows(results), eager_goals(results, launches), notes, results)


def torch_graph(context):
    command = context.python("torch_replay.py", 1000, 1000)
    results = interleave(context, Workload("torch-graph", command, {"torch.profiler": peer("torch.json")}),
                         context.framework_pairs)
    return report.part("The same graph in PyTorch, 1,000,000 kernels, beside torch.profiler", HEADS, rows(results),
                       replay_goals(context, results, 1000000), runs=results)
