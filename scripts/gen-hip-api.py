#!/usr/bin/env python3
"""Keeps src/vendor/hip_api.list, and makes the HIP wrappers from it.

    gen-hip-api.py list INCLUDE SYMBOLS [LIST]   prints the list of one HIP release: its headers
                                                 (as clang reads them) and its symbols, from the
                                                 library itself or from hip_hcc.map.in. With LIST,
                                                 what that has of older releases stays
    gen-hip-api.py check LIST INCLUDE SYMBOLS    fails when that release is not as LIST says
    gen-hip-api.py exports LIST INJECTED         fails when the injected library lacks a function
    gen-hip-api.py ops LIST > hip_ops.h          the numbers of the calls
    gen-hip-api.py wrappers LIST > wrappers.c    the calls
    gen-hip-api.py texts LIST > hip_op_texts.h   what API_NAME records say of them, without the calls

Only "list" and "check" need clang; a build needs no more than this file and Python.
"""
import json
import re
import subprocess
import sys

HEADERS = "hip/hip_runtime_api.h", "hip/amd_detail/amd_hip_runtime_pt_api.h"

LIST_HEAD = """\
# The HIP functions that are wrapped: declared in the headers and exported by the library.
# Made by scripts/gen-hip-api.py from {releases}.
#
# since   symbol version in which the function appeared (hip_4.2 is the first that has any), or the
#         release above that first had it, where it was given an older symbol version
# last    the last release above that has it, - = the newest one does
# result  error (hipError_t), i32, text, channel (struct hipChannelFormatDesc)
# then    the function, =SYMBOL when it is exported under a C++ name, and its parameters.
#
# Kinds of parameters, as the calling convention sees them:
#   ptr handle stream text       pointers; text is read, up to 8 characters
#   out out32 outf               pointers to 8 bytes, 4 bytes, a float, read after success
#   size u64 u32 u16 u8 i32 enum f32
#   dim3 extent pitched ipc      structs by value; ipc is not recorded
"""

# Exported under C++ names only (hip_ext.h, the old launch macro, surfaces), so C cannot declare
# them: (name, symbol, result, parameters).
LAUNCH = ("f:handle globalWorkSizeX:u32 globalWorkSizeY:u32 globalWorkSizeZ:u32 localWorkSizeX:u32 "
          "localWorkSizeY:u32 localWorkSizeZ:u32 sharedMemBytes:size hStream:stream "
          "kernelParams:ptr extra:ptr startEvent:handle stopEvent:handle")
CXX = [
    ("hipExtModuleLaunchKernel",
     "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
     "error", LAUNCH + " flags:u32"),
    ("hipHccModuleLaunchKernel",
     "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_",
     "error", LAUNCH),
    ("hipCreateSurfaceObject",
     "_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc",
     "error", "pSurfObject:out pResDesc:ptr"),
    ("hipDestroySurfaceObject",
     "_Z23hipDestroySurfaceObjectP13__hip_surface", "error", "surfaceObject:handle"),
]
# extern "C", but in a header that is C++ all the same.
HIP_EXT = [
    ("hipExtLaunchKernel", "error",
     "function_address:ptr numBlocks:dim3 dimBlocks:dim3 args:ptr sharedMemBytes:size stream:stream "
     "startEvent:handle stopEvent:handle flags:i32"),
]

# Pointers to what the caller gives, or to more than one value, where the type says "output".
NOT_OUT = {
    None: {"kernelParams", "extra", "args", "optionsValues", "optionValues", "options", "nodes",
           "from", "to", "pDependencies", "pDependentNodes", "pRootNodes", "dependencies",
           "resources", "attributes", "data_sizes", "cuMask", "device_arr", "pHipDevices",
           "pErrorNode", "hErrorNode_out"},
    "hipTexRefSetBorderColor": {"pBorderColor"},
    "hipTexRefGetBorderColor": {"pBorderColor"},
    "hipMemRangeGetAttributes": {"data"},
    "hipDrvPointerGetAttributes": {"data"},
    "hipMemExportToShareableHandle": {"shareableHandle"},
}

SCALARS = {
    "int": "i32", "unsigned int": "u32", "unsigned long": "size", "unsigned long long": "u64",
    "unsigned char": "u8", "unsigned short": "u16", "float": "f32", "uint64_t": "u64",
}
STRUCTS = {
    "dim3": "dim3", "hipExtent": "extent", "hipPitchedPtr": "pitched",
    "hipIpcMemHandle_st": "ipc", "hipIpcEventHandle_st": "ipc",
}
RESULTS = {"hipError_t": "error", "int": "i32", "const char *": "text",
           "struct hipChannelFormatDesc": "channel"}

