#!/usr/bin/env python3
"""dagtap export from outside: where its output goes, and what it says about files it cannot
read."""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
DAGTAP = BUILD / "bin" / "dagtap"
SEED = int(os.environ.get("DAGTAP_TEST_SEED", "1"))


def dagtap(*arguments):
    return subprocess.run([DAGTAP, *map(str, arguments)], capture_output=True, check=False)


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(tempfile.mkdtemp())
        cls.recording = cls.path / "recording.dagtap"
        result = dagtap("record", "--softgpu", "-o", cls.recording, "--",
                        BUILD / "examples" / "graph-update")
        assert result.returncode == 0, result.stderr

    @classmethod
    def tearDownClass(cls):
        if "DAGTAP_TEST_FOLDER" not in os.environ:  # else tests/run.sh removes it, or keeps it
            shutil.rmtree(cls.path)

    def expect_refused(self, result, code, text):
        """One line that holds TEXT, and no file left behind."""
        self.assertEqual(result.returncode, code)
        self.assertIn(text, result.stderr.decode())
        self.assertEqual(result.stdout, b"")
        self.assertEqual(list(self.path.glob(".*")), [])
        if code == 1:
            self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)

    def test_existing_file_is_kept(self):
        out = self.path / "kept.csv"
        out.write_text("mine")
        self.expect_refused(dagtap("export", "--format", "csv", "-o", out, self.recording), 1,
                            "kept.csv: exists already; --force replaces it")
        self.assertEqual(out.read_text(), "mine")

    def test_force_replaces_it(self):
        out = self.path / "replaced.csv"
        out.write_text("mine")
        result = dagtap("export", "--force", "--format", "csv", "-o", out, self.recording)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertTrue(out.read_text().startswith("process,device,"))

    def test_dash_is_standard_output(self):
        out = self.path / "same.csv"
        self.assertEqual(
            dagtap("export", "--format", "csv", "-o", out, self.recording).returncode, 0)
        result = dagtap("export", "--format", "csv", "-o", "-", self.recording)
        self.assertEqual(result.stdout, out.read_bytes())

    def test_tables_of_csv(self):
        for table, column in (("calls", "parent_cid"), ("scopes", "parent_id"),
                              ("graph_nodes", "child_graph")):
            result = dagtap("export", "--format", "csv", "--table", table, "-o", "-", self.recording)
            self.assertIn(column, result.stdout.decode().splitlines()[0].split(","))

    def test_name_that_ends_in_gz_is_compressed(self):
        for name in ("csv", "kineto", "perfetto", "xspace"):
            out = self.path / f"packed.{name}.gz"
            plain = dagtap("export", "--format", name, "-o", "-", self.recording)
            packed = dagtap("export", "--format", name, "-o", out, self.recording)
            self.assertEqual((plain.returncode, packed.returncode), (0, 0), packed.stderr)
            self.assertEqual(gzip.decompress(out.read_bytes()), plain.stdout)

    def test_kineto_says_its_rank(self):
        for arguments, rank in (([], 0), (["--rank", "7"], 7)):
            result = dagtap("export", "--format", "kineto", *arguments, "-o", "-", self.recording)
            trace = json.loads(result.stdout)
            self.assertEqual(trace["distributedInfo"], {"rank": rank})
            self.assertEqual(re.findall(rb'"rank":\s+(\d+)', result.stdout), [b"%d" % rank])
            self.assertGreater(len(trace["traceEvents"]), 100)

    def test_full_disk_leaves_nothing(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run(
                [DAGTAP, "export", "--format", "perfetto", "-o", "-", self.recording], stdout=full,
                stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"No space left on device", result.stderr)

    def test_folder_that_is_not_there(self):
        out = self.path / "none" / "x.csv"
        self.expect_refused(dagtap("export", "--format", "csv", "-o", out, self.recording), 1,
                            "x.csv: No such file or directory")

    def test_wrong_usage(self):
        out = self.path / "unused"
        for arguments, text in (
                (["-o", out, self.recording], "--format is missing"),
                (["--format", "x", "-o", out, self.recording], 'no format "x"'),
                (["--format", "csv", "--table", "x", "-o", out, self.recording], 'no table "x"'),
                (["--format", "csv", self.recording], "-o OUT is missing"),
                (["--format", "csv", "-o", out], "FILE is missing"),
                (["--format", "csv", "-o", out, self.recording, "y"], "one FILE"),
                (["--format", "kineto", "--compat", "x", "-o", out, self.recording],
                 'kineto has no variant for a reader "x"'),
                (["--format", "csv", "--compat", "hta", "-o", out, self.recording],
                 'csv has no variant for a reader "hta"'),
                (["--format", "csv", "--rank", "1", "-o", out, self.recording], "csv has no rank"),
                (["--format", "kineto", "--rank", "1x", "-o", out, self.recording],
                 '--rank takes a number, not "1x"'),
                (["--format", "kineto", "--rank", "-1", "-o", out, self.recording],
                 '--rank takes a number, not "-1"'),
                (["--format"], "option '--format' requires an argument"),
                (["--nothing"], "unrecognized option '--nothing'")):
            with self.subTest(text=text):
                self.expect_refused(dagtap("export", *arguments), 2, text)
                self.assertFalse(out.exists())

    def test_help_lists_formats_and_tables(self):
        result = dagtap("export", "--help")
        self.assertEqual(result.returncode, 0)
        for word in (b"perfetto ", b"perfetto-events", b"csv", b"graph_nodes",
                     b"kineto ", b"kineto hta", b"--rank N"):
            self.assertIn(word, result.stdout)

    def export_damaged(self, name, damaged):
        path = self.path / name
        out = self.path / f"{name}.out"
        path.write_bytes(damaged)
        result = dagtap("export", "--format", "csv", "-o", out, path)
        self.expect_refused(result, 1, f"{name}: ")
        self.assertFalse(out.exists())

    def export_flipped(self, damaged):
        """Refused, or what the other blocks hold is written and the loss is told."""
        path = self.path / "flipped"
        out = self.path / "flipped.out"
        path.write_bytes(damaged)
        result = dagtap("export", "--format", "csv", "-o", out, path)
        self.assertIn(result.returncode, (1, 3))
        self.assertEqual(out.exists(), result.returncode == 3)
        self.expect_refused(result, result.returncode, "flipped: ")
        out.unlink(missing_ok=True)

    def test_files_that_are_no_recordings(self):
        noise = random.Random(SEED).randbytes(70000)
        for name, content in (("empty", b""), ("text", b"hello\n" * 2000), ("noise", noise)):
            with self.subTest(name=name):
                self.export_damaged(name, content)

    def test_damaged_recordings(self):
        whole = self.recording.read_bytes()
        numbers = random.Random(SEED)
        for _ in range(25):
            at = numbers.randrange(len(whole))
            flipped = whole[:at] + bytes([whole[at] ^ 1 << numbers.randrange(8)]) + whole[at + 1:]
            with self.subTest(flipped_at=at):
                self.export_flipped(flipped)
            with self.subTest(cut_at=at):
                self.export_damaged("cut", whole[:at])


if __name__ == "__main__":
    unittest.main(verbosity=2)
