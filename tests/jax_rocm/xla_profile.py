"""What XLA's profiler got from librocprofiler-sdk.so.1 against dagtap's recording of the same run:
every kernel of the program, those of graphs' launches too, with its name, its time and its
correlation id."""
import collections
import functools
import subprocess

import witness

# XLA keeps a time in ns, and the clocks are fitted at different moments.
CLOCK_NS = 2


@functools.cache
def profile(dagtap, folder):
    """The activities of the profile, and their calls, as dagtap reads the XSpace file."""
    (path,) = (folder / "profile").glob("**/*.xplane.pb")
    tables = []
    for table in ("activities", "calls"):
        out = folder / f"profile.{table}.csv"
        subprocess.run([dagtap, "export", "--format", "csv", "--table", table, "-o", out, path], check=True)
        tables.append(witness.read_table(out))
    return tables


def of_calls(rows, first):
    """By correlation id, in the order of the call; those from FIRST on."""
    groups = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: (int(row["start_ns"] or 0), int(row["ordinal"]))):
        if int(row["cid"]) >= first:
            groups[int(row["cid"])].append(row)
    return groups


def is_dispatch(row):
    """XLA's profile calls a copy or memset that a kernel carried out a kernel."""
    return row["kind"] == "kernel" or row["blit"] == "1"


def both(dagtap, run, which):
    """The rows of the profile and of the recording from the first call of the profile on: the trace
    ends with the program."""
    activities, _ = profile(dagtap, run.folder)
    profiled = [row for row in activities if which(row)]
    first = min(int(row["cid"]) for row in activities)
    return of_calls(profiled, first), of_calls([row for row in run.evidence.activities if which(row)], first)


def expect_same_calls(profiled, recorded):
    for cid in sorted(set(profiled) | set(recorded)):
        if len(profiled[cid]) != len(recorded[cid]):
            raise witness.Difference(f"call {cid}: {len(profiled[cid])} in the profile, {len(recorded[cid])} recorded")


def check_kernels(dagtap, run):
    profiled, recorded = both(dagtap, run, is_dispatch)
    expect_same_calls(profiled, recorded)
    for cid, rows in recorded.items():
        for one, other in zip(profiled[cid], rows):
            if one["name"].removesuffix(".kd") != other["name"]:
                raise witness.Difference(f"call {cid}: {one['name']} in the profile, {other['name']} recorded")
            if abs(int(one["duration_ns"]) - int(other["duration_ns"])) > CLOCK_NS:
                raise witness.Difference(
                    f"call {cid}, {other['name']}: {one['duration_ns']} ns in the profile, {other['duration_ns']} recorded")
    return sum(map(len, profiled.values()))


def check_copies(dagtap, run):
    profiled, recorded = both(dagtap, run, lambda row: not is_dispatch(row))
    expect_same_calls(profiled, recorded)
    for cid, rows in recorded.items():
        for one, other in zip(profiled[cid], rows):
            if (one["bytes"], one["direction"]) != (other["bytes"], other["direction"]):
                raise witness.Difference(f"call {cid}: {one['bytes']} bytes {one['direction']} in the profile, "
                                         f"{other['bytes']} {other['direction']} recorded")
    return sum(map(len, profiled.values()))


def check_graphs(dagtap, run):
    """Each launch of a graph has all its kernels in the profile."""
    profiled, _ = both(dagtap, run, is_dispatch)
    launches = {}
    for row in run.evidence.activities:
        if row["replay"] and is_dispatch(row):
            launches[int(row["cid"])] = launches.get(int(row["cid"]), 0) + 1
    for cid, count in launches.items():
        if len(profiled[cid]) != count:
            raise witness.Difference(f"launch {cid}: {len(profiled[cid])} of {count} kernels in the profile")
    if not launches:
        raise witness.Difference("no graph was launched")
    return len(launches)
