"""pip installs a package from the source tree, with its own libraries in it, and mypy finds its
types right.

    test_python_wheel.py dagpatch|dagtap

The build's own needs and mypy come from the package index; without a network this is skipped (exit
status 77)."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
NAME = sys.argv[1]
MODULES = SOURCE / "python" / NAME / "src" / NAME
# Where pyproject.toml is; what the wheel has beside the modules; a program that shows where that
# is; the tests that the installed package passes; and a wrong program.
PROJECT, BESIDE, SHOW, TESTS, WRONG = {
    "dagpatch": (
        SOURCE / "python" / "dagpatch",
        {"libdagpatch.so"},
        "import dagpatch; print(dagpatch._lib._name)",
        ["test_python_model.py", "test_python_errors.py", "test_python_lives.py"],
        "import dagpatch\ndagpatch.Context(3)\n",
    ),
    "dagtap": (
        SOURCE,
        {
            "native/bin/dagtap",
            "native/lib/libdagtap.so.0",
            "native/lib/libdagtap-trace.so.0",
            "native/lib/dagtap/libdagtap-inject.so",
            "native/lib/dagtap/libdagtap-jax.so",
            "native/lib/dagtap/softgpu/libhsa-runtime64.so.1",
        },
        "from dagtap import _installation; print(_installation.find_command())",
        ["test_python_tables.py", "test_python_tour.py"],
        "import dagtap\ndagtap.open(3)\n",
    ),
}[NAME]
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

must(*pip, "wheel", "--no-deps", "--wheel-dir", WORK, PROJECT)
wheels = list(WORK.glob("*.whl"))
assert len(wheels) == 1 and "-py3-none-" in wheels[0].name, wheels
must(*pip, "install", "--no-deps", "--target", WORK / "site", wheels[0])

# What is there is what the source has, and what was built; neither the tree's package nor its build
# is used.
SITE = WORK / "site" / NAME


def files(folder):
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if "__pycache__" not in path.parts}


assert files(SITE) == files(MODULES) | BESIDE, (files(SITE), files(MODULES))
hidden = ("DAGPATCH_LIBRARY", "DAGTAP_PREFIX")
environment = {name: value for name, value in os.environ.items() if name not in hidden}
environment["PYTHONPATH"] = str(WORK / "site")
shown = must(sys.executable, "-c", SHOW, env=environment, cwd=WORK).strip()
assert pathlib.Path(shown) in {SITE / name for name in BESIDE}, shown
for test in TESTS:
    environment["TMPDIR"] = str(WORK / test)
    os.mkdir(environment["TMPDIR"])
    must(sys.executable, "-B", SOURCE / "tests" / "python" / test, env=environment, cwd=WORK)
if NAME == "dagtap":
    # The package's script becomes the program.
    script = WORK / "site" / "bin" / "dagtap"
    shown = must(sys.executable, script, "--version", env=environment, cwd=WORK)
    assert shown.startswith("dagtap 0."), shown

environment["PYTHONPATH"] = str(WORK / "tools")
print(
    must(
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        PROJECT / "pyproject.toml",
        "--cache-dir",
        WORK / "mypy",
        "--no-incremental",
        cwd=PROJECT,
        env=environment,
    )
)
# A program that is typed wrongly is told so: the package says that it has types.
(WORK / "wrong.py").write_text(WRONG)
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
