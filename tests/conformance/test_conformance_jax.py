#!/usr/bin/env python3
"""The plugin of JAX's profiler, loaded by jaxlib itself (for CPUs), with work on the software GPU;
XProf reads the profiles.

Without a network to get JAX and XProf from, the test is skipped (exit status 77), and says so.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import unittest

from readers import BUILD, HERE, READERS, WORK, dagtap, install_readers
from test_conformance_xspace import Viewer, convert, export, export_copy, rows_of

JAX = WORK / "jax"
PACKAGE = pathlib.Path(os.environ["SOURCE_DIR"]) / "python" / "dagtap" / "src"
STEPS = 3
KERNELS = 3  # of a step; see jax_work.c

# JAX needs packages of its own, which must not come in the way of the readers'.
ENVIRONMENT = {"PYTHONPATH": f"{JAX}:{PACKAGE}", "DAGTAP_PREFIX": str(BUILD), "JAX_PLATFORMS": "cpu"}


def profile_of(folder):
    found, = folder.glob("plugins/profile/*/*.xplane.pb")
    return found


def program(folder, *words):
    return [sys.executable, HERE / "jax_program.py", folder, BUILD / "tests" / "jax-work.so", *words]


def expect_all_accounted_for(test, recording):
    """The recording is complete, and witnesses say that nothing is missing."""
    found = json.loads(dagtap(test, "check", "--json", recording))
    test.assertEqual({name: found[name] for name in ("ok", "witnessed", "state", "lost")},
                     {"ok": True, "witnessed": True, "state": "complete", "lost": 0})


class Recorded(unittest.TestCase):
    """Two profiles of a program under `dagtap record --wait`."""

    @classmethod
    def setUpClass(cls):
        test = unittest.TestCase()
        cls.recording = WORK / "jax-plugin.dagtap"
        cls.folder = WORK / "jax-plugin"
        subprocess.run(["rm", "-rf", cls.folder], check=True)
        dagtap(test, "record", "--force", "--wait", "--softgpu", "-o", cls.recording, "--",
               *program(cls.folder), environment=ENVIRONMENT)
        cls.profiles = [profile_of(cls.folder / str(number)) for number in range(2)]
        cls.viewers = [Viewer(profile) for profile in cls.profiles]

    def test_kernels_are_those_of_the_recording(self):
        """Of the same device times, to the ns; each profile has its own."""
        recorded = json.loads(dagtap(self, "summary", "--json", self.recording))
        shown = [rows_of(convert(profile, "kernel_stats")) for profile in self.profiles]
        self.assertEqual([[row["occurrences"] for row in rows] for rows in shown],
                         [[KERNELS * STEPS]] * 2)
        self.assertEqual(recorded["kernels"][0]["count"], 2 * KERNELS * STEPS)
        times = sum(round(event["dur"] * 1000) for viewer in self.viewers
                    for event in viewer.device_events() if event["name"] == "mix")
        self.assertEqual(times, recorded["kernels"][0]["total_ns"])
        expect_all_accounted_for(self, self.recording)

    def test_steps_of_jax_have_the_work_inside_them(self):
        for viewer in self.viewers:
            self.assertEqual([event["name"] for event in viewer.derived("Steps")],
                             [f"train {step}" for step in range(STEPS)])
            groups = [event["args"]["group_id"] for event in viewer.device_events()]
            self.assertEqual([groups.count(str(step)) for step in range(STEPS)],
                             [KERNELS + 1] * STEPS)
            self.assertEqual({event["args"]["num_launches"]
                              for event in viewer.derived("Launch Stats")}, {str(KERNELS + 1)})

    def test_calls_are_inside_jax_events_of_their_thread(self):
        """One clock: a call lies inside the step's event on the host, its work behind its begin."""
        for viewer in self.viewers:
            host, = [events for events in viewer.lines.values()
                     if any(event["name"] == "train" or event["name"].startswith("train ")
                            for event in events) and any("correlation_id" in event["args"]
                                                         for event in events if "args" in event)]
            steps = [event for event in host if event["name"].startswith("train ")]
            calls = [event for event in host if event["name"].startswith("hip")]
            self.assertEqual(len(steps), STEPS)
            self.assertEqual(len(calls), (KERNELS + 1) * STEPS)
            for call in calls:
                inside = [step for step in steps if step["ts"] <= call["ts"] and
                          call["ts"] + call["dur"] <= step["ts"] + step["dur"]]
                self.assertEqual([step["args"]["group_id"] for step in inside],
                                 [call["args"]["group_id"]])
                for work in viewer.device_events():
                    if work["args"].get("correlation_id") == call["args"]["correlation_id"]:
                        self.assertGreater(work["ts"], call["ts"])

    def test_operations_are_derived(self):
        for viewer in self.viewers:
            self.assertEqual([event["name"] for event in viewer.derived("XLA Ops")],
                             ["fusion.1", "fusion.2"] * STEPS)
            self.assertEqual([event["name"] for event in viewer.derived("XLA Modules")],
                             ["jit_step(7)"] * STEPS)

    def test_overview(self):
        for profile in self.profiles:
            steps = rows_of(convert(profile, "overview_page")[1])
            self.assertEqual([row["stepnum"] for row in steps], [str(i) for i in range(STEPS)])
            self.assertTrue(all(row["deviceComputeTimeMs"] > 0 for row in steps))

    def test_dagtap_reads_the_profile(self):
        for profile in self.profiles:
            read = json.loads(dagtap(self, "summary", "--json", profile))
            self.assertEqual(read["kernels"][0]["count"], KERNELS * STEPS)


