#!/usr/bin/env python3
"""The plugin of JAX's profiler (docs/jax.md) in JAX for AMD GPUs, on the software GPU: what JAX's
own reader finds in the profile is what was recorded, and what XProf finds of memory is what JAX's
allocator counted. There is no rocprofiler-sdk, so XLA's tracer of GPUs does not start.

test_jax_rocm_plugin.py RELEASE. Exit status 77 where JAX is not set up, there is no mount
namespace, or only XProf is missing.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "conformance"))

import readers
from test_conformance_xspace import convert

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
PACKAGE = HERE.parent.parent / "python" / "dagtap" / "src"
FOLDER = pathlib.Path(os.environ["DAGTAP_TEST_FOLDER"])
RELEASE = sys.argv.pop()
PYTHON = pathlib.Path(os.environ["JAX_ROCM"]) / RELEASE / "python"


def dagtap(*arguments):
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "DAGTAP_PREFIX": str(BUILD),
                                "XLA_FLAGS": "--xla_gpu_autotune_level=0",
                                "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([BUILD / "bin" / "dagtap", *map(str, arguments)], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode == 77:
        print(done.stderr)
        sys.exit(77)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def install_xprof():
    """Returns whether XProf is there; from the package index, as in tests/conformance."""
    try:
        readers.install_readers()
    except SystemExit:
        return False
    return True


class Plugin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recording = FOLDER / "run.dagtap"
        output = dagtap("record", "-q", "--wait", "--softgpu=gfx90a,kernel_ns=1000", "-o", cls.recording, "--",
                        PYTHON, HERE / "plugin_steps.py", FOLDER / "profile")
        cls.shown = json.loads(output.splitlines()[-1])

    def test_the_profile_has_what_was_recorded(self):
        recording, shown = self.recording, self.shown
        recorded = json.loads(dagtap("summary", "--json", recording))
        self.assertEqual(shown["kernels"], {row["name"]: row["count"] for row in recorded["kernels"]})
        self.assertEqual(set(shown["kernels"].values()), {3})
        # Each call is inside of a step of JAX, on the thread's line of JAX.
        self.assertEqual(shown["inside"], sum(shown["calls"].values()))
        self.assertEqual(sum(count for name, count in shown["calls"].items() if "LaunchKernel" in name),
                         sum(shown["kernels"].values()))
        self.assertEqual(dagtap("check", recording).splitlines()[-1],
                         "ok: everything is accounted for (recording complete)")

    def test_memory_profile_has_each_allocation(self):
        if not install_xprof():
            self.skipTest("there is no XProf")
        profile, = (FOLDER / "profile").glob("plugins/profile/*/*.xplane.pb")
        (name, allocator), = convert(profile, "memory_profile")["memoryProfilePerAllocator"].items()
        before, after = self.shown["memory"]
        snapshots = allocator["sampledTimelineSnapshots"]  # a sample only of more than 1,000
        bytes_of = {"ALLOCATION": [], "DEALLOCATION": []}
        for snapshot in snapshots:
            activity = snapshot["activityMetadata"]
            bytes_of[activity["memoryActivity"]].append(int(activity["allocationBytes"]))
        self.assertEqual(name, "GPU_0_bfc")
        self.assertEqual(len(bytes_of["ALLOCATION"]), after["num_allocs"] - before["num_allocs"])
        # Temporary memory of the step before the profile may have been freed after "before".
        first = snapshots[0]["activityMetadata"]
        change = int(first["allocationBytes"]) * (1 if first["memoryActivity"] == "ALLOCATION" else -1)
        bytes_before = int(snapshots[0]["aggregationStats"]["heapAllocatedBytes"]) - change
        self.assertLessEqual(bytes_before, before["bytes_in_use"])
        self.assertEqual(sum(bytes_of["ALLOCATION"]) - sum(bytes_of["DEALLOCATION"]),
                         after["bytes_in_use"] - bytes_before)
        self.assertEqual(int(snapshots[-1]["aggregationStats"]["heapAllocatedBytes"]), after["bytes_in_use"])
        # The program's highest use is in the profile.
        self.assertGreater(after["peak_bytes_in_use"], before["peak_bytes_in_use"])
        self.assertEqual(int(allocator["profileSummary"]["peakStats"]["peakBytesInUse"]), after["peak_bytes_in_use"])
        self.assertEqual(int(allocator["profileSummary"]["peakBytesUsageLifetime"]), after["peak_bytes_in_use"])


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"not run: {PYTHON} is not there; make check-jax-rocm sets it up")
        sys.exit(77)
    result = unittest.main(verbosity=2, exit=False).result
    if result.wasSuccessful() and result.skipped:
        print(f"in part not run: {result.skipped[0][1]}")
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
