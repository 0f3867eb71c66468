#!/usr/bin/env python3
"""JAX for AMD GPUs on the software GPU, under dagtap: what was recorded against what others saw.

judge.py CASE RELEASE. Each case runs a program with JAX of that release, under `dagtap record` and
beside it, and checks the recordings against the software GPU's work log, the call counter and the
graph watch (witness.py), and against each other. One line for each check; exit status 1 when any
failed, 77 where there is no mount namespace.

BUILD_DIR: dagtap; JAX_ROCM: the folder of scripts/jax-rocm.sh; WITNESSES: the folder of
libcall-counter.so and libgraph-watch.so; DAGTAP_TEST_FOLDER: where the recordings go.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys

import updates
import witness
import xla_profile

HERE = pathlib.Path(__file__).resolve().parent
DAGTAP = pathlib.Path(os.environ["BUILD_DIR"]) / "bin/dagtap"
PRELOAD = pathlib.Path(os.environ["BUILD_DIR"]) / "lib/dagtap/libdagpatch-preload.so"
FOLDER = pathlib.Path(os.environ["DAGTAP_TEST_FOLDER"])
JAX = pathlib.Path(os.environ["JAX_ROCM"])
WITNESSES = pathlib.Path(os.environ["WITNESSES"])
# Triton has the matrix products, and no algorithm is chosen by measuring: every run does the same.
STEADY = "--xla_gpu_autotune_level=0"
LIBRARIES = STEADY + " --xla_gpu_enable_triton_gemm=false"
# RCCL's start takes half a minute here; XLA would end the program for that on a slower machine.
PATIENT = STEADY + " --xla_gpu_first_collective_call_terminate_timeout_seconds=100000"
NO_COMMAND_BUFFERS = STEADY + " --xla_gpu_enable_command_buffer="


class Run:
    """One run of a program, and what it left in a folder of its own."""

    def __init__(self, release, name, program, flags=STEADY, device="gfx90a", traced=True, tables=False,
                 segments=True, preloaded=False, profiled=False, alone=False):
        self.name = name
        self.folder = FOLDER / name
        self.folder.mkdir()
        self.recording = self.folder / "run.dagtap"
        device = f"{device},kernel_ns=1000,work_log={self.folder}/work_log"
        python = JAX / release / "python"
        arguments = [*program[1:], *([self.folder / "profile"] if profiled else [])]
        # libgraph-watch.so passes calls on to a library that `dagtap record` preloads.
        variables = [*self.variables(traced and not alone, tables, preloaded), *(self.found_alone() if alone else [])]
        command = [python, HERE / "start.py", *variables, "--", HERE / program[0], *arguments]
        if traced and not alone:
            sdk = ["--sdk"] if profiled else []
            command = [DAGTAP, "record", *sdk, "-q", "--calls", "all", f"--softgpu={device}", "-o", self.recording, "--", *command]
        else:
            command = [DAGTAP, f"softgpu={device}", "--", *command]
        # HIP's own way with graphs, which fails for child graphs (python.sh).
        environment = os.environ | {"XLA_FLAGS": flags, "TF_CPP_MIN_LOG_LEVEL": "2",
                                    "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING": str(int(segments))}
        if not python.exists():
            print(f"not run: {python} is not there; make check-jax-rocm sets it up")
            sys.exit(77)
        self.done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if self.done.returncode == 77:
            print(self.done.stderr)
            sys.exit(77)
        if self.done.returncode:
            sys.exit(f"{name}: exit status {self.done.returncode}\n{self.done.stdout}{self.done.stderr}")
        if alone:
            # The last one: of the profile.
            self.recording = max((self.folder / "spools").glob("*.spool"), key=lambda path: int(path.name.split(".")[1]))
        if traced:
            witness.export(DAGTAP, self.recording, self.folder)
            self.evidence = witness.Evidence(self.folder)
        else:
            self.evidence = witness.Witnesses(self.folder)

    def found_alone(self):
        """The profiler finds dagtap's librocprofiler-sdk.so.1, and nobody records the program."""
        (self.folder / "spools").mkdir()
        yield f"LD_LIBRARY_PATH+={DAGTAP.parent.parent}/lib/dagtap/sdk"
        yield f"DAGTAP_SPOOL={self.folder}/spools"

    def variables(self, traced, tables, preloaded):
        yield f"LD_AUDIT={WITNESSES}/libcall-counter.so"
        yield f"CALL_COUNTS={self.folder}/calls"
        if tables:
            # The libraries have to be there before XLA's plugin asks for them: it loads them late.
            yield f"LD_PRELOAD+={JAX}/libhand-over.so:libamdhip64.so.7:librccl.so.1"
        elif traced:
            yield f"LD_PRELOAD+={WITNESSES}/libgraph-watch.so"
            yield f"GRAPH_WATCH={self.folder}/graph_watch"
        if preloaded:
            yield f"LD_PRELOAD+={PRELOAD}"
            yield f"DAGPATCH_PRELOAD_STATS={self.folder}/preload"
            # Stated, so that it does not depend on the machine whether executables pass through.
            yield "DAGPATCH_PRELOAD_COSTS=150,12,1"