# kind: (C type, letter in the trace, expression of what is recorded)
KINDS = {
    "ptr": ("void *", "p", "(uintptr_t){}"),
    "handle": ("void *", "h", "(uintptr_t){}"),
    "stream": ("void *", "h", "(uintptr_t){}"),
    "text": ("const char *", "t", "hip_text({})"),
    "out": ("uint64_t *", "o", "hip_out64(result, {})"),
    "out32": ("uint32_t *", "o", "hip_out32(result, {})"),
    "outf": ("uint32_t *", "f", "hip_out32(result, {})"),
    "size": ("size_t ", "s", "{}"),
    "u64": ("uint64_t ", "u", "{}"),
    "u32": ("uint32_t ", "u", "{}"),
    "u16": ("uint16_t ", "u", "{}"),
    "u8": ("uint8_t ", "u", "{}"),
    "i32": ("int ", "i", "(uint64_t)(int64_t){}"),
    "enum": ("int ", "e", "(uint64_t)(int64_t){}"),
    "f32": ("float ", "f", "hip_float({})"),
    "dim3": ("struct hip_dim3 ", "d", None),
    "extent": ("struct hip_extent ", "s", None),
    "pitched": ("struct hip_pitched ", "s", None),
    "ipc": ("struct hip_ipc_handle ", None, None),
}
# Structs by value: the words they become, as (suffix of the name, letter, member expression).
PARTS = {
    "dim3": [("", "d", "{0}.x | (uint64_t){0}.y << 32"), (None, None, "{0}.z")],
    "extent": [(".width", "s", "{0}.width"), (".height", "s", "{0}.height"),
               (".depth", "s", "{0}.depth")],
    "pitched": [(".ptr", "p", "(uintptr_t){0}.ptr"), (".pitch", "s", "{0}.pitch"),
                (".xsize", "s", "{0}.xsize"), (".ysize", "s", "{0}.ysize")],
    "ipc": [],
}


class Types:
    """What clang says of the headers' typedefs, structs and enums."""

    def __init__(self, nodes):
        self.typedefs = {n["name"]: n["type"]["qualType"] for n in nodes
                         if n["kind"] == "TypedefDecl"}

    def plain(self, text):
        text = re.sub(r"\b(struct|const|volatile)\b ?", "", text).strip()
        while text in self.typedefs and text not in SCALARS:
            under = self.typedefs[text]
            if under.rstrip().endswith("*") or "(" in under:
                return under
            following = re.sub(r"\b(struct|const)\b ?", "", under).strip()
            if following == text:
                break
            text = following
        return text

    def pointee_kind(self, text):
        """Kind of a pointer to `text`."""
        if re.search(r"\bconst\b[^*]*$", text) and not text.rstrip().endswith("*"):
            return "text" if text.strip() == "const char" else "ptr"
        plain = self.plain(text)
        if plain.endswith("*"):
            return "out"
        if plain.startswith("enum ") or SCALARS.get(plain) in ("i32", "u32"):
            return "out32"
        if SCALARS.get(plain) in ("size", "u64"):
            return "out"
        return "outf" if plain == "float" else "ptr"

    def kind(self, function, name, text):
        text = text.strip()
        if text in ("hipStream_t", "hipStream_t const"):
            return "stream"
        if text.endswith("*"):
            kind = self.pointee_kind(text[:-1].strip())
            if name in NOT_OUT[None] | NOT_OUT.get(function, set()):
                kind = "ptr"
            return kind
        plain = self.plain(text)
        if plain in STRUCTS:
            return STRUCTS[plain]
        if plain.startswith("enum "):
            return "enum"
        if "(*)" in plain or plain == "void *":
            return "ptr"
        return "handle" if plain.endswith("*") else SCALARS[plain]


def exported(symbols):
    """symbol -> version in which it appeared; from a library or a linker's version script."""
    if not symbols.endswith(".in"):
        text = subprocess.run(["nm", "-D", "--defined-only", symbols], check=True,
                              capture_output=True, text=True).stdout
        return dict(re.findall(r" [TW] (\S+?)@+hip_([\d.]+)$", text, re.M))
    found = {}
    with open(symbols, encoding="utf-8") as script:
        for line in script:
            version = re.match(r"hip_([\d.]+) {", line)
            symbol = re.match(r"\s+(\w+)\*?;", line)  # C++ names are patterns
            if version:
                since = version.group(1)
            elif symbol:
                found.setdefault(symbol.group(1), since)
    return found


def declared(include):
    source = "".join(f"#include <{header}>\n" for header in HEADERS)
    text = subprocess.run(["clang-14", "-D__HIP_PLATFORM_AMD__", "-std=gnu17", "-fsyntax-only",
                           "-I", include, "-x", "c", "-Xclang", "-ast-dump=json", "-"], check=True,
                          input=source, capture_output=True, text=True).stdout
    return json.loads(text)["inner"]


