#!/usr/bin/env python3
"""make-stubs.py PLUGIN LIBRARIES FOLDER: what XLA's plugin is linked against and LIBRARIES lacks,
as libraries in FOLDER whose functions fail.

Debian has no rocprofiler-sdk, and the plugin asks for AMD's own builds of libdrm and libnuma. XLA
goes on without what they would tell it. A function is a stub of the library whose prefix its name
begins with.
"""
import pathlib
import re
import subprocess
import sys

# A library's name as it begins, the prefix of its functions, the status that says that nothing is
# there.
KNOWN = [
    ("librocm_sysdeps_drm.so", "drm", -1),
    ("librocm_sysdeps_drm_amdgpu.so", "amdgpu_", -1),
    ("librocm_sysdeps_numa.so", "numa_", -1),
    ("libamd_smi.so", "amdsmi_", 2),  # not supported
    ("librocm_smi64.so", "rsmi_", 2),  # not supported
    ("librocprofiler-sdk.so", "rocprofiler_", 1),  # error
]


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def needed(plugin):
    found = (re.search(r"\(NEEDED\).*\[(.*)\]", line) for line in lines("readelf", "-d", plugin))
    return [match[1] for match in found if match]


def undefined(plugin, prefix):
    """Names and versions."""
    names = (line.split()[-1] for line in lines("nm", "-D", "--undefined-only", plugin))
    return sorted({tuple((name + "@").split("@")[:2]) for name in names if name.startswith(prefix)})


def source(functions, status):
    for name, _ in functions:
        if name.endswith("_string"):
            yield f'const char *{name}(void) {{ return "not there"; }}'
        else:
            yield f"long {name}(void) {{ return {status}; }}"


def version_map(functions):
    for version in sorted({version for _, version in functions if version}):
        names = " ".join(f"{name};" for name, its in functions if its == version)
        yield f"{version} {{ global: {names} }};"


def make(soname, functions, status, folder):
    library = folder / soname
    text = folder / f"{soname}.c"
    versions = folder / f"{soname}.map"
    text.write_text("\n".join(source(functions, status)) + "\n", encoding="ascii")
    command = ["gcc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname}", "-o", library, text]
    if any(version for _, version in functions):
        versions.write_text("\n".join(version_map(functions)) + "\n", encoding="ascii")
        command.append(f"-Wl,--version-script,{versions}")
    subprocess.run(command, check=True)


def main():
    plugin, libraries, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    for soname in needed(plugin):
        if (libraries / soname).exists():
            continue
        known = [one for one in KNOWN if soname.startswith(one[0])]
        if not known:
            sys.exit(f"{plugin} needs {soname}, which is not in {libraries}: is there a package of it?")
        _, prefix, status = known[0]
        # amdgpu_ alone begins with it; drm of the other library does not.
        make(soname, undefined(plugin, prefix), status, folder)


main()