class Judge:
    """Prints what was checked, and remembers whether anything failed."""

    def __init__(self):
        self.failed = False

    def recording(self, run, names=None):
        print(f"-- {run.name}: {run.done.stdout.strip()}")
        self.failed |= bool(witness.run_checks(run.evidence, names))

    def check(self, what, function, *arguments):
        try:
            print(f"ok {what} {function(*arguments)}")
        except witness.Difference as difference:
            print(f"FAILED {what}: {difference}")
            self.failed = True

    def same(self, what, one, other):
        self.check(what, same_counts, one, other)


def same_counts(one, other):
    names = sorted(name for name in set(one) | set(other) if one[name] != other[name])
    if names:
        raise witness.Difference(
            f"{len(names)} differ, first {names[0]}: {one[names[0]]} and {other[names[0]]}"
        )
    return sum(one.values())


def kernels(run):
    return collections.Counter(row["kernel"] for row in run.evidence.log if row["type"] == "dispatch")


def work(run):
    """What the device was given: packets with their shapes, copies with their bytes. But for
    barriers: HIP puts one in where it finds that the device is not as far yet, in every run
    others."""
    seen = collections.Counter()
    for row in run.evidence.log:
        if row["type"].startswith("barrier"):
            continue
        shape = ([row[name] for name in witness.SHAPE] if row["type"] == "dispatch"
                 else [row["bytes"], row["source"], row["destination"]])
        seen[(row["type"], row["kernel"], *shape)] += 1
    return seen


# How often XLA calls these depends on how far the device is: two runs without a tool differ in
# them, too.
BY_TIME = {"hipEventCreateWithFlags", "hipEventDestroy", "hipSetDevice", "hipStreamWaitEvent", "hipHostFree",
           "hipHostMalloc"}


def calls(run):
    """By name and caller."""
    counts = collections.Counter()
    for (name, caller, _), count in run.evidence.calls.items():
        if name not in BY_TIME and not witness.NO_PROGRAMS.match(caller):
            counts[name, caller] += count
    return counts


def output(run):
    return collections.Counter(run.done.stdout.splitlines())


def has_graphs(run):
    launches = run.evidence.summary["totals"]["graph_launches"]
    if not launches:
        raise witness.Difference("no graph was launched")
    return launches


def has_child_graphs(run):
    children = [node for node in run.evidence.nodes if node["child_graph"]]
    if not children:
        raise witness.Difference("no node is a graph")
    return len(children)


def has_none(run):
    if run.evidence.summary["totals"]["graph_launches"]:
        raise witness.Difference("a graph was launched")
    return 0


def has_no_device_counters(run):
    told = [source["name"] for source in run.evidence.ledger["sources"] if source["name"].startswith("softgpu")]
    if told:
        raise witness.Difference(f"the ledger has {told[0]}")
    return len(run.evidence.ledger["sources"])


def tables_were_taken(run, names):
    states = {source["name"]: source["state"] for source in run.evidence.ledger["sources"]}
    off = [name for name in names if states.get(name) != "on"]
    if off:
        raise witness.Difference(f"not taken: {', '.join(off)}")
    return len(names)


def train(judge, release):
    """Traced and not, with command buffers and without, by symbols and by tables."""
    program = ["train.py", "10"]
    traced = Run(release, "traced", program)
    judge.recording(traced)
    judge.check("graphs", has_graphs, traced)
    judge.check("updates", updates.check_updates, traced.evidence)
    judge.check("advice", updates.check_advice, traced.evidence)

    plain = Run(release, "plain", program, traced=False)
    for what in (output, work, calls):
        judge.same(f"{what.__name__}_as_untraced", what(traced), what(plain))

    eager = Run(release, "eager", program, flags=NO_COMMAND_BUFFERS, device="gfx90a,counters=0")
    judge.recording(eager)
    judge.check("device_tells_nothing", has_no_device_counters, eager)
    judge.check("no_graphs", has_none, eager)
    judge.same("kernels_without_command_buffers", kernels(traced), kernels(eager))

    tables = Run(release, "tables", program, tables=True)
    judge.check("tables", tables_were_taken, tables, ["hip.table", "hsa.table"])
    judge.recording(tables)
    judge.same("kernels_by_tables", kernels(traced), kernels(tables))


