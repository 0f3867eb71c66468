#!/usr/bin/env python3
"""Keeps src/vendor/hip_api.list, and makes the HIP wrappers from it, and those of RCCL and NCCL
from rccl_api.list and nccl_api.list.

    gen-hip-api.py list INCLUDE SYMBOLS [LIST]   prints the list of one HIP release: its headers
                                                 (as clang reads them) and its symbols, from the
                                                 library itself or from hip_hcc.map.in. With LIST,
                                                 what that has of older releases stays
    gen-hip-api.py check LIST INCLUDE SYMBOLS    fails when that release is not as LIST says
    gen-hip-api.py account LIST UNRECORDED INCLUDE LIBRARY
                                                 fails when the library of any release exports a
                                                 function that neither list has (UNRECORDED is
                                                 src/vendor/hip_unrecorded.list), or one that LIST
                                                 has with other kinds of parameters
    gen-hip-api.py exports LIST UNRECORDED INJECTED fails when the injected library lacks a
    function,
                                                 or has one that is to be left alone
    gen-hip-api.py functions LIST > hip_functions.h the numbers of the calls
    gen-hip-api.py function-infos LIST UNSUBSCRIBED > hip_functions.c
                                                 their symbols, what API_NAME records
                                                 say of them, and which are in
                                                 src/vendor/hip_unsubscribed.list
    gen-hip-api.py wrappers LIST TABLE UNSUBSCRIBED > wrappers.c
                                                 the calls; TABLE is src/vendor/hip_table.list
    gen-hip-api.py rccl-functions LIST MORE > rccl_functions.h
                                                 the same for RCCL, whose LIST is in its
                                                 table's order, and for the functions of
                                                 MORE, which are NCCL's alone
    gen-hip-api.py rccl-function-infos LIST MORE > rccl_functions.c
    gen-hip-api.py rccl-wrappers LIST MORE > rccl_wrappers.c
    gen-hip-api.py texts LIST > hip_function_texts.h
                                                 what API_NAME records say of them, without
                                                 the calls

Only "list", "check" and "account" need clang; a build needs no more than this file and Python.
"""
import fnmatch
import json
import re
import subprocess
import sys

# Tables of one kind that are wrapped: DOOR_TABLES of src/capture/frame.h.
TABLES = 2

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
#   dim3 extent pitched location ipc    structs by value; ipc is not recorded
#   launch                       pointer to a struct that holds the stream, which is recorded too
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
# extern "C", but in a header that is C++ all the same; or of an interface that came before the
# present one.
HIP_EXT = [
    ("hipChooseDeviceR0000", "error", "device:out32 prop:ptr"),
    ("hipGetDevicePropertiesR0000", "error", "prop:ptr deviceId:i32"),
    ("hipExtLaunchKernel", "error",
     "function_address:ptr numBlocks:dim3 dimBlocks:dim3 args:ptr sharedMemBytes:size stream:stream "
     "startEvent:handle stopEvent:handle flags:i32"),
]

# Pointers to what the caller gives, or to more than one value, where the type says "output".
NOT_OUT = {
    None: {"kernelParams", "extra", "args", "optionsValues", "optionValues", "options", "nodes",
           "from", "to", "pDependencies", "pDependentNodes", "pRootNodes", "dependencies",
           "resources", "attributes", "data_sizes", "cuMask", "device_arr", "pHipDevices",
           "pErrorNode", "hErrorNode_out", "jitOptions", "jitOptionsValues", "libraryOptions",
           "libraryOptionValues", "dsts", "srcs", "sizes", "attrsIdxs"},
    "hipTexRefSetBorderColor": {"pBorderColor"},
    "hipTexRefGetBorderColor": {"pBorderColor"},
    "hipMemRangeGetAttributes": {"data"},
    "hipDrvPointerGetAttributes": {"data"},
    "hipMemExportToShareableHandle": {"shareableHandle"},
    "hipDrvLaunchKernelEx": {"params"},
    "hipLibraryEnumerateKernels": {"kernels"},
}

