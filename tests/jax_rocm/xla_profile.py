"""What XLA's profiler got from librocprofiler-sdk.so.1 against dagtap's recording of the same run:
every kernel of the program, those of graphs' launches too, with its name and its correlation id.
Times are not compared: both convert the same ticks, but with the anchors that were known at
different moments."""
import collections
import functools
import json
import os
import pathlib
import subprocess

import witness


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
    """By correlation id; those from FIRST on."""
    groups = collections.defaultdict(list)
    for row in rows:
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


def expect_same(profiled, recorded, what):
    """Each call has the same activities in both, by WHAT of each. Returns their number."""
    for cid in sorted(set(profiled) | set(recorded)):
        of_profile, of_recording = (collections.Counter(map(what, rows[cid])) for rows in (profiled, recorded))
        if of_profile != of_recording:
            raise witness.Difference(f"call {cid}: {dict(of_profile - of_recording)} only in the profile, "
                                     f"{dict(of_recording - of_profile)} only recorded")
    return sum(map(len, profiled.values()))


def check_kernels(dagtap, run):
    return expect_same(*both(dagtap, run, is_dispatch), lambda row: row["name"].removesuffix(".kd"))


def check_copies(dagtap, run):
    return expect_same(*both(dagtap, run, lambda row: not is_dispatch(row)), lambda row: (row["bytes"], row["direction"]))


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


def same_operations(profiled, recorded):
    for operation in sorted(set(profiled) | set(recorded)):
        if profiled.get(operation) != recorded.get(operation):
            raise witness.Difference(f"{operation}: {profiled.get(operation)} in the profile, {recorded.get(operation)} recorded")
    if not profiled:
        raise witness.Difference("no operation of HLO")
    return f"{len(profiled)} operations, {sum(sum(kernels.values()) for kernels in profiled.values())} kernels"


def check_operations(dagtap, run, python):
    """Each operation of HLO has the same kernels in JAX's profile and in the recording, which is
    exported with it: the operations of XLA's tracer are not read, but derived from host events."""
    (profile,) = (run.folder / "profile").glob("**/*.xplane.pb")
    joined = run.folder / "joined.xplane.pb"
    subprocess.run([dagtap, "export", "--format", "xspace", "--with", profile, "-o", joined, run.recording], check=True)
    done = subprocess.run([python, pathlib.Path(__file__).with_name("hlo_operations.py"), profile, joined],
                          env=os.environ | {"JAX_PLATFORMS": "cpu"}, check=True, capture_output=True, text=True)
    profiled, recorded = json.loads(done.stdout)
    return same_operations(profiled, recorded)
