"""Training steps with streams, events and NCCL: is every wait's producer known? Beside it, what
Kineto says of the same."""
import collections
import json

import report
from tool import run

RANKS, STEPS = 2, 30
FOR_EVENTS = ("event", "stream_event")


def tally(rows):
    """Of waits for events: how they are known, and those that are not, by type and call. Of the
    others: how many. What failed, or asked and was told "not ready", waited for nothing."""
    known, unresolved, others, nothing = (collections.Counter() for _ in range(4))
    for row in rows:
        if row["type"] not in FOR_EVENTS:
            others[row["type"]] += 1
        elif row["result"] not in ("", "0"):
            nothing[row["api"]] += 1
        elif row["known"]:  # that there is none, too
            known[row["known"]] += 1
        else:
            unresolved[f"{row['type']} by {row['api'] or 'an unknown call'}"] += 1
    return known, unresolved, others, nothing


def kineto_tally(events):
    """Waits for events in Kineto's JSON: all, and those without a producer."""
    waits = [e["args"]["wait_on_stream"] for e in events
             if e.get("cat") == "cuda_sync" and "wait_on_stream" in e.get("args", {})]
    return len(waits), sum(stream == -1 for stream in waits)


def kineto(context, ranks):
    traces = context.work / "kineto"
    traces.mkdir()
    run(context.python("torch_nccl.py", ranks, STEPS, traces))
    found = [kineto_tally(json.loads(path.read_text())["traceEvents"]) for path in sorted(traces.glob("*.json"))]
    return sum(waits for waits, _ in found), sum(unresolved for _, unresolved in found)


def collectives(context, per_rank, ranks):
    kernels = collections.Counter(row["process"] for row in context.tool.rows("activities", context.recording)
                                  if row["kind"] == "kernel" and row["name"].startswith("nccl"))
    return report.goal("NCCL's kernels in each process", f"{per_rank} in each of {ranks}",
                       ", ".join(map(str, kernels.values())) or "none",
                       list(kernels.values()) == [per_rank] * ranks if ranks > 1 else None)


def goals(context, result, ranks):
    known, unresolved, others, nothing = tally(context.tool.rows("waits", context.recording))
    waits, missing = known.total() + unresolved.total(), unresolved.total()
    fault = context.tool.fault(context.recording)
    return [report.goal("processes in one file", str(ranks), str(context.tool.ask("info", context.recording)["counts"]["processes"]), None),
            collectives(context, int(result["collectives"]), ranks),
            report.goal("waits for events", "more than 0", str(waits), waits > 0),
            report.goal("of them unresolved", "0", f"{missing} {dict(unresolved.most_common(5)) if missing else ''}".strip(), missing == 0),
            report.goal("of them certain, by the order of calls or by number", str(waits), str(known["order"] + known["number"]),
                        known["order"] + known["number"] == waits),
            report.goal("calls that waited for nothing: failed, or told \"not ready\"", "-",
                        f"{nothing.total()} {dict(nothing) if nothing else ''}".strip(), None),
            report.goal("waits for streams and devices", "-", str(others.total()), None),
            report.goal("`dagtap check`", "0", fault or "0", not fault)]


def measure(context):
    ranks = min(RANKS, context.gpus)
    result = context.tool.record(context.python("torch_nccl.py", ranks, STEPS), context.recording)
    found = goals(context, result, ranks)
    waits, missing = kineto(context, ranks)
    found.append(report.goal("Kineto: waits for events without a producer", "-", f"{missing} of {waits}", None))
    notes = [] if ranks == RANKS else ["This machine has one GPU: NCCL has nobody to talk to."]
    return report.part(f"PyTorch training steps with streams, events and NCCL, {ranks} GPU(s)", goals=found, notes=notes,
                       runs={"dagtap": [result]})
