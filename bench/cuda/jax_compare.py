#!/usr/bin/env python3
"""jax_compare.py OURS.xplane.pb JAX.xplane.pb [BEGIN_NS]: the same program's GPU work as dagtap and
as jax.profiler saw it, both read by jax.profiler.ProfileData. BEGIN_NS: of ours only what starts
then (CLOCK_MONOTONIC) or later."""
import collections
import json
import sys

WITHIN = 0.01


def profile(path):
    from jax.profiler import ProfileData
    return ProfileData.from_file(str(path))


def clock_origin(planes):
    """CLOCK_MONOTONIC ns where the lines of dagtap's own XSpace begin."""
    for plane in planes:
        if plane.name == "/host:dagtap":
            return next(int(value) for name, value in plane.stats if name == "clock_origin")
    raise ValueError("not written by dagtap: no plane /host:dagtap")


def device_work(planes, begin_ns=None):
    """Count and ns by name of what lies on the GPUs' streams; other lines of these planes are
    derived from them."""
    origin = clock_origin(planes) if begin_ns else 0
    counts, times = collections.Counter(), collections.Counter()
    for plane in planes:
        if not plane.name.startswith("/device:GPU:"):
            continue
        for line in plane.lines:
            if not line.name.startswith("Stream #"):
                continue
            for event in line.events:
                if begin_ns and origin + event.start_ns < begin_ns:
                    continue
                counts[event.name] += 1
                times[event.name] += event.duration_ns
    return counts, times


def ratio(ours, theirs):
    return ours / theirs if theirs else float(ours == theirs)


def compare(ours, theirs):
    """Each is device_work's: totals, and every name whose count or share of time is another."""
    (our_counts, our_times), (their_counts, their_times) = ours, theirs
    names = sorted(set(our_counts) | set(their_counts))
    return {
        "events": [our_counts.total(), their_counts.total()],
        "ns": [our_times.total(), their_times.total()],
        "names": [len(our_counts), len(their_counts)],
        "names_of_one": [n for n in names if not (our_counts[n] and their_counts[n])],
        "counts_differ": [n for n in names if our_counts[n] != their_counts[n]],
        "by_name": {n: [our_counts[n], their_counts[n], our_times[n], their_times[n]] for n in names},
        "events_agree": our_counts.total() == their_counts.total(),
        "names_agree": set(our_counts) == set(their_counts),
        "counts_agree": all(abs(ratio(our_counts[n], their_counts[n]) - 1) <= WITHIN for n in names),
        "time_agrees": abs(ratio(our_times.total(), their_times.total()) - 1) <= WITHIN,
    }


def compare_files(ours, theirs, begin_ns=None):
    return compare(device_work(list(profile(ours).planes), begin_ns), device_work(list(profile(theirs).planes)))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    found = compare_files(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else None)
    print(json.dumps(found, indent=1))
    sys.exit(0 if all(found[key] for key in ("events_agree", "names_agree", "counts_agree", "time_agrees")) else 1)


if __name__ == "__main__":
    main()