def sharded(judge, release):
    """Two GPUs with RCCL."""
    for name, by_tables in (("symbols", False), ("tables", True)):
        run = Run(release, name, ["sharded.py", "5"], flags=PATIENT, device="gfx90a,gpus=2", tables=by_tables)
        judge.recording(run)
        if by_tables:
            judge.check("tables", tables_were_taken, run, ["hip.table", "hsa.table", "rccl.table"])
        else:
            judge.check("collectives", updates.check_collectives, run.evidence)


def autotuned(judge, release):
    """Algorithms chosen by measuring, among those of Debian's hipBLASLt."""
    judge.recording(Run(release, "autotuned", ["train.py", "3"], flags="", segments=False))


def libraries(judge, release):
    """Matrix products by hipBLASLt and rocBLAS, which XLA captures from a stream into child
    graphs."""
    run = Run(release, "libraries", ["train.py", "10"], flags=LIBRARIES, segments=False)
    judge.recording(run)
    judge.check("graphs", has_graphs, run)
    judge.check("child_graphs", has_child_graphs, run)


def fourier(judge, release):
    """MIOpen and rocFFT."""
    run = Run(release, "fourier", ["fourier.py", "3"])
    # A destructor of librocfft.so.0's, after the recording has ended.
    run.evidence.calls_after_the_end["hipStreamDestroy"] = 1
    judge.recording(run)


def long(judge, release):
    """2,000 steps."""
    run = Run(release, "long", ["train.py", "2000"])
    judge.recording(run)
    judge.check("updates", updates.check_updates, run.evidence)


def two(judge, release):
    """Two processes at once."""
    judge.recording(Run(release, "two", ["two.py", "train.py", "5"]))


def preload_counters(run):
    lines = (run.folder / "preload").read_text().splitlines()
    counters = [json.loads(line) for line in lines]
    if len(counters) != 1:
        raise witness.Difference(f"{len(counters)} processes wrote counters")
    return counters[0]


def avoids_calls(run):
    """Prints the share of calls that set a node and reached HIP."""
    counters = preload_counters(run)
    sets, reached = counters["sets"], counters["driver_sets"]
    if not sets or counters["failures"] or not reached < sets:
        raise witness.Difference(f"{reached} of {sets} calls reached HIP, {counters['failures']} inner failures")
    text = f"{100 * reached / sets:.1f} % of {sets} calls that set a node reached HIP, {counters['launches']} launches"
    passed = {name: value for name, value in counters.items() if name.startswith("pass_") and value}
    return f"{text}, {counters['child_reads']} child graphs read, passed through: {passed or 'none'}"


def preloaded(judge, release):
    """libdagpatch-preload.so under the program, which is not changed: the same results and the same
    work for the device, with matrix products in kernels of XLA's and in child graphs of
    libraries."""
    for name, flags, segments in (("train", STEADY, True), ("libraries", LIBRARIES, False)):
        program = ["train.py", "300"]
        plain = Run(release, f"{name}_plain", program, flags=flags, traced=False, segments=segments)
        other = Run(release, f"{name}_preloaded", program, flags=flags, traced=False, segments=segments,
                    preloaded=True)
        print(f"-- {other.name}: {other.done.stdout.strip()}")
        judge.same(f"{name}_output", output(plain), output(other))
        judge.same(f"{name}_work", work(plain), work(other))
        judge.check(f"{name}_calls", avoids_calls, other)


def profiled(judge, release):
    """JAX's own profiler, which gets its records from dagtap."""
    run = Run(release, "profiled", ["profiled.py", "10"], profiled=True)
    judge.recording(run)
    judge.check("graphs", has_graphs, run)
    judge.check("profiler", xla_profile.check_kernels, DAGTAP, run)
    judge.check("profiler_copies", xla_profile.check_copies, DAGTAP, run)
    judge.check("profiler_graphs", xla_profile.check_graphs, DAGTAP, run)
    judge.check("profiler_operations", xla_profile.check_operations, DAGTAP, run, JAX / release / "python")


def profiled_alone(judge, release):
    """The same without `dagtap record`."""
    run = Run(release, "profiled_alone", ["profiled.py", "10"], profiled=True, alone=True)
    print(f"-- {run.name}: {run.done.stdout.strip()}")
    judge.check("profiler", xla_profile.check_kernels, DAGTAP, run)
    judge.check("profiler_copies", xla_profile.check_copies, DAGTAP, run)
    judge.check("profiler_graphs", xla_profile.check_graphs, DAGTAP, run)


CASES = {case.__name__: case
         for case in (train, sharded, autotuned, libraries, fourier, long, two, preloaded, profiled, profiled_alone)}


def main():
    judge = Judge()
    CASES[sys.argv[1]](judge, sys.argv[2])
    sys.exit(judge.failed)


if __name__ == "__main__":
    main()
