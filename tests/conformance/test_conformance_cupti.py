#!/usr/bin/env python3
"""What dagtap uses of CUPTI, beside the headers and libraries of CUPTI of several versions: the
functions that it requires, the fields that it reads, the numbers of the calls that it asks for.

Needs no CUDA and no GPU. Without a network to get CUPTI from, the test is skipped (exit status 77),
and says so.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from readers import HERE, WORK, download_wheels, skip

SOURCE = HERE.parent.parent
VENDOR = SOURCE / "src" / "vendor"
FIELDS = HERE.parent / "capture_cuda" / "cupti_fields.list"
TYPES = (VENDOR / "cupti_types.h").read_text(encoding="utf-8")

ASK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
version = ctypes.c_uint32()
print(library.cuptiGetVersion(ctypes.byref(version)), version.value,
      *[name for name in sys.argv[2:] if not hasattr(library, name)])
"""

# Other names that headers have for numbers of our lists, by reason.
RENAMED = {
    "before CUDA 13.0 the runtime's second version of a function has _v2 in its name": {
        ("RUNTIME", 393): "cudaSignalExternalSemaphoresAsync_v2_v11020",
        ("RUNTIME", 394): "cudaSignalExternalSemaphoresAsync_v2_ptsz_v11020",
        ("RUNTIME", 395): "cudaWaitExternalSemaphoresAsync_v2_v11020",
        ("RUNTIME", 396): "cudaWaitExternalSemaphoresAsync_v2_ptsz_v11020",
        ("RUNTIME", 449): "cudaMemPrefetchAsync_v2_v12020",
        ("RUNTIME", 450): "cudaMemPrefetchAsync_v2_ptsz_v12020",
        ("RUNTIME", 458): "cudaGraphAddDependencies_v2_v12030",
        ("RUNTIME", 459): "cudaGraphRemoveDependencies_v2_v12030",
        ("RUNTIME", 460): "cudaGraphAddNode_v2_v12030",
        ("RUNTIME", 463): "cudaStreamUpdateCaptureDependencies_v2_v12030",
        ("RUNTIME", 464): "cudaStreamUpdateCaptureDependencies_v2_ptsz_v12030",
    },
    "the headers of CUDA 12.6 and 12.8 do not name these functions yet": {
        ("RUNTIME", 470): "cuda470_v12060",
        ("RUNTIME", 471): "cuda471_v12060",
        ("RUNTIME", 472): "cuda472_v12060",
    },
    "another name from CUDA 13.1 on": {("DRIVER", 783): "cuStreamBeginCaptureToCig"},
    "the headers of CUDA 13.5 do not name these functions any more": {
        ("DRIVER", 248): "cuda248",
        ("DRIVER", 271): "cuda271",
    },
}


def other_names():
    return {key: name for names in RENAMED.values() for key, name in names.items()}


def required_functions():
    text = TYPES[TYPES.index("#define CUPTI_FUNCTIONS"):TYPES.index("#define CUPTI_OPTIONAL")]
    return re.findall(r"X\(\w+, (cupti\w+),", text)


def our_calls():
    """(domain, number, name, file) of each call that a list or cupti_types.h has."""
    for path in sorted(VENDOR.glob("cuda_*.list")):
        for domain, number, name in re.findall(r"X\((\w+), (\d+), (\w+)\)", path.read_text()):
            yield domain, int(number), name, path.name
    for domain in ("driver", "runtime"):
        body = re.search(rf"enum cupti_{domain}_call {{(.*?)}}", TYPES, re.S)[1]
        for name, number in re.findall(r"CUPTI_(\w+) = (\d+)", body):
            yield domain.upper(), int(number), name, "cupti_types.h"


def first_version(constant):
    return int(re.search(rf"#define {constant}\s+(\d+)", TYPES)[1])


