#!/usr/bin/env python3
"""JAX in two processes, a software GPU each, on two machines with clocks of their own: each process
is recorded, and the recordings are merged.

The second machine is a namespace of times, in which CLOCK_MONOTONIC is AHEAD_SECONDS ahead, so the
true difference of the clocks is known. RCCL's kernels wait for each other (rendezvous.c).

test_jax_rocm_ranks.py RELEASE. Exit status 77 where JAX is not set up, or there are no namespaces
that JAX's Python and the second machine need.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DAGTAP = pathlib.Path(os.environ["BUILD_DIR"]) / "bin" / "dagtap"
FOLDER = pathlib.Path(os.environ["DAGTAP_TEST_FOLDER"])
RENDEZVOUS = pathlib.Path(os.environ["WITNESSES"]) / "librendezvous.so"
RELEASE = sys.argv.pop()
PYTHON = pathlib.Path(os.environ["JAX_ROCM"]) / RELEASE / "python"
STEPS, AHEAD_SECONDS = 5, 1000
GATHERED_BYTES = 2 * 32 * 256 * 4  # of ranks.py: two ranks' rows
MACHINE = ["unshare", "--time", "--kill-child", *(["--map-root-user"] if os.geteuid() else []),
           "--monotonic", str(AHEAD_SECONDS)]


def ask(*arguments):
    done = subprocess.run([DAGTAP, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


def environment(rank):
    # Over sockets, as between machines: the software GPU shares no memory with other processes.
    return os.environ | {
        "NCCL_HOSTID": f"host{rank}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1", "NCCL_MAX_NCHANNELS": "1",
        # XLA would end the program on a slower machine, where RCCL's start takes longer.
        "XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_gpu_first_collective_call_terminate_timeout_seconds=100000",
        "TF_CPP_MIN_LOG_LEVEL": "2"}


def start(rank, address):
    variables = [f"LD_PRELOAD+={RENDEZVOUS}", f"RENDEZVOUS={FOLDER}/begun", f"RENDEZVOUS_RANK={rank}"]
    command = [DAGTAP, "record", "-q", "--softgpu=gfx90a,kernel_ns=1000", "-o", FOLDER / f"rank{rank}.dagtap", "--",
               PYTHON, HERE / "start.py", *variables, "--", HERE / "ranks.py", str(rank), address, str(STEPS)]
    machine = MACHINE if rank else []
    with open(FOLDER / f"rank{rank}.out", "w", encoding="utf-8") as out:
        # A session of its own, so that wait_for can end all of a rank's processes.
        return subprocess.Popen([*machine, *command], env=environment(rank), stdout=out, stderr=subprocess.STDOUT,
                                start_new_session=True)


def wait_for(processes):
    """Returns the exit statuses, in the order in which the ranks ended. A rank whose other one has
    failed would wait for it for ever."""
    running = {process.pid: process for process in processes}
    statuses = []
    while running:
        pid, status = os.wait()
        running.pop(pid).returncode = status = os.waitstatus_to_exitcode(status)
        statuses.append(status)
        if status:
            for process in running.values():
                os.killpg(process.pid, signal.SIGKILL)
    return statuses


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (FOLDER / "begun").write_bytes(bytes(8))
        with socket.socket() as port:
            # Kept from other programs. JAX's server shares it, because this socket does not listen.
            port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            port.bind(("127.0.0.1", 0))
            statuses = wait_for([start(rank, f"127.0.0.1:{port.getsockname()[1]}") for rank in (1, 0)])
        if statuses != [0, 0]:
            printed = "\n".join(path.read_text() for path in FOLDER.glob("rank*.out"))
            if statuses[0] == 77:
                print(printed)
                sys.exit(77)
            raise RuntimeError(printed)
        cls.job = FOLDER / "job.dagtap"
        cls.told = ask("merge", "-o", cls.job, FOLDER / "rank0.dagtap", FOLDER / "rank1.dagtap")
        cls.collectives = ask("collectives", "--json", cls.job)

    def test_programs_ended(self):
        for rank in range(2):
            last = (FOLDER / f"rank{rank}.out").read_text().splitlines()
            self.assertIn(f"rank {rank} of 2: {STEPS} steps on 1 GPU", last)

    def test_each_recording_is_accounted_for(self):
        for name in ("rank0", "rank1", "job"):
            self.assertIn("ok: everything is accounted for (recording complete)",
                          ask("check", FOLDER / f"{name}.dagtap").splitlines())

    def test_each_collective_is_matched(self):
        """The program's, in its order, each with both ranks."""
        rows = sorted(self.collectives["late"], key=lambda row: row["number"])
        self.assertEqual([(row["number"], row["ranks"]) for row in rows], [(n + 1, 2) for n in range(2 * STEPS)])
        self.assertEqual(sorted({row["operation"] for row in rows}), ["all_gather", "all_reduce"])
        self.assertEqual([row["rank"] for row in self.collectives["ranks"]], [0, 1])
        self.assertEqual(self.collectives["mismatched"], 0)
        self.assertNotIn("missing", self.told)
        # RCCL's kernels that the devices ran.
        self.assertEqual(struct.unpack("2I", (FOLDER / "begun").read_bytes()), (2 * STEPS, 2 * STEPS))

    def test_counts_and_bytes_are_the_programs(self):
        found = {row["operation"]: (row["count"], row["bytes"]) for row in self.collectives["operations"]}
        self.assertEqual(found, {"all_gather": (2 * STEPS, GATHERED_BYTES),
                                 "all_reduce": (2 * STEPS, GATHERED_BYTES // 2)})

    def test_the_clocks_differ_by_what_they_do(self):
        """Within the uncertainty that is stated, at each of the moments for which it is."""
        clocks = {clock["source"]: clock for clock in ask("info", "--json", self.job)["clocks"]}
        self.assertEqual(set(clocks), {"reference", "collectives"})
        clock = clocks["collectives"]
        # One line fits all: a clock in pieces has no uneven_ns either.
        self.assertEqual((clock["collectives"], clock["pieces"], clock["uneven_ns"]), (2 * STEPS, 1, 0))
        # Either rank may be the reference.
        ahead_ns = AHEAD_SECONDS * 10**9 * (1 if clock["file"].endswith("rank1.dagtap") else -1)
        for moment in clock["uncertainty"]:
            # The drift is of the file's host time; the moment is one of the reference.
            drift_ns = clock["drift_ppm"] * 1e-6 * (moment["ns"] - clock["offset_ns"] - clock["base_ns"])
            self.assertLessEqual(abs(clock["offset_ns"] + drift_ns + ahead_ns), moment["uncertainty_ns"])
        self.assertLess(clock["worst_ns"], AHEAD_SECONDS * 10**9)


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"not run: {PYTHON} is not there; make check-jax-rocm sets it up")
        sys.exit(77)
    # A clock that is ahead needs a right (CAP_SYS_TIME) that the namespace alone does not.
    if not shutil.which(MACHINE[0]) or subprocess.run([*MACHINE, "true"], check=False).returncode:
        print(f"not run: this machine gives no namespace of times ({' '.join(MACHINE)})")
        sys.exit(77)
    unittest.main(verbosity=2)
