#!/usr/bin/env python3
"""check_calls.py [--write] [--preload LIBRARY] [--cuda DRIVER RUNTIME]: the lists of graph calls
(calls_*.list) against the calls that there are, and the page that is made of the lists.

HIP's calls are those of src/vendor/hip_api.list, CUDA's the symbols of the toolkit's libraries
(libcuda.so of its stubs, libcudart.so). Rows with "since CUDA" are calls that CUDA 13.0 lacks, by
the headers of CUDA 13.5; libraries may lack them. What the lists say of each call is checked by
conform_cuda.c and conform_hip.c. Each wrapper of LIBRARY has to be listed. --write makes
docs/dagpatch-preload-calls.md anew."""

import argparse
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE = TOP / "tests/preload"
PAGE = TOP / "docs/dagpatch-preload-calls.md"

GRAPH = (
    r"(Graph(?!ics)[A-Z]|Stream(BeginCapture|BeginRecapture|EndCapture|IsCapturing|GetCaptureInfo|UpdateCaptureDep)"
    r"|ThreadExchangeStreamCapture|UserObject|Device(GetGraphMem|SetGraphMem|GraphMem))"
)
WORDS = {
    "VIRTUAL": "virtual",
    "PASSED_ON": "passed on",
    "PASSES": "passes through",
    "NOTED": "passed on, and noted",
    "DRIVERS": "the driver's",
}


def read_list(name):
    """The rows (call, what is said of it), and {call: release} of those that CUDA 13.0 lacks."""
    lines = [line for line in (HERE / name).read_text().splitlines() if line.startswith("CALL")]
    found = [re.fullmatch(r"CALL\((\w+), (\w+)\)(?: /\* since CUDA (13\.[1-5]) \*/)?", line) for line in lines]
    if not all(found):
        sys.exit(f"{name}: {lines[found.index(None)]} is no row")
    rows = [(row[1], row[2]) for row in found]
    if len(rows) != len(dict(rows)):
        sys.exit(f"{name}: a call is there twice")
    return rows, {row[1]: row[3] for row in found if row[3]}


def compare(what, pattern, listed, present, later=()):
    """Each graph call that is present is listed, and no other one, but those of LATER releases."""
    listed = {name for name in listed if re.match(pattern + GRAPH, name)}
    present = {name for name in present if re.match(pattern + GRAPH, name)}
    unlisted, absent = present - listed, listed - present - set(later)
    for name in sorted(unlisted):
        print(f"{what}: {name} is not listed")
    for name in sorted(absent):
        print(f"{what}: {name} is listed and does not exist")
    print(f"{what}: {len(present)} graph calls")
    return not unlisted and not absent and bool(present)


def symbols(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in text.stdout.splitlines() if line.split()}


def asked(library):
    """Graph calls of the driver whose names the runtime has: it asks cuGetProcAddress for them."""
    return set(re.findall(rb"\0(cu[A-Z]\w+)(?=\0)", pathlib.Path(library).read_bytes()))


def check_cuda(driver_library, runtime_library, driver, runtime, later):
    names = {name for name, _ in driver}
    present = symbols(runtime_library)
    is_right = compare("CUDA driver", "cu", names, symbols(driver_library), later)
    is_right &= compare("CUDA runtime", "cuda", {name for name, _ in runtime}, present, later)
    strings = {name.decode() for name in asked(runtime_library)}
    for name, call in runtime:
        if call not in names or (name in present and call not in strings):
            print(f"CUDA runtime: {name} cannot call {call}")
            is_right = False
    for name in sorted(name for name in strings if re.match("cu" + GRAPH, name) and name not in names):
        print(f"CUDA runtime: it asks for {name}, which is not listed")
        is_right = False
    return is_right


def check_wrappers(library, rows):
    """The library exports the calls that are listed as wrapped, and its dlsym by both names."""
    exported = set(symbols(library)) - {"dlsym", "dagtap_dlsym_of_handle_v1"}
    listed = {name for name, row in rows if row != "DRIVERS"}
    for name in sorted(exported ^ listed):
        print(f"{library}: {name} is {'not listed' if name in exported else 'not exported'}")
    return exported == listed


