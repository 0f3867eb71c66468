#!/usr/bin/env python3
"""Keeps the lists of what lies where in HIP's dispatch table.

    gen-tables.py list HEADER > src/vendor/hip_table.list   from hip/amd_detail/hip_api_trace.hpp
    gen-tables.py prove LIST LIBRARY     fails when a function that the library exports goes through
                                         another slot than the one that the list has it in, or when
                                         fewer than half of the slots are gone through at all

Each exported function of a release with tables is a jump through its slot: "prove" reads the
offsets from the machine code (objdump).
"""
import re
import subprocess
import sys

STRUCT = "HipDispatchTable"
# The header's name of a slot where the exported function has another.
EXPORTED_AS = {"hipChooseDevice": "hipChooseDeviceR0600"}

LIST_HEAD = """\
# The slots of HIP's dispatch table, in their order; the first is 8 bytes behind the table's start,
# where its size is. Made by scripts/gen-tables.py from the headers of HIP {version}; tables only
# grow at the end.
#
# step    of the table, at which the slot came
# then    the function whose calls go through the slot, by its exported name
"""


def read_slots(header):
    with open(header, encoding="utf-8") as file:
        text = file.read()
    body = re.search(r"struct %s \{(.*?)\n\};" % STRUCT, text, re.S).group(1)
    step, slots = 0, []
    for found in re.finditer(r"STEP_VERSION ==? (\d+)|(\w+)_fn;", body):
        if found.group(1):
            step = int(found.group(1))
        else:
            slots.append((step, EXPORTED_AS.get(found.group(2), found.group(2))))
    return slots


def print_list(header):
    folder = header.rsplit("/", 2)[0]
    with open(f"{folder}/hip_version.h", encoding="utf-8") as file:
        version = ".".join(re.findall(r"HIP_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", file.read()))
    print(LIST_HEAD.format(version=version), end="")
    for step, name in read_slots(header):
        print(f"{step:<3} {name}")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def plain(symbol):
    """hipExtModuleLaunchKernel and others have C++ names."""
    symbol = symbol.partition("@")[0]
    found = re.match(r"_Z(\d+)(\w+)", symbol)
    return found.group(2)[:int(found.group(1))] if found else symbol


def read_functions(library):
    """(name, instructions) of every exported function, to its first return or jump away."""
    names = {}
    for address, name in re.findall(r"^(\w+) [TW] (\S+)$",
                                    run("nm", "-D", "--defined-only", library), re.M):
        names.setdefault(int(address, 16), []).append(plain(name))
    current, code = None, []
    for address, text in re.findall(r"^\s*([0-9a-f]+):\t(.*)$",
                                    run("objdump", "-d", "--no-show-raw-insn", library), re.M):
        if int(address, 16) in names:
            current, code = names[int(address, 16)], []
        if current is None:
            continue
        code.append(text)
        if re.match(r"ret|jmp", text):
            yield from ((name, code) for name in current)
            current = None


def offset_in_table(code, getter):
    """Of what the function takes from the table that the getter has given it."""
    at = next((i for i, text in enumerate(code) if re.match(rf"call\s+{getter}\b", text)), None)
    for text in code[at + 1:] if at is not None else []:
        found = re.match(r"(?:jmp|call)\s+\*(?:0x(\w+))?\(%rax\)|mov\s+(?:0x(\w+))?\(%rax\),", text)
        if found:
            return int(found.group(1) or found.group(2) or "0", 16)
    return None


def prove(path, library):
    with open(path, encoding="utf-8") as lines:
        order = [line.split()[1] for line in lines if line.strip() and not line.startswith("#")]
    place = {name: 8 * (i + 1) for i, name in enumerate(order)}
    functions, calls = list(read_functions(library)), {}
    for _, code in functions:
        for target in re.findall(r"call\s+(\w+)", "\n".join(code)):
            calls[target] = calls.get(target, 0) + 1
    getter, proven, status = max(calls, key=calls.get), set(), 0
    for name, code in functions:
        offset = offset_in_table(code, getter)
        if offset is None:
            continue
        if place.get(name) == offset:
            proven.add(name)
            continue
        print(f"{name}: goes through {offset}, listed at {place.get(name)}", file=sys.stderr)
        status = 1
    print(f"{len(proven)} of {len(order)} slots proven")
    return status if len(proven) > len(order) / 2 else 1


def main(argv):
    if argv[:1] == ["list"] and len(argv) == 2:
        print_list(argv[1])
    elif argv[:1] == ["prove"] and len(argv) == 3:
        return prove(*argv[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