class Version:
    """CUPTI of one version, unpacked."""

    def __init__(self, title, wheels, folder):
        self.title = title
        self.folder = folder
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if re.search(
                    r"/include/.*\.h$|/libcupti\.so", name)])
        self.library = next(folder.rglob("libcupti.so*"))
        self.headers = {path.name: path.read_text(encoding="utf-8", errors="replace")
                        for path in folder.rglob("*.h")}
        self.number = int(re.search(r"#define CUPTI_API_VERSION\s+(\d+)",
                                    self.headers["cupti_version.h"])[1])

    def calls(self, domain):
        """Names by number."""
        text = self.headers[f"cupti_{domain.lower()}_cbid.h"]
        return {int(number): name for name, number in
                re.findall(rf"CUPTI_{domain}_TRACE_CBID_(\w+)\s*=\s*(\d+)", text)
                if name not in ("INVALID", "SIZE")}

    def newest_record(self, kind):
        text = self.headers["cupti_activity.h"]
        found = re.findall(rf"^}} (CUpti_Activity{kind}(\d*));", text, re.M)
        return max(found, key=lambda name: int(name[1] or 1))[0]

    def parameters(self, function):
        """The struct of a function's parameters; None if this CUPTI does not know the function."""
        number = re.search(rf"X\((\w+), (\d+), {function}\)", "".join(
            path.read_text() for path in VENDOR.glob("cuda_*.list")))
        names = (function, other_names().get((number[1], int(number[2]))))
        for name in names:
            if name in self.calls(number[1]).values():
                return f"{name}_params"
        return None

    def comparison(self):
        """C code with an assertion for each field."""
        yield "#include <cuda.h>\n#include <cupti.h>"
        yield '#include "vendor/cupti_records.h"\n#include "vendor/cupti_types.h"'
        for at, line in enumerate(FIELDS.read_text().splitlines(), 1):
            match = re.fullmatch(r"([A-Z_]+)\((.*)\)", line)
            if match:
                yield f'#line {at} "{FIELDS.relative_to(SOURCE)}"'
                yield getattr(self, match[1].lower())(*match[2].split(", "))

    def record(self, ours, kind, field):
        return self.struct(ours, self.newest_record(kind), field)

    def record_since(self, constant, ours, kind, field):
        if self.number >= first_version(constant):
            return self.record(ours, kind, field)
        record = self.newest_record(kind)
        return (f"_Static_assert(offsetof(struct {ours}, {field}) >= sizeof({record}), "
                f'"{record} has {field} already");')

    def struct(self, ours, theirs, field):
        return (self.struct_as(ours, field, theirs, field) +
                f" _Static_assert(sizeof(((struct {ours} *)0)->{field}) == "
                f'sizeof((({theirs} *)0)->{field}), "size of {theirs}.{field}");')

    def struct_as(self, ours, field, theirs, their_field):
        return (f"_Static_assert(offsetof(struct {ours}, {field}) == "
                f'offsetof({theirs}, {their_field}), "offset of {theirs}.{their_field}");')

    def parameter(self, ours, field, function, their_field):
        theirs = self.parameters(function)
        return self.struct_as(ours, field, theirs, their_field) if theirs else ""

    def word(self, index, function, their_field):
        theirs = self.parameters(function)
        return (f"_Static_assert(offsetof({theirs}, {their_field}) == {index} * sizeof(uint64_t), "
                f'"offset of {theirs}.{their_field}");') if theirs else ""


class Cupti(unittest.TestCase):
    """Each case goes through all versions."""

    def expect_none(self, wrong):
        if wrong:
            self.fail("\n".join(wrong))

    def for_each_version(self, check):
        for version in versions:
            with self.subTest(cuda=version.title):
                check(version)

    def check_functions(self, version):
        result = subprocess.run([sys.executable, "-c", ASK, version.library, *required_functions()],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        answer, number, *missing = result.stdout.split()
        self.expect_none([f"{version.library.name} has no {name}" for name in missing])
        self.assertGreaterEqual(version.number, first_version("CUPTI_LEAST_VERSION"))
        if answer == "0":
            self.assertEqual(int(number), version.number)
        else:
            self.assertGreaterEqual(version.number, 130400)

    def test_it_has_the_functions(self):
        """Its own number is that of its headers, where it gives one without a driver."""
        self.for_each_version(self.check_functions)

    def check_fields(self, version):
        folders = [SOURCE / "src", *sorted(version.folder.rglob("include"))]
        result = subprocess.run([os.environ["CC"], "-std=gnu17", "-fsyntax-only", "-w", "-xc", "-",
                                 *[f"-I{folder}" for folder in folders]],
                                input="\n".join(version.comparison()), capture_output=True,
                                text=True, check=False)
        self.expect_none([line for line in result.stderr.splitlines() if "error:" in line])
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_fields_are_where_they_are_read(self):
        self.for_each_version(self.check_fields)

    def check_calls(self, version):
        calls = {domain: version.calls(domain) for domain in ("DRIVER", "RUNTIME")}
        wrong = []
        for domain, number, name, path in our_calls():
            theirs = calls[domain].get(number)
            # Enumerators may have no version in their name.
            is_same = theirs and re.fullmatch(rf"{name}(_v\d{{4,5}})?", theirs)
            is_newer = number > max(calls[domain])
            if not is_same and not is_newer and theirs != other_names().get((domain, number)):
                wrong.append(f"{path}: {domain} {number} is {name} here and {theirs} there")
        self.expect_none(wrong)

    def test_the_calls_have_their_numbers(self):
        self.for_each_version(self.check_calls)

    def test_each_call_is_of_a_version(self):
        """And each other name."""
        known = {(domain, number) for domain in ("DRIVER", "RUNTIME")
                 for number in versions[-1].calls(domain)}
        self.assertEqual([call for call in our_calls() if call[:2] not in known], [])
        found = {(domain, number, name) for version in versions for domain in ("DRIVER", "RUNTIME")
                 for number, name in version.calls(domain).items()}
        self.assertEqual([(*key, name) for key, name in other_names().items()
                          if (*key, name) not in found], [])


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        skip("the libraries are for x86-64")
    with tempfile.TemporaryDirectory() as unpacked:
        versions = [Version(title, wheels, pathlib.Path(unpacked) / title)
                    for title, wheels in download_wheels("requirements-cupti.txt", WORK / "cupti")]
        unittest.main(verbosity=2)
