#!/usr/bin/env python3
"""OTF2 archives, read by Score-P's Python package otf2: every row of the CSV tables is there once,
nested, with its times and attributes. tests/format/test_format_otf2.py asks otf2-print.

Without a network to get the package from, the test is skipped (exit status 77), and says so.
"""

import pathlib
import sys
import tempfile
import unittest

from otf2_rows import Region, Stacks, expect_rows
from readers import OTF2_READER, dagtap, install_readers, record
from table_csv import RECORDINGS

PROGRAMS = [("graph-forkjoin", ["8", "8", "20"]), ("threads", ["4", "100"]), ("fork-exec", []),
            ("copies", [])]


def read_archive(test, archive):
    stacks = Stacks(test)
    with otf2.reader.open(str(archive / "traces.otf2")) as trace:
        test.assertEqual(trace.timer_resolution, 10 ** 9)
        for location, event in trace.events:
            if isinstance(event, otf2.events.Enter):
                attributes = {key.name: value for key, value in (event.attributes or {}).items()}
                is_thread = location.type == otf2.LocationType.CPU_THREAD
                stacks.enter(location, Region(location.name, is_thread, event.region.name,
                                              event.time, attributes))
            else:
                stacks.leave(location, event.time, event.region.name)
    return stacks.finish()


class Archive(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def read(self, recording):
        out = self.path / (recording.name + ".otf2")
        dagtap(self, "export", "--format", "otf2", "-o", out, recording)
        return read_archive(self, out)

    def test_recordings(self):
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name):
                expect_rows(self, recording, self.read(recording))

    def test_counts_are_those_of_the_program(self):
        for program, arguments in PROGRAMS:
            with self.subTest(program=program):
                recording = self.path / program
                launched = record(self, recording, program, arguments)
                regions = self.read(recording)
                expect_rows(self, recording, regions)
                self.assertEqual(sum(region.attributes["category"] == "kernel"
                                     for region in regions), launched)


if __name__ == "__main__":
    install_readers("requirements-otf2.txt", OTF2_READER)
    sys.path.insert(0, str(OTF2_READER))
    import otf2
    unittest.main(verbosity=2)