def hip_calls():
    lines = (TOP / "src/vendor/hip_api.list").read_text().splitlines()
    return {line.split()[3].split("=")[0] for line in lines if line and not line.startswith("#")}


def table(rows, header):
    yield f"| {header} | |"
    yield "|---|---|"
    for name, text in rows:
        yield f"| `{name}` | {text} |"


PAGE_HEAD = """# What the preload library does with each graph call

This page is for developers who want to know what `libdagpatch-preload.so` does with a call
([dagpatch-preload.md](dagpatch-preload.md)). `tests/preload/check_calls.py --write` makes it of the
lists in `tests/preload`, and compares these with the symbols of CUDA 13.0's libraries and with
HIP's functions up to 7.2. Calls that CUDA 13.0 lacks are those of the headers of CUDA 13.5.

| | |
|---|---|
| virtual | noted, or served by one of the reals |
| passed on | to the first real, after it was given what is wanted |
| passes through | the executable is passed through from then on |
| passed on, and noted | the library notes that graphs have changed, that a stream or functions end, or gives wrappers |
| the driver's | not wrapped |

Each row is tested: `preload_conform_cuda` and `preload_conform_hip` make the call on an executable
whose wanted set is not in it yet, and count what reaches the driver then and afterwards. On CUDA
the driver is the played one of `tests/patch_cuda`; on HIP it is 5.2.3, and 6.4.3 and 7.2.4 in
`tests/rocm`, over the software GPU. Calls for which the driver would need more than the test has,
and those that a release does not have, end behind the library. What launches compute afterwards is
tested by the other tests of `tests/preload`.
"""

CIG_NOTE = """
Executables that are made with CUDA's flag for device launch are plain ones. Work in a stream
between `cuStreamBeginCaptureToCig` and its end goes into a command list of a graphics library; it
is treated as captured if `cuStreamIsCapturing` says so, which was not tried.
"""

RUNTIME_HEAD = """## CUDA runtime API

The runtime asks `cuGetProcAddress` for the functions of the driver API, and so gets the wrappers.
Each row names the call of the driver API, by name: that the runtime makes it is not tested, only
that its library asks for a function of this name.
"""

HIP_NOTE = """On HIP 6.3 to 7.1, which forget memsets, `hipGraphExecMemsetNodeSetParams` passes through; before
6.4 `hipGraphExecChildGraphNodeSetParams` does. `hipGraphInstantiateWithFlags` is virtual with no
flags. Calls that set a node inside of a child graph pass through.
"""


def make_page(driver, runtime, hip, later):
    classes = dict(driver)

    def since(name):
        return f" (since CUDA {later[name]})" if name in later else ""

    yield PAGE_HEAD
    yield "## CUDA driver API\n"
    yield from table([(name, WORDS[row] + since(name)) for name, row in driver], "call")
    yield CIG_NOTE
    yield RUNTIME_HEAD
    yield from table(
        [(name, f"`{call}`: {WORDS[classes[call]]}{since(name)}") for name, call in runtime], "call"
    )
    yield "\n## HIP\n"
    yield HIP_NOTE
    yield from table([(name, WORDS[row]) for name, row in hip], "call")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--preload")
    parser.add_argument("--cuda", nargs=2)
    arguments = parser.parse_args()
    (driver, later), (runtime, runtime_later), (hip, _) = (
        read_list(f"calls_{name}.list") for name in ("cuda", "cudart", "hip")
    )
    later |= runtime_later
    is_right = compare("HIP", "hip(Drv)?", {name for name, _ in hip}, hip_calls())
    if arguments.preload:
        is_right &= check_wrappers(arguments.preload, driver + hip)
    if arguments.cuda:
        is_right &= check_cuda(*arguments.cuda, driver, runtime, later)
    page = "\n".join(make_page(driver, runtime, hip, later)) + "\n"
    if arguments.write:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        print(f"{PAGE} is not what the lists make: check_calls.py --write")
        is_right = False
    sys.exit(not is_right)


if __name__ == "__main__":
    main()