SCALARS = {
    "int": "i32", "unsigned int": "u32", "unsigned long": "size", "unsigned long long": "u64",
    "unsigned char": "u8", "unsigned short": "u16", "float": "f32", "uint64_t": "u64",
}
STRUCTS = {
    "dim3": "dim3", "hipExtent": "extent", "hipPitchedPtr": "pitched",
    "hipIpcMemHandle_st": "ipc", "hipIpcEventHandle_st": "ipc", "hipMemLocation": "location",
}
# Pointers to structs that hold the stream.
LAUNCH_CONFIGS = {"hipLaunchConfig_t", "hipLaunchConfig_st", "HIP_LAUNCH_CONFIG",
                  "HIP_LAUNCH_CONFIG_st"}
RESULTS = {"hipError_t": "error", "int": "i32", "const char *": "text",
           "struct hipChannelFormatDesc": "channel"}

# kind: (C type, letter in the trace, expression of what is recorded)
KINDS = {
    "ptr": ("void *", "p", "(uintptr_t){}"),
    "handle": ("void *", "h", "(uintptr_t){}"),
    "stream": ("void *", "h", "(uintptr_t){}"),
    "text": ("const char *", "t", "word_text({})"),
    "out": ("uint64_t *", "o", "word_out64(result, {})"),
    "out32": ("uint32_t *", "o", "word_out32(result, {})"),
    "outf": ("uint32_t *", "f", "word_out32(result, {})"),
    "size": ("size_t ", "s", "{}"),
    "u64": ("uint64_t ", "u", "{}"),
    "u32": ("uint32_t ", "u", "{}"),
    "u16": ("uint16_t ", "u", "{}"),
    "u8": ("uint8_t ", "u", "{}"),
    "i32": ("int ", "i", "(uint64_t)(int64_t){}"),
    "enum": ("int ", "e", "(uint64_t)(int64_t){}"),
    "f32": ("float ", "f", "word_float({})"),
    "dim3": ("struct hip_dim3 ", "d", None),
    "extent": ("struct hip_extent ", "s", None),
    "pitched": ("struct hip_pitched ", "s", None),
    "ipc": ("struct hip_ipc_handle ", None, None),
    "comm": ("void *", "h", "(uintptr_t){}"),
    "newcomm": ("void **", "o", "rccl_made(result, {})"),
    "uid": ("struct rccl_unique_id ", "u", "rccl_unique_id_hash(&{})"),
    "uids": ("const struct rccl_unique_id *", "u", "rccl_unique_id_hash({})"),
    "location": ("struct hip_location ", None, None),
    "launch": ("const struct hip_launch_config *", None, None),
}
# Structs: the words they become, as (suffix of the name or "=name", letter, member expression).
PARTS = {
    "dim3": [("", "d", "{0}.x | (uint64_t){0}.y << 32"), (None, None, "{0}.z")],
    "extent": [(".width", "s", "{0}.width"), (".height", "s", "{0}.height"),
               (".depth", "s", "{0}.depth")],
    "pitched": [(".ptr", "p", "(uintptr_t){0}.ptr"), (".pitch", "s", "{0}.pitch"),
                (".xsize", "s", "{0}.xsize"), (".ysize", "s", "{0}.ysize")],
    "ipc": [],
    "launch": [("", "p", "(uintptr_t){0}"),
               ("=stream", "h", "(uintptr_t)hip_config_stream({0})")],
    "location": [(".type", "e", "(uint64_t)(int64_t){0}.type"),
                 (".id", "i", "(uint64_t)(int64_t){0}.id")],
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
        if re.sub(r"\bconst\b", "", text).strip() in LAUNCH_CONFIGS:
            return "launch"
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


def part_name(name, suffix):
    """Of one word of a parameter: the parameter's with a suffix, or its own; None = a word more."""
    if suffix is None:
        return None
    return suffix[1:] if suffix.startswith("=") else name + suffix


class Call:
    def __init__(self, line):
        self.row = line.strip()
        fields = self.row.split()
        self.since, self.last = fields[:2] if fields[0][0].isdigit() else (None, None)
        self.result, name, *parameters = fields[2 if self.since else 0:]
        self.name, _, symbol = name.partition("=")
        self.symbol = symbol or self.name
        self.parameters = [p.split(":") for p in parameters]

    def words(self):
        """(name, letter, expression) of every recorded word."""
        out = []
        for name, kind in self.parameters:
            if kind in PARTS:
                out += [(part_name(name, suffix), letter, expression.format(name))
                        for suffix, letter, expression in PARTS[kind]]
            else:
                out.append((name, KINDS[kind][1], KINDS[kind][2].format(name)))
        return out

    def parameter(self, wanted):
        return next((name for name, kind in self.parameters if kind == wanted), None)


class Hip:
    """HIP's side of what the wrappers of an interface are made of."""
    lower, upper, first_number = "hip", "HIP", 0
    list_path = "src/vendor/hip_api.list"
    info_header = "hip_runtime.h"
    absent = "HIP_NOT_SUPPORTED"

    @staticmethod
    def subject(call):
        """The stream that the tool may ask about: the others do not set hipGetLastError anew."""
        if call.result != "error":
            return "NULL"
        if call.parameter("launch"):
            return f"hip_config_stream({call.parameter('launch')})"
        return call.parameter("stream") or "NULL"

    @staticmethod
    def words(call):
        return call.words()

    @staticmethod
    def before(call):
        """Before the call, what pointers point to is not there yet: hooks get the pointers."""
        words = ", ".join(e if letter not in tuple("otf") or "word_float" in e else f"(uintptr_t){n}"
                          for n, letter, e in call.words()) or "0"
        return f"\tHIP_BEFORE(call, HIP_{call.name}, {words});\n"


class Rccl:
    """RCCL's and NCCL's: what works on data also tells its communicator and its number."""
    lower, upper, first_number = "rccl", "RCCL", 2048
    list_path = "src/vendor/rccl_api.list"
    info_header = "rccl_wrap.h"
    absent = "RCCL_INTERNAL_ERROR"
    # Operations that not all ranks of a communicator call.
    transfers = "ncclSend", "ncclRecv", "ncclPutSignal", "ncclSignal", "ncclWaitSignal"

    @staticmethod
    def is_operation(call):
        return bool(call.parameter("comm") and call.parameter("stream"))

    @staticmethod
    def subject(call):
        comm = call.parameter("comm") or "NULL"
        if not Rccl.is_operation(call):
            return f"{comm}, RCCL_NO_OPERATION"
        return f"{comm}, {'RCCL_TRANSFER' if call.name in Rccl.transfers else 'RCCL_COLLECTIVE'}"

    @staticmethod
    def words(call):
        words = call.words()
        if Rccl.is_operation(call):
            words += [("rank", "i", "(uint64_t)(int64_t)call.of.rank"), ("seq", "u", "call.sequence"),
                      ("nranks", "i", "(uint64_t)(int64_t)call.of.ranks"), ("commId", "u", "call.of.id")]
        return words

    @staticmethod
    def before(call):
        """Pointers as they are, and a pointer to what is passed by value and has no word."""
        words = ", ".join(f"(uintptr_t)&{name}" if kind == "uid" else
                          f"(uintptr_t){name}" if KINDS[kind][0].endswith("*") else KINDS[kind][2].format(name)
                          for name, kind in call.parameters) or "0"
        return f"\tRCCL_BEFORE(call, {words});\n"


def read_order(path):
    """The functions of a table's slots (scripts/gen-tables.py)."""
    with open(path, encoding="utf-8") as lines:
        return [line.split()[1] for line in lines if line.strip() and not line.startswith("#")]


def text_of(api, call):
    return " ".join([call.name] + [f"{n}:{k}" for n, k, _ in api.words(call) if n is not None])


def read_list(path):
    with open(path, encoding="utf-8") as lines:
        return [Call(line) for line in lines if line.strip() and not line.startswith("#")]


def print_functions(api, calls):
    guard = f"DAGTAP_CAPTURE_{api.upper}_FUNCTIONS_H"
    print(f"/* Made by scripts/gen-hip-api.py from {api.list_path}. */")
    print(f"#ifndef {guard}\n#define {guard}\n")
    print(f"enum {api.lower}_function {{\n\t{api.upper}_NONE = {api.first_number},")
    for call in calls:
        print(f"\t{api.upper}_{call.name},")
    print(f"\t{api.upper}_FUNCTION_COUNT\n}};\n")
    print("/* Where a call's argument is among the recorded words. */")
    for call in calls:
        names = [n for n, _, _ in api.words(call)]
        for index, name in enumerate(names):
            if name is not None:
                print(f"#define ARG_{call.name}_{name.replace('.', '_')} {index}")
    print("\n#endif")


def print_wrapper(api, call, in_table, is_unsubscribed):
    ctype, absent, result = {
        "error": ("int ", api.absent, "result"),
        "i32": ("int ", "-1", "result"),
        "text": ("const char *", '""', "0"),
        "channel": ("struct hip_channel ", "(struct hip_channel){0}", "0"),
    }[call.result]
    types = ", ".join(KINDS[kind][0].strip() for _, kind in call.parameters) or "void"
    params = ", ".join(KINDS[kind][0] + name for name, kind in call.parameters) or "void"
    names = ", ".join(name for name, _ in call.parameters)
    words = api.words(call)
    after = ", ".join(expression for _, _, expression in words) or "0"
    symbol = f' __asm__("{call.symbol}")' if call.symbol != call.name else ""
    at_door = f"unsigned int door{', ' + params if params != 'void' else ''}"
    pass_on = f", {names}" if names else ""
    op = f"{api.upper}_{call.name}"
    keep = "\tcall.frame.text = result;\n" if call.result == "text" else ""
    is_off = "hip_is_unsubscribed() || " if is_unsubscribed else ""
    print(f"""\
static {ctype}at_{call.name}({at_door})
{{
	{ctype}(*next)({types}) = {api.lower}_next_at(door, {op});
	struct {api.lower}_call call;

	if (!next)
		return {absent};
	if ({is_off}!{api.lower}_enter(&call, {op}, door, {api.subject(call)}))
		return next({names});
{api.before(call)}	{ctype}result = next({names});
{keep}	{api.lower}_leave(&call, {result}, {len(words)}, (const uint64_t[]){{{after}}});
	return result;
}}
CAPTURE_EXPORT {ctype}{call.name}({params}){symbol};
CAPTURE_EXPORT {ctype}{call.name}({params})
{{
	return at_{call.name}(DOOR_SYMBOL{pass_on});
}}""")
    if symbol:
        print(f"""\
CAPTURE_EXPORT {ctype}plain_{call.name}({params}) __asm__("{call.name}");
CAPTURE_EXPORT {ctype}plain_{call.name}({params})
{{
	return at_{call.name}(DOOR_SYMBOL{pass_on});
}}""")
    for table in range(TABLES if in_table else 0):
        print(f"""\
static {ctype}of_table_{table}_{call.name}({params})
{{
	return at_{call.name}(DOOR_TABLE + {table}{pass_on});
}}""")
    print()


def print_slots(api, calls, order):
    known = {call.name for call in calls}
    print(f"static const struct table_slot slots[{len(order)}] = {{")
    for place, name in enumerate(order):
        if name in known:
            wrappers = ", ".join(f"(void (*)(void))of_table_{t}_{name}" for t in range(TABLES))
            number = f"{api.upper}_{name} - {api.upper}_NONE"
            print(f"\t[{place}] = {{{number}, {{{wrappers}}}}},")
    print(f"}};\nconst struct table_layout {api.lower}_table_layout = {{slots, {len(order)}}};")


def read_unsubscribed(path, calls):
    with open(path, encoding="utf-8") as lines:
        names = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    unknown = names - {call.name for call in calls}
    if unknown:
        sys.exit(f"{path}: no such functions: {' '.join(sorted(unknown))}")
    return names


def print_infos(api, calls, unsubscribed=()):
    print(f"/* Made by scripts/gen-hip-api.py from {api.list_path}. */")
    print(f'#include "capture/{api.lower}/{api.info_header}"\n')
    print(f"const struct {api.lower}_function_info {api.lower}_functions[{api.upper}_FUNCTION_COUNT - "
          f"{api.upper}_NONE] = {{")
    for call in calls:
        plain = f', .plain = "{call.name}"' if call.symbol != call.name else ""
        mark = ", .is_unsubscribed = true" if call.name in unsubscribed else ""
        print(f'\t[{api.upper}_{call.name} - {api.upper}_NONE] = {{"{call.symbol}", '
              f'"{text_of(api, call)}"{plain}{mark}}},')
    print("};")


def print_wrappers(api, calls, order, unsubscribed=()):
    print(f"/* Made by scripts/gen-hip-api.py from {api.list_path}. */")
    print(f'#include "capture/visible.h"\n#include "capture/{api.lower}/{api.lower}_wrap.h"\n')
    print(f"_Static_assert(DOOR_TABLES == {TABLES}, \"one wrapper a table\");")
    for call in calls:
        print_wrapper(api, call, call.name in order, call.name in unsubscribed)
    print_slots(api, calls, order)


def print_symbols(api, calls):
    """The wrappers, for who looks functions up."""
    print(f"\nvoid *const {api.lower}_symbols[{api.upper}_COUNT] = {{")
    for call in calls:
        print(f"\t[{api.upper}_{call.name} - {api.upper}_NONE] = (void *){call.name},")
    print("};")


def print_texts(calls):
    print("/* Made by scripts/gen-hip-api.py from src/vendor/hip_api.list: by number, from 1. */")
    print("static const char *const hip_function_texts[] = {")
    for call in calls:
        print(f'\t"{text_of(Hip, call)}",')
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


def functions_of(library):
    """The functions that it exports, without their versions."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    return set(re.findall(r" [TW] ([^\s@]+)\S*$", text, re.M))


def read_unrecorded(path):
    """pattern -> what is done with it, "-" or "seen"."""
    with open(path, encoding="utf-8") as lines:
        return {line.split()[1]: line.split()[0] for line in lines
                if line.strip() and not line.startswith("#")}


def is_among(symbol, patterns):
    return any(fnmatch.fnmatchcase(symbol, pattern) for pattern in patterns)


def report(what, names):
    for name in sorted(names):
        print(f"{what}: {name}", file=sys.stderr)
    return 1 if names else 0


def account(path, unrecorded, include, library):
    """Every function of a release against both lists."""
    calls = {call.name: call for call in read_list(path)}
    known = set(calls) | {call.symbol for call in calls.values()}
    patterns = read_unrecorded(unrecorded)
    other_kinds = [f"{row}\nlisted: {calls[name].row}"
                   for name, row in make_rows(include, library).items()
                   if name in calls and kinds_of(row) != kinds_of(calls[name].row)]

    return (report("in neither list", {symbol for symbol in functions_of(library) - known
                                       if not is_among(symbol, patterns)}) |
            report("in both lists", {symbol for symbol in known if is_among(symbol, patterns)}) |
            report("changed", other_kinds))


def check_exports(path, unrecorded, injected):
    symbols = functions_of(injected)
    calls, patterns = read_list(path), read_unrecorded(unrecorded)
    seen = {pattern for pattern, what in patterns.items() if what == "seen"}
    wanted = {call.symbol for call in calls} | {call.name for call in calls} | seen

    return (report("not exported", wanted - symbols) |
            report("not to be exported", {symbol for symbol in symbols - wanted
                                          if is_among(symbol, patterns)}))


def main(argv):
    if argv[:1] == ["list"] and len(argv) in (3, 4):
        print(make_list(*argv[1:]), end="")
    elif argv[:1] == ["check"] and len(argv) == 4:
        return check(*argv[1:])
    elif argv[:1] == ["account"] and len(argv) == 5:
        return account(*argv[1:])
    elif argv[:1] == ["exports"] and len(argv) == 4:
        return check_exports(*argv[1:])
    elif argv[:1] == ["functions"] and len(argv) == 2:
        print_functions(Hip, read_list(argv[1]))
    elif argv[:1] == ["function-infos"] and len(argv) == 3:
        calls = read_list(argv[1])
        print_infos(Hip, calls, read_unsubscribed(argv[2], calls))
    elif argv[:1] == ["wrappers"] and len(argv) == 4:
        calls = read_list(argv[1])
        print_wrappers(Hip, calls, read_order(argv[2]), read_unsubscribed(argv[3], calls))
    elif argv[:1] == ["rccl-functions"] and len(argv) == 3:
        print_functions(Rccl, read_list(argv[1]) + read_list(argv[2]))
    elif argv[:1] == ["rccl-function-infos"] and len(argv) == 3:
        print_infos(Rccl, read_list(argv[1]) + read_list(argv[2]))
    elif argv[:1] == ["rccl-wrappers"] and len(argv) == 3:
        of_table = read_list(argv[1])
        calls = of_table + read_list(argv[2])
        print_wrappers(Rccl, calls, [call.name for call in of_table])
        print_symbols(Rccl, calls)
    elif argv[:1] == ["texts"] and len(argv) == 2:
        print_texts(read_list(argv[1]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
