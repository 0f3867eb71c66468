#!/usr/bin/env python3
"""dagtap export --format otf2, read by otf2-print: every row of the tables is there once, nested,
with its times and attributes; and the folder appears complete or not at all."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["BUILD_DIR"])

sys.path.insert(0, str(SOURCE / "tests" / "conformance"))
# pylint: disable=wrong-import-position
from otf2_rows import expect_rows, read_printed
from table_csv import RECORDINGS


def export(out, *options, recording=RECORDINGS[2]):
    return subprocess.run([BUILD / "bin" / "dagtap", "export", "--format", "otf2", *options, "-o",
                           out, recording], check=False, capture_output=True, text=True)


class Archive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.out = self.path / "run.otf2"

    def expect_refused(self, result, text):
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn(text, result.stderr)
        self.assertEqual(list(self.path.glob(".*")), [])

    def test_rows_equal_csv(self):
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name):
                out = self.path / recording.name
                self.assertEqual(export(out, recording=recording).returncode, 0)
                expect_rows(self, recording, read_printed(self, out))

    def test_exports_are_equal(self):
        """From run to run, and with any number of threads."""
        contents = []
        for number, options in enumerate([(), (), ("--threads", "1"), ("--threads", "3")]):
            out = self.path / str(number)
            self.assertEqual(export(out, *options).returncode, 0)
            contents.append({file.relative_to(out): file.read_bytes()
                             for file in out.rglob("*") if file.is_file()})
        self.assertGreater(len(contents[0]), 3)
        for other in contents[1:]:
            self.assertEqual(other, contents[0])

    def test_sample(self):
        """Overlapping kernels, overlapping ranges, an untimed activity, marks."""
        subprocess.run([BUILD / "tests" / "write_sample", "otf2", self.out], check=True)
        regions = read_printed(self, self.out)
        places = [(region.location, region.name, region.begin - 1000000, region.end - 1000000)
                  for region in regions]
        self.assertEqual(sorted(places), sorted(SAMPLE))
        orphan = next(region for region in regions if region.name == "orphan")
        self.assertEqual(orphan.attributes["untimed"], "not finished when tracing ended")
        first = next(region for region in regions if region.name.startswith("void a<int"))
        self.assertEqual(first.attributes, {"category": "kernel", "cid": 1, "graph": 7, "exec": 9,
                                            "replay": 0, "node": 0, "scope": 'step "1"/layer'})

    def test_groups_and_clock(self):
        subprocess.run([BUILD / "tests" / "write_sample", "otf2", self.out], check=True)
        printed = subprocess.run(["otf2-print", "-G", self.out / "traces.otf2"], check=True,
                                 capture_output=True, text=True).stdout
        self.assertRegex(printed, r'LOCATION_GROUP +0 .*"program, process 100" <\d+>, '
                                  r'Type: PROCESS, .*Creator: UNDEFINED')
        self.assertRegex(printed, r'LOCATION_GROUP +1 .*"GPU 0 \(gfx906\)" <\d+>, '
                                  r'Type: ACCELERATOR, .*Creator: "program, process 100" <0>')
        self.assertIn("Ticks per Seconds: 1000000000, Global Offset: 1000900, Length: 8100",
                      printed)

    def test_existing_folder_is_kept(self):
        self.out.mkdir()
        (self.out / "mine").touch()
        self.expect_refused(export(self.out), "exists already; --force replaces it")
        self.expect_refused(export(self.out, "--force"), "no folder that otf2 wrote")
        self.assertEqual([entry.name for entry in self.out.iterdir()], ["mine"])

    def test_force_replaces_an_archive(self):
        self.assertEqual(export(self.out).returncode, 0)
        old = (self.out / "traces.otf2").stat().st_ino
        self.assertEqual(export(self.out, "--force").returncode, 0)
        self.assertNotEqual((self.out / "traces.otf2").stat().st_ino, old)
        self.assertEqual([entry.name for entry in self.path.iterdir()], ["run.otf2"])

    def test_name_that_ends_in_a_slash(self):
        self.assertEqual(export(f"{self.out}/").returncode, 0)
        self.assertTrue((self.out / "traces.otf2").exists())

    def test_folder_that_is_not_there(self):
        self.expect_refused(export(self.path / "none" / "run"), "No such file or directory")

    def test_standard_output_is_refused(self):
        result = export("-")
        self.assertEqual(result.returncode, 2)
        self.assertIn("otf2 is a folder", result.stderr)

    def test_same_recording_gives_same_events(self):
        """libotf2 gives each archive a number of its own, so the bytes differ."""
        one, two = (self.path / name for name in ("one", "two"))
        for out in (one, two):
            export(out, recording=RECORDINGS[1])
        self.assertEqual(read_printed(self, one), read_printed(self, two))


# Places, names and times in ns of the sample (sample.h): the kernels of the first replay overlap.
KERNEL = "void a<int, 4>(int*)"
SAMPLE = [
    ("thread 100, program", 'step "1"', 900, 3000),
    ("thread 100, program", "layer", 950, 2000),
    ("thread 100, program", "hipGraphLaunch", 1000, 1100),
    ("thread 100, program", "hipGraphLaunch", 1200, 1300),
    ("thread 100, program", "hipMemcpyAsync", 2500, 2600),
    ("thread 100, program, ranges", "range 1", 1000, 2000),
    ("thread 100, program, ranges 2", "range 2", 1500, 9000),
    ("thread 101, worker", "mark", 1600, 1600),
    ("thread 101, worker", "hipMemset", 2500, 2900),
    ("thread 101, worker", "hipMemset", 2550, 2900),
    ("stream 1", KERNEL, 1200, 1500),
    ("stream 1, overlapping 1", "b", 1300, 1700),
    ("stream 1, overlapping 2", KERNEL, 1400, 1450),
    ("stream 1", KERNEL, 1700, 1800),
    ("stream 1", "b", 1800, 1900),
    ("stream 1", KERNEL, 1900, 1900),
    ("stream 0", "copy H2D", 2700, 2800),
    ("stream 0", "memset", 2800, 2850),
    ("untimed, at submission", "orphan", 5000, 5000),
]

if __name__ == "__main__":
    unittest.main(verbosity=2)