class Joined(unittest.TestCase):
    """A profile without the plugin, joined with the recording by --with."""

    @classmethod
    def setUpClass(cls):
        test = unittest.TestCase()
        cls.recording, folder = WORK / "jax-joined.dagtap", WORK / "jax-joined"
        subprocess.run(["rm", "-rf", folder], check=True)
        dagtap(test, "record", "--force", "--softgpu", "-o", cls.recording, "--",
               *program(folder, "alone"), environment=ENVIRONMENT)
        cls.profile = profile_of(folder / "1")
        cls.viewer = Viewer(export(test, cls.recording, "--with", cls.profile))

    def test_steps_of_jax_have_the_work_inside_them(self):
        """XProf puts work before the first step into none, so the first profile's is in none."""
        self.assertEqual([event["name"] for event in self.viewer.derived("Steps")],
                         [f"train {step}" for step in range(STEPS)])
        groups = [event["args"].get("group_id") for event in self.viewer.device_events()]
        self.assertEqual([groups.count(str(step)) for step in range(STEPS)],
                         [KERNELS + 1] * STEPS)

    def test_no_event_of_the_profile_is_lost(self):
        def names(viewer):
            return sorted(event["name"] for (_, line), events in viewer.lines.items()
                          for event in events if line.startswith("python3") and
                          not event["name"].startswith(("hip", "XlaModule:", "Thunk:")))

        alone = names(Viewer(export_copy(self.profile, "jax-joined-alone")))
        self.assertGreater(len(alone), STEPS)
        self.assertEqual(names(self.viewer), alone)


class Served(unittest.TestCase):
    """A profile that XProf requests from jax.profiler.start_server while the program runs."""

    def request(self, port, folder):
        """By the client that jax.collect_profile and XProf's page use; it returns at the end of the
        profile, of 1 s, a thousand times what a step takes."""
        code = ("import sys; from xprof.convert import _pywrap_profiler_plugin as plugin; "
                "plugin.trace(sys.argv[1], sys.argv[2], '', True, 1000, 3, {'host_tracer_level': 2,"
                " 'device_tracer_level': 1, 'python_tracer_level': 0})")
        done = subprocess.run([sys.executable, "-c", code, f"127.0.0.1:{port}", folder],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(READERS)})
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_the_profile_has_the_work(self):
        recording, folder = WORK / "jax-served.dagtap", WORK / "jax-served"
        subprocess.run(["rm", "-rf", folder], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = [BUILD / "bin" / "dagtap", "record", "--force", "--wait", "--softgpu", "-o",
                 recording, "--", *program(folder, "serve", str(port))]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, **ENVIRONMENT}) as served:
            self.assertEqual(served.stdout.readline(), "ready\n")
            self.request(port, folder)
            served.stdin.close()
            self.assertEqual(served.wait(), 0)
        profile = profile_of(folder)
        count = json.loads(dagtap(self, "summary", "--json", recording))["kernels"][0]["count"]
        rows = rows_of(convert(profile, "kernel_stats"))
        # A row for each operation; what ran outside of the first and last step that XProf sees has
        # no operation.
        self.assertEqual(sum(row["occurrences"] for row in rows), count)
        self.assertGreater(count, 0)
        steps = [event["name"] for event in Viewer(profile).derived("Steps")]
        self.assertTrue(steps and all(name.startswith("train ") for name in steps), steps)
        expect_all_accounted_for(self, recording)


class NotRecorded(unittest.TestCase):
    """The same program without `dagtap record`: JAX's profile is complete and says why ours is
    not."""

    def test_the_profile_says_so(self):
        folder = WORK / "jax-plugin-alone"
        subprocess.run(["rm", "-rf", folder], check=True)
        dagtap(self, "softgpu", "--", *program(folder), environment=ENVIRONMENT)
        for number in range(2):
            viewer = Viewer(profile_of(folder / str(number)))
            names = [event["name"] for events in viewer.lines.values() for event in events]
            self.assertEqual([name for name in names if name.startswith("train")],
                             [f"train {step}" for step in range(STEPS)])
            said = [name for name in names if "nothing was recorded" in name]
            self.assertEqual(len(said), 1, names)


class Unchanged(unittest.TestCase):
    """A recording that is on from the first use of a GPU: a profile divides it, and nothing of the
    program is lost."""

    def test_the_recording_is_divided(self):
        recording, folder = WORK / "jax-plugin-on.dagtap", WORK / "jax-plugin-on"
        subprocess.run(["rm", "-rf", folder], check=True)
        dagtap(self, "record", "--force", "--softgpu", "-o", recording, "--", *program(folder),
               environment=ENVIRONMENT)
        read = json.loads(dagtap(self, "summary", "--json", recording))
        # The program's first run of the work, before the first profile, too.
        self.assertEqual(read["kernels"][0]["count"], KERNELS * (2 * STEPS + 1))
        for number in range(2):
            rows = rows_of(convert(profile_of(folder / str(number)), "kernel_stats"))
            self.assertEqual([row["occurrences"] for row in rows], [KERNELS * STEPS])
        expect_all_accounted_for(self, recording)


if __name__ == "__main__":
    install_readers()
    install_readers("requirements-jax.txt", JAX)
    unittest.main(verbosity=2)
