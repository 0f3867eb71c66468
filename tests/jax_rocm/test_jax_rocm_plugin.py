#!/usr/bin/env python3
"""The plugin of JAX's profiler (docs/jax.md) in JAX for AMD GPUs, on the software GPU: what JAX's
own reader finds in the profile is what was recorded.

test_jax_rocm_plugin.py RELEASE. Exit status 77 where JAX is not set up, or there is no mount
namespace.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
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


class Plugin(unittest.TestCase):
    def test_the_profile_has_what_was_recorded(self):
        recording = FOLDER / "run.dagtap"
        output = dagtap("record", "-q", "--wait", "--softgpu=gfx90a,kernel_ns=1000", "-o", recording, "--",
                        PYTHON, HERE / "plugin_steps.py", FOLDER / "profile")
        shown = json.loads(output.splitlines()[-1])
        recorded = json.loads(dagtap("summary", "--json", recording))
        self.assertEqual(shown["kernels"], {row["name"]: row["count"] for row in recorded["kernels"]})
        self.assertEqual(set(shown["kernels"].values()), {3})
        # Each call is inside of a step of JAX, on the thread's line of JAX.
        self.assertEqual(shown["inside"], sum(shown["calls"].values()))
        self.assertEqual(sum(count for name, count in shown["calls"].items() if "LaunchKernel" in name),
                         sum(shown["kernels"].values()))
        self.assertIn("ok", dagtap("check", recording))


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"not run: {PYTHON} is not there; make check-jax-rocm sets it up")
        sys.exit(77)
    unittest.main(verbosity=2)