def header_version(include):
    with open(f"{include}/hip/hip_version.h", encoding="utf-8") as header:
        return ".".join(re.findall(r"HIP_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", header.read()))


def make_rows(include, symbols):
    """name -> row, for one release."""
    nodes, versions = declared(include), exported(symbols)
    types, rows = Types(nodes), {}

    def add(since, result, name, parameters):
        bare = name.partition("=")[0]
        rows[bare] = f"{since:<5} {'-':<5} {result:<7} {name} {parameters}".rstrip()

    for node in nodes:
        name = node.get("name", "")
        if node["kind"] != "FunctionDecl" or not name.startswith("hip") or name not in versions:
            continue
        result = RESULTS[node["type"]["qualType"].split("(")[0].strip()]
        parameters = []
        for i, p in enumerate(p for p in node.get("inner", []) if p["kind"] == "ParmVarDecl"):
            pname = p.get("name", f"arg{i}")
            parameters.append(f"{pname}:{types.kind(name, pname, p['type']['qualType'])}")
        add(versions[name], result, name, " ".join(parameters))
    for name, result, parameters in HIP_EXT:
        if name in versions:
            add(versions[name], result, name, parameters)
    for name, symbol, result, parameters in CXX:
        if symbol in versions:
            add(versions[symbol], result, f"{name}={symbol}", parameters)
    return rows


def kinds_of(row):
    """What a caller passes, whatever the parameters are called."""
    same = {"handle": "ptr", "stream": "ptr", "text": "ptr", "out": "ptr", "out32": "ptr",
            "outf": "ptr", "enum": "i32", "u64": "size"}
    call = Call(row)
    return [call.result] + [same.get(kind, kind) for _, kind in call.parameters]


def release_number(text):
    return tuple(int(part) for part in text.split(".")[:2])


def merge(old_rows, rows, symbols, old_release, release):
    """The old rows stay as they are; what is gone gets its last release."""
    merged = {}
    for name, row in rows.items():
        # Some functions were given an old symbol version when they came.
        since, rest = row.split(None, 1)
        if name not in old_rows and release_number(since) <= release_number(old_release):
            row = f"{'.'.join(release.split('.')[:2]):<5} {rest}"
        merged[name] = row
    for name, row in old_rows.items():
        if name not in rows and name in symbols:
            merged[name] = row
            continue
        if name not in rows:
            fields = row.split(None, 2)
            last = fields[1] if fields[1] != "-" else ".".join(old_release.split(".")[:2])
            merged[name] = f"{fields[0]:<5} {last:<5} {fields[2]}"
            continue
        merged[name] = row
        if kinds_of(row) != kinds_of(rows[name]):
            print(f"changed: {row}\nto:      {rows[name]}", file=sys.stderr)
    return merged


def read_releases(path):
    with open(path, encoding="utf-8") as lines:
        return re.search(r"HIP (.*)\.$", lines.readlines()[1]).group(1).split(", ")


def make_list(include, symbols, old_list=None):
    rows, releases = make_rows(include, symbols), [header_version(include)]
    if old_list:
        releases = read_releases(old_list) + releases
        rows = merge({c.name: c.row for c in read_list(old_list)}, rows, exported(symbols),
                     releases[-2], releases[-1])
    return LIST_HEAD.format(releases="HIP " + ", ".join(releases)) + "".join(
        rows[name] + "\n" for name in sorted(rows))


class Call:
    def __init__(self, line):
        self.row = line.strip()
        self.since, self.last, self.result, name, *parameters = line.split()
        self.name, _, symbol = name.partition("=")
        self.symbol = symbol or self.name
        self.parameters = [p.split(":") for p in parameters]

    def words(self):
        """(name, letter, expression) of every recorded word."""
        out = []
        for name, kind in self.parameters:
            if kind in PARTS:
                out += [(name + suffix if suffix is not None else None, letter,
                         expression.format(name)) for suffix, letter, expression in PARTS[kind]]
            else:
                out.append((name, KINDS[kind][1], KINDS[kind][2].format(name)))
        return out

    def text(self):
        return " ".join([self.name] + [f"{n}:{k}" for n, k, _ in self.words() if n is not None])

    def stream(self):
        """The stream that the tool may ask about: the others do not set hipGetLastError anew."""
        if self.result != "error":
            return "NULL"
        return next((name for name, kind in self.parameters if kind == "stream"), "NULL")


def read_list(path):
    with open(path, encoding="utf-8") as lines:
        return [Call(line) for line in lines if line.strip() and not line.startswith("#")]


