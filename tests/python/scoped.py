"""A program with scopes, steps and ranges around GPU work, for test_python_scopes.py: runs what its
first argument names and prints, in JSON, what it knows of it."""

import ctypes
import json
import os
import pathlib
import sys
import threading

import hip

import dagtap

COUNT = 64
# As the calls of a library that is linked to HIP, and not of one that asks dlsym for HIP's own.
hip.hip = ctypes.CDLL(None)
hip.skip_without_gpu()
stream = hip.Stream()
source, target = hip.Memory(range(COUNT)), hip.Memory([0] * COUNT)


def submit(handle=None):
    """Two kernels, branch and mix."""
    handle = handle or stream.handle
    hip.work.work_submit_branch(handle, target.data_ptr(), source.data_ptr(), 3, COUNT)
    hip.work.work_submit_mix(handle, target.data_ptr(), 5, COUNT)


class Number(int):
    """An integral number that is no int of Python's own."""


def scopes():
    with dagtap.scope("forward", layer=Number(3), rate=0.5, kind="gelu", on=True, big=2**64 - 1):
        submit()

    @dagtap.scope("update")
    def update(factor, *, term):
        """Two kernels more."""
        submit()
        return factor + term

    results = [update(1, term=2), update.__name__, update.__doc__]
    for number in range(2):
        with dagtap.step("train", number):
            with dagtap.scope("nul\0 \ud800"):
                submit()
    try:
        with dagtap.scope("raises"):
            submit()
            raise KeyError("through")
    except KeyError as error:
        results.append(error.args[0])
    with dagtap.scope("outer"):
        path = dagtap.scope_path()

        def work():
            with dagtap.attached(path), dagtap.scope("inner"):
                submit()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        results.append(len(path))
    dagtap.note("a line of the program")
    results.append(dagtap.is_recording())
    return results


def graph():
    """Work that is captured in one scope and replayed in others."""
    with dagtap.scope("capture"):
        captured = hip.captured(stream, submit)
    captured.instantiate()
    for number in range(3):
        with dagtap.scope("replay", number=number):
            captured.replay()
    stream.synchronize()


def ranges():
    """Two parts; in the second one, parts inside of each other."""
    submit()
    with dagtap.record() as first:
        with dagtap.scope("in the first"):
            submit()
    submit()
    recorder = dagtap.record(required=True)

    @recorder
    def second():
        with recorder as inner, dagtap.scope("in the second"):
            submit()
            submit()
        submit()
        return inner

    with dagtap.record() as outer:
        inner = second()
    counts = []
    for part in first, outer:
        recording = part.open()
        kernels = [row["scope"] for row in recording["activities"] if row["kind"] == "kernel"]
        counts.append([part.is_recording, kernels, recording.check()["ok"]])
    try:
        inner.open()
    except dagtap.Error as error:
        counts.append(str(error))
    return counts


def nothing():
    """Without `dagtap record`."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with dagtap.record() as part, dagtap.scope("a", b=1), dagtap.step("c", 2):
                dagtap.note("nobody reads this")
                submit()
    try:
        with dagtap.record(required=True):
            pass
    except dagtap.NotRecordedError as error:
        refused = str(error)
    try:
        part.open()
    except dagtap.Error as error:
        reason = str(error)
    libraries = pathlib.Path("/proc/self/maps").read_text()
    return [
        [str(warning.message) for warning in caught],
        caught[0].category.__name__,
        pathlib.Path(caught[0].filename).name,
        refused,
        reason,
        dagtap.is_recording(),
        dagtap.scope_path(),
        "libdagtap.so" in libraries,
    ]


result = globals()[sys.argv[1]]()
stream.synchronize()
pathlib.Path(os.environ["RESULT"]).write_text(json.dumps(result))
