"""pip installs the package from the source tree, with its own library in it, and mypy finds its
types right.

The build's own needs and mypy come from the package index; without a network this is skipped (exit
status 77)."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
PACKAGE = SOURCE / "python" / "dagpatch"
WORK = pathlib.Path(os.environ["TMPDIR"])
MYPY = "mypy==2.4.1"


def run(*command, **more):
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **more,
    )
    return done.returncode, done.stdout


def must(*command, **more):
    code, output = run(*command, **more)
    if code:
        sys.exit(f"{' '.join(map(str, command))}: exit status {code}\n{output}")
    return output


pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
code, output = run(*pip, "install", "--target", WORK / "tools", MYPY, "scikit-build-core")
if code:
    print(f"skipped: nothing comes from the package index: {output.strip().splitlines()[-1]}")
    sys.exit(77)

must(*pip, "wheel", "--no-deps", "--wheel-dir", WORK, PACKAGE)
wheels = list(WORK.glob("*.whl"))
assert len(wheels) == 1 and "-py3-none-" in wheels[0].name, wheels
must(*pip, "install", "--no-deps", "--target", WORK / "site", wheels[0])

# What is there is what the source has, and one library; neither the tree's package nor its build is
# used.
here = {path.name for path in (PACKAGE / "src" / "dagpatch").iterdir() if path.is_file()}
installed = {path.name for path in (WORK / "site" / "dagpatch").iterdir() if path.is_file()}
assert installed == here | {"libdagpatch.so"}, (installed, here)
environment = {name: value for name, value in os.environ.items() if name != "DAGPATCH_LIBRARY"}
environment["PYTHONPATH"] = str(WORK / "site")
shown = must(
    sys.executable, "-c", "import dagpatch; print(dagpatch._lib._name)", env=environment, cwd=WORK
)
assert shown.strip() == str(WORK / "site" / "dagpatch" / "libdagpatch.so"), shown
must(sys.executable, SOURCE / "tests" / "python" / "test_python_model.py", env=environment, cwd=WORK)

environment["PYTHONPATH"] = str(WORK / "tools")
print(
    must(
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        PACKAGE / "pyproject.toml",
        "--cache-dir",
        WORK / "mypy",
        "--no-incremental",
        cwd=PACKAGE,
        env=environment,
    )
)
# A program that is typed wrongly is told so: the package says that it has types.
(WORK / "wrong.py").write_text("import dagpatch\ndagpatch.Context(3)\n")
environment["MYPYPATH"] = str(WORK / "site")
code, output = run(
    sys.executable,
    "-m",
    "mypy",
    "--strict",
    "--cache-dir",
    WORK / "mypy",
    WORK / "wrong.py",
    cwd=WORK,
    env=environment,
)
assert code == 1 and "arg-type" in output, output
