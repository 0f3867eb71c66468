"""Runs tests/capture_hip/obedient.c under dagtap record, tells it what to do, and controls its
recording. For the tests in tests/cli; each step waits for the answer of the one before."""
import json
import os
import subprocess
import sys

BUILD = os.environ["BUILD_DIR"]
DAGTAP = BUILD + "/bin/dagtap"


def fail(text):
    sys.exit("FAILED: " + text)


def expect(what, got, want):
    if got != want:
        fail(f"{what}: {got!r}, not {want!r}")


def environment(**variables):
    preload = os.environ.get("SANITIZER_RUNTIME", "")
    return dict(os.environ, LD_PRELOAD=preload, **variables)


class Program:
    """The program and the `dagtap record` that runs it."""

    def __init__(self, folder, *options, softgpu="kernel_ns=1000", **variables):
        self.output = os.path.join(folder, "run.dagtap")
        self.spools = os.path.join(folder, "run.spool")
        self.recorder = subprocess.Popen(
            [DAGTAP, "record", f"--softgpu={softgpu}", *options, "-o", self.output, "--",
             BUILD + "/tests/obedient"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env=environment(**variables))
        self.pid = int(self.recorder.stdout.readline().split()[1])

    def tell(self, request):
        self.recorder.stdin.write(request + "\n")
        expect(request, self.recorder.stdout.readline(), "done\n")

    def end(self):
        self.recorder.stdin.close()
        expect("exit status of dagtap record", self.recorder.wait(), 0)
        if os.path.exists(self.spools):
            fail("the folder of spools is left: " + str(os.listdir(self.spools)))

    def control(self, *arguments, code=0):
        ran = subprocess.run([DAGTAP, "control", str(self.pid), *arguments], capture_output=True, text=True)
        if ran.returncode != code:
            fail(f"dagtap control {arguments} exited with {ran.returncode}: {ran.stdout}{ran.stderr}")
        return ran.stdout if code == 0 else ran.stderr

    def status(self):
        return json.loads(self.control("status", "--json"))


def answer(command, file):
    ran = subprocess.run([DAGTAP, command, "--json", file], capture_output=True, text=True)
    if ran.returncode:
        fail(f"dagtap {command} {file} exited with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return json.loads(ran.stdout)


def kernels(file):
    answer("check", file)
    return answer("summary", file)["totals"]["kernels"]
