"""Minutes of replays recorded into a ring: memory and spool stay as they are, and every kernel is
kept or counted as dropped."""
import pathlib
import re
import time

import report
from tool import Failure, finish, said, size_mb, start, timed

SAMPLE_SECONDS = 5
SETTLE_SECONDS = 10
GROWTH_MB_MOST = 16
SPARE_SECONDS = 90
RINGED = "dropped by the ring"

# What the spool has beside the ring: what is kept ready, windows that were begun, open chunks,
# graphs and names.
READY_MB_LEAST = 128
BESIDE_MB = 20


def resident_mb(pid):
    """All of it, and without the pages of the spool and of libraries; None once the process is
    gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "RssAnon"))}
    return tuple(int(values[name]) / 1024 for name in ("VmRSS", "RssAnon")) if len(values) == 2 else None


def sample(pid, spools, seconds):
    """(seconds, resident MB, its own MB, MB of spool) now and then."""
    begin, samples = time.monotonic(), []
    while time.monotonic() - begin < seconds:
        time.sleep(SAMPLE_SECONDS)
        memory = resident_mb(pid)
        if not memory:
            break
        samples.append((time.monotonic() - begin, *memory, size_mb(spools)))
    return samples


def first_pid(child):
    """The program says its own; what came before it is kept."""
    output = ""
    for line in child.stdout:
        output += line
        if line.startswith("pid: "):
            return int(line.split()[1]), output
    return None, output


def record(context, command, seconds, ring_mb):
    spools = context.recording.with_suffix(".spool")
    recorded = context.tool.record_command(command, context.recording, ("--ring", f"{ring_mb}M"))
    child, timer = start(timed("all", recorded), seconds + SPARE_SECONDS)
    pid, output = first_pid(child)
    samples = sample(pid, spools, seconds) if pid else []
    return said(finish(child, timer, output)), samples


def growth(samples, column):
    settled = [values for values in samples if values[0] > SETTLE_SECONDS]
    return max(v[column] for v in settled) - min(v[column] for v in settled) if settled else None


def flat(what, samples, column):
    grown = growth(samples, column)
    return report.goal(f"{what}, largest less smallest after {SETTLE_SECONDS} s", f"at most {GROWTH_MB_MOST} MB",
                       "-" if grown is None else f"{grown:.1f} MB", None if grown is None else grown <= GROWTH_MB_MOST)


def bounded(samples, ring_mb):
    """The file's size itself; it is taken in MB of a million."""
    most = (ring_mb + max(READY_MB_LEAST, ring_mb / 4)) * 1.048576 + BESIDE_MB
    highest = max((values[3] for values in samples), default=None)
    return report.goal("MB of spool", f"at most {most:.0f}", "-" if highest is None else f"{highest:.1f}",
                       None if highest is None else highest <= most)


def replays_kept(rows):
    """Kernels by replay number, and whether each has its node."""
    replays, named = {}, True
    for row in rows:
        if row["kind"] == "kernel" and row["replay"]:
            replays[int(row["replay"])] = replays.get(int(row["replay"]), 0) + 1
            named = named and bool(row["node"])
    return replays, named


def kept_goals(replays, named, launches, nodes):
    whole = sorted(replay for replay, kernels in replays.items() if kernels == nodes)
    text = f"{whole[0]:,} to {whole[-1]:,}" if whole else "none"
    return [report.goal("replays that are kept whole", "without a gap", text,
                        bool(whole) and whole == list(range(whole[0], whole[-1] + 1))),
            report.goal("number of the last of them", f"{launches - 1:,}", text.split()[-1], bool(whole) and whole[-1] == launches - 1),
            report.goal("replays that are kept in part", "at most 1", str(len(replays) - len(whole)), len(replays) - len(whole) <= 1),
            report.goal("kernels that are kept have their node", "all", "all" if named else "not all", named)]


def kernels_dropped(source):
    found = re.search(r"the ring dropped (\d+) kernels", source["text"])
    return int(found[1]) if found else 0


def count_goals(tool, file, kernels):
    source = next((s for s in tool.ask("check", file)["sources"] if s["name"] == "cuda"), None)
    if not source:
        raise Failure("no line \"cuda\" in the ledger")
    kept, dropped_kernels = tool.ask("summary", file)["totals"]["kernels"], kernels_dropped(source)
    ringed, dropped = source["dropped"].get(RINGED, 0), sum(source["dropped"].values())
    fault = tool.fault(file)
    return [report.goal("kernels, kept and dropped", f"{kernels:,}, as the program counts", f"{kept:,} + {dropped_kernels:,} = {kept + dropped_kernels:,}",
                        kept + dropped_kernels == kernels),
            report.goal("records of CUPTI, kept and dropped", f"{source['expected']:,}, as it counts",
                        f"{source['received']:,} + {ringed:,}", source["received"] + dropped == source["expected"]),
            report.goal("dropped for another cause", "0", f"{dropped - ringed:,}", dropped == ringed),
            report.goal("`dagtap check`", "0", fault or "0", not fault)]


def measure(context):
    command, nodes, seconds, ring_mb = context.ring_command()
    result, samples = record(context, command, seconds, ring_mb)
    kernels = int(result["kernels"])
    replays, named = replays_kept(context.tool.rows("activities", context.recording))
    goals = [flat("resident MB of the program", samples, 1), flat("of them its own, without the spool", samples, 2),
             bounded(samples, ring_mb), *count_goals(context.tool, context.recording, kernels),
             *kept_goals(replays, named, kernels // nodes, nodes)]
    rows = [[f"{at:.0f}", f"{all_mb:.0f}", f"{own_mb:.0f}", f"{spool_mb:.0f}"] for at, all_mb, own_mb, spool_mb in samples]
    step = max(1, len(rows) // 12)
    rate = f", {kernels / result['seconds']:,.0f} a second" if "seconds" in result else ""
    return report.part(f"{seconds} s of replays into a ring of {ring_mb}M, {kernels:,} kernels{rate}",
                       ["at s", "resident MB", "its own MB", "spool MB"], rows[::step], goals,
                       runs={"samples": samples, "dagtap": [result]})