def print_ops(calls):
    print("/* Made by scripts/gen-hip-api.py from src/vendor/hip_api.list. */")
    print("#ifndef DAGTAP_CAPTURE_HIP_OPS_H\n#define DAGTAP_CAPTURE_HIP_OPS_H\n")
    print("enum hip_op {\n\tHIP_NONE,")
    for call in calls:
        print(f"\tHIP_{call.name},")
    print("\tHIP_OP_COUNT\n};\n")
    print("/* Where a call's argument is among the recorded words. */")
    for call in calls:
        names = [n for n, _, _ in call.words()]
        for index, name in enumerate(names):
            if name is not None:
                print(f"#define ARG_{call.name}_{name.replace('.', '_')} {index}")
    print("\n#endif")


def print_wrapper(call):
    ctype, absent, result = {
        "error": ("int ", "HIP_NOT_SUPPORTED", "result"),
        "i32": ("int ", "-1", "result"),
        "text": ("const char *", '""', "0"),
        "channel": ("struct hip_channel ", "(struct hip_channel){0}", "0"),
    }[call.result]
    types = ", ".join(KINDS[kind][0].strip() for _, kind in call.parameters) or "void"
    params = ", ".join(KINDS[kind][0] + name for name, kind in call.parameters) or "void"
    names = ", ".join(name for name, _ in call.parameters)
    # Before the call, what pointers point to is not there yet: hooks get the pointers themselves.
    before = ", ".join(e if letter not in tuple("otf") or "hip_float" in e else f"(uintptr_t){n}"
                       for n, letter, e in call.words()) or "0"
    after = ", ".join(expression for _, _, expression in call.words()) or "0"
    symbol = f' __asm__("{call.symbol}")' if call.symbol != call.name else ""
    print(f"""\
HIP_EXPORT {ctype}{call.name}({params}){symbol};
HIP_EXPORT {ctype}{call.name}({params})
{{
	{ctype}(*next)({types}) = hip_next(HIP_{call.name});
	struct hip_call call;

	if (!next)
		return {absent};
	if (!hip_enter(&call, HIP_{call.name}, {call.stream()}))
		return next({names});
	HIP_BEFORE(call, HIP_{call.name}, {before});
	{ctype}result = next({names});
	hip_leave(&call, {result}, {len(call.words())}, (const uint64_t[]){{{after}}});
	return result;
}}
""")


def print_wrappers(calls):
    print("/* Made by scripts/gen-hip-api.py from src/vendor/hip_api.list. */")
    print('#include "capture/hip/wrap.h"\n')
    print("const struct hip_op_info hip_ops[HIP_OP_COUNT] = {")
    for call in calls:
        print(f'\t[HIP_{call.name}] = {{"{call.symbol}", "{call.text()}"}},')
    print("};\n")
    for call in calls:
        print_wrapper(call)


def print_texts(calls):
    print("/* Made by scripts/gen-hip-api.py from src/vendor/hip_api.list: by number, from 1. */")
    print("static const char *const hip_op_texts[] = {")
    for call in calls:
        print(f'\t"{call.text()}",')
    print("};")


def check(path, include, symbols):
    """The release against the rows of the list that it has to have."""
    release = release_number(header_version(include))
    want, status = make_rows(include, symbols), 0
    have = {call.name: call for call in read_list(path)
            if release_number(call.since) <= release}
    for name in sorted(set(want) | set(have)):
        listed = have[name].row if name in have else "nothing"
        listed = re.sub(r"^(\S+ +)\S+( +)", r"\1-\2", listed)
        installed = want.get(name, "nothing")
        if listed.split() != installed.split():
            print(f"listed:    {listed}\ninstalled: {installed}", file=sys.stderr)
            status = 1
    return status


def check_exports(path, injected):
    text = subprocess.run(["nm", "-D", "--defined-only", injected], check=True,
                          capture_output=True, text=True).stdout
    symbols = set(re.findall(r" T (\S+)$", text, re.M))
    absent = [call.symbol for call in read_list(path) if call.symbol not in symbols]
    for symbol in absent:
        print(f"not exported: {symbol}", file=sys.stderr)
    return 1 if absent else 0


def main(argv):
    if argv[:1] == ["list"] and len(argv) in (3, 4):
        print(make_list(*argv[1:]), end="")
    elif argv[:1] == ["check"] and len(argv) == 4:
        return check(*argv[1:])
    elif argv[:1] == ["exports"] and len(argv) == 3:
        return check_exports(argv[1], argv[2])
    elif argv[:1] == ["ops"] and len(argv) == 2:
        print_ops(read_list(argv[1]))
    elif argv[:1] == ["wrappers"] and len(argv) == 2:
        print_wrappers(read_list(argv[1]))
    elif argv[:1] == ["texts"] and len(argv) == 2:
        print_texts(read_list(argv[1]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
