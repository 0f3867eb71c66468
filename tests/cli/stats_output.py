"""stats_output.py FOLDER: `dagtap record --stats -f` replaces a file of statistics only when there
are new ones, and no file that is not a regular one; it keeps the spools that it cannot write
statistics of."""
import os
import signal
import stat
import subprocess
import sys

from controlled import BUILD, DAGTAP, environment, expect, fail, kernels

folder = sys.argv[1]
OUT = os.path.join(folder, "run.dagstats")
KERNELS = [BUILD + "/examples/counted", "page", "20"]


def record(*program, out=OUT, force=True):
    return subprocess.run([DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", *(["-f"] if force else []), "-o",
                           out, "--", *program], capture_output=True, text=True, env=environment())


def expect_old(what):
    with open(OUT) as file:
        expect("the file after " + what, file.read(), "old")


def expect_files(*names):
    expect("files", sorted(os.listdir(folder)), sorted(names))


with open(OUT, "w") as file:
    file.write("old")
if record(os.path.join(folder, "missing")).returncode == 0:
    fail("a program that is not there was run")
expect_old("a launch that failed")
expect("exit status of a program without a GPU", record("true").returncode, 0)
expect_old("a program that used no GPU")
if record(*KERNELS, force=False).returncode == 0:
    fail("a file is replaced without -f")
expect_old("a run without -f")
expect("exit status", record(*KERNELS).returncode, 0)
with open(OUT) as file:
    if not file.readline().startswith('{"dagstats"'):
        fail("the old file is not replaced")
expect_files("run.dagstats")

# dagtap is killed when its program starts. Only the folder of spools is left.
other = os.path.join(folder, "other.dagstats")
expect("exit status of a killed dagtap", record("sh", "-c", "kill -9 $PPID", out=other).returncode, -signal.SIGKILL)
spools = os.path.join(folder, "other.spool")
os.rmdir(os.path.realpath(spools))
if os.path.islink(spools):
    os.unlink(spools)
# A file system without files that have no name.
for name in os.listdir(folder):
    if name.startswith(".dagtap."):
        os.unlink(os.path.join(folder, name))
expect_files("run.dagstats")

pipe, device = os.path.join(folder, "pipe"), os.path.join(folder, "device")
os.mkfifo(pipe)
os.symlink("/dev/null", device)
for other in (pipe, device):
    for program in (KERNELS, ["true"], [os.path.join(folder, "missing")]):
        ran = record(*program, out=other)
        if ran.returncode == 0 or "regular file" not in ran.stderr:
            fail(f"{other}: {ran.returncode} {ran.stderr}")
if not stat.S_ISFIFO(os.lstat(pipe).st_mode) or os.readlink(device) != "/dev/null":
    fail("a file that is not ours is gone")
expect_files("run.dagstats", "pipe", "device")

# No room for the file. Its first line, with 3700 bytes of command line, fits into 4096 bytes,
# the statistics do not. The program lifts the limit of its own files.
full, spools = os.path.join(folder, "full.dagstats"), os.path.join(folder, "full.spool")
limited = ["bash", "-c", 'ulimit -S -f 4; exec "$@"', "bash"]
program = ["bash", "-c", 'ulimit -S -f unlimited; exec "${@:2}"', "bash", "", *KERNELS]
program[4] = "n" * (3700 - len(" ".join(program)))
ran = subprocess.run([*limited, DAGTAP, "record", "--softgpu=kernel_ns=1000", "--stats", "--outlier=0", "-o", full,
                      "--", *program], capture_output=True, text=True, env=environment())
expect("exit status without room", ran.returncode, 1)
if "the statistics are not complete" not in ran.stderr or f"the spools stay in {spools};" not in ran.stderr:
    fail("not told: " + ran.stderr)
expect("kernels in the spools", kernels(spools), 20)
expect("exit status with room", record(*KERNELS, out=full).returncode, 0)
expect_files("run.dagstats", "pipe", "device", "full.dagstats")
