"""dagtap export --format parquet where Python or a package is missing: it says how to get it, and
leaves no file. What it writes is read in tests/conformance, with readers of the package index."""

import os
import pathlib
import subprocess
import sys
import unittest

from table_csv import BUILD, RECORDINGS

WORK = pathlib.Path(os.environ["TMPDIR"])
OUT = WORK / "out.parquet"


def python(text):
    """A program in Python's place."""
    path = WORK / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


class Missing(unittest.TestCase):
    def export(self, program, *options):
        done = subprocess.run(
            [BUILD / "bin" / "dagtap", "export", "--format", "parquet", "-o", OUT, *options]
            + [RECORDINGS[1]],
            capture_output=True,
            text=True,
            env={**os.environ, "DAGTAP_PYTHON": str(program)},
            check=False,
        )
        self.assertEqual(list(WORK.glob("*out*")), [])
        return done

    def expect_missing(self, program, why):
        done = self.export(program)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, f"^dagtap: .*out.parquet: Parquet is written by .*{why}")
        self.assertIn("pip install '.[parquet]'", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_python(self):
        self.expect_missing("/nowhere/python", "/nowhere/python is not there")

    def test_package(self):
        self.expect_missing(python(f'exec {sys.executable} -I -S "$@"'), "python has no dagtap")

    def test_pyarrow(self):
        self.expect_missing(python(f'exec {sys.executable} -S "$@"'), "python has no pyarrow")

    def test_module_in_the_working_directory_is_not_taken(self):
        folder = WORK / "here"
        folder.mkdir()
        (folder / "dagtap.py").write_text("raise SystemExit(0)")
        os.chdir(folder)
        self.expect_missing(python(f'exec {sys.executable} -S "$@"'), "python has no pyarrow")

    def test_program_that_fails(self):
        for text in "exit 7", "kill -9 $$":
            done = self.export(python(text))
            self.assertEqual(done.returncode, 1)
            self.assertIn("python could not write Parquet", done.stderr)

    def test_program_that_does_not_read(self):
        """What is written to it then fails, and is no signal."""
        done = self.export(python("exec <&-; exit 10"), "--table", "calls")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no dagtap", done.stderr)

    def test_usage(self):
        for options, why in (["--table=x"], "no table"), (["-o", "x.parquet.gz"], "no .gz"):
            done = self.export(sys.executable, *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
