#!/usr/bin/env python3
"""Makes of src/sdk/functions.list what the library of src/sdk has for each function of the
interface.

gen-sdk-functions.py declarations|missing|map|table LIST
gen-sdk-functions.py operations TABLE CALLS RCCL

declarations: a header with the functions that are there. missing: C code of those that answer
NOT_IMPLEMENTED. map: the version script. table: the rows of docs/rocprofiler-sdk.md. operations:
HIP's operations, of src/vendor/hip_table.list, and their parameters, of src/vendor/hip_api.list;
RCCL's operations and their parameters, of src/vendor/rccl_api.list."""
import re
import sys

TYPES = {
    "int": "int ", "int*": "int *", "u32*": "uint32_t *", "u64*": "uint64_t *", "size": "size_t ",
    "status": "unsigned int ", "id": "struct sdk_id ", "id*": "struct sdk_id *", "ptr": "void *",
    "text*": "const char **", "operations": "const int *", "configure": "sdk_configure *",
    "buffer_callback": "sdk_buffer_callback *", "callback": "sdk_callback *",
    "request": "sdk_request *", "u64": "uint64_t ", "i32": "int32_t ", "user": "union sdk_user ",
    "user*": "union sdk_user *", "record": "struct sdk_callback_record ",
    "args_callback": "sdk_args_callback *", "thread_callback": "void (*{})(int library, void *data)",
    "kind_callback": "int (*{})(int kind, void *data)",
    "operation_callback": "int (*{})(int kind, int operation, void *data)",
    "agents_callback": "int (*{})(int version, const void **agents, size_t count, void *data)",
}
NOTE = "/* Made by scripts/gen-sdk-functions.py. */"


class Function:
    def __init__(self, line):
        line, _, self.remark = (part.strip() for part in line.partition("|"))
        found = re.fullmatch(r"(have|part|not|door) (\w+)(?:\((.*)\))?(->text)?", line)
        if not found or (found[1] == "part") != bool(self.remark):
            sys.exit(f"not a function: {line}")
        self.state, self.name, parameters, text = found.groups()
        self.result = "const char *" if text else "int "
        self.parameters = [p.strip().split(":") for p in (parameters or "").split(",") if p.strip()]

    def declaration(self):
        types = ((name, TYPES[kind]) for name, kind in self.parameters)
        parameters = (kind.format(name) if "{}" in kind else kind + name for name, kind in types)
        return f"{self.result}{self.name}({', '.join(parameters) or 'void'})"


def functions(path):
    with open(path, encoding="utf-8") as file:
        return [Function(line) for line in file if line.strip() and not line.startswith("#")]


def declarations(path):
    yield from (NOTE, "#ifndef DAGTAP_SDK_FUNCTIONS_H", "#define DAGTAP_SDK_FUNCTIONS_H", '#include "sdk/abi.h"')
    yield from (f.declaration() + ";" for f in functions(path) if f.state in ("have", "part"))
    yield "#endif"


def missing(path):
    yield from (NOTE, '#include "sdk/abi.h"')
    for f in functions(path):
        if f.state == "not":
            answer = "NULL" if "char" in f.result else "SDK_ERROR_NOT_IMPLEMENTED"
            head = f"__attribute__((visibility(\"default\"))) {f.declaration()}"
            yield from (head + ";", head, "{", f"\treturn {answer};", "}")


def version_script(path):
    yield from (NOTE, "{", "\tglobal:")
    yield from (f"\t\t{f.name};" for f in functions(path))
    yield from ("\tlocal:", "\t\t*;", "};")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.split() for line in file if line.strip() and not line.startswith("#")]


# Where the interface names a parameter otherwise than HIP's headers.
RENAMED = {"f": "func", "hStream": "stream", "max_width": "maxWidthInElements"}
AS_IN_HIP = {"hipCreateChannelDesc", "hipDrvLaunchKernelEx"}
# The same of RCCL's.
MSCCL = {"path": "mscclAlgoFilePath", "handle": "mscclAlgoHandle", "algo": "mscclAlgoHandle", "datatype": "dataType"}
RENAMED_RCCL = {"ncclScatter": {"sendcount": "recvcount"}, "ncclCommInitRankConfig": {"newcomm": "comm"},
                "mscclLoadAlgo": MSCCL, "mscclRunAlgo": MSCCL, "mscclUnloadAlgo": MSCCL}


def parameters_of(renamed, parameters):
    pairs = (parameter.split(":") for parameter in parameters)
    return " ".join(f"{renamed.get(own, own)}:{kind}" for own, kind in pairs)


def operations(table_path, calls_path, rccl_path):
    """The operations are the slots of HIP's and RCCL's dispatch tables, in their order."""
    names = [row[1] for row in rows_of(table_path)]
    parameters = {row[3].partition("=")[0]: row[4:] for row in rows_of(calls_path)}
    # The one that the interface names otherwise.
    renamed = {"hipChooseDeviceR0600": "hipChooseDevice"}
    yield from (NOTE, '#include "sdk/names.h"', "const char *const sdk_hip_operations[] = {")
    yield from (f'\t"{renamed.get(name, name)}",' for name in names)
    yield from ("};", f"const int sdk_hip_operation_count = {len(names)};",
                "const char *const sdk_hip_parameters[] = {")
    yield from (f'\t"{parameters_of({} if name in AS_IN_HIP else RENAMED, parameters.get(name, []))}",'
                for name in names)
    rccl = rows_of(rccl_path)
    yield from ("};", "const char *const sdk_rccl_operations[] = {", *(f'\t"{row[1]}",' for row in rccl), "};",
                f"const int sdk_rccl_operation_count = {len(rccl)};", "const char *const sdk_rccl_parameters[] = {")
    yield from (f'\t"{parameters_of(RENAMED_RCCL.get(row[1], {}), row[2:])}",' for row in rccl)
    yield "};"


def table(path):
    yield from ("| function | state | what is missing |", "|---|---|---|")
    for f in functions(path):
        if f.state != "door":
            yield f"| `{f.name}` | {f.state} | {f.remark} |"


MAKERS = {"declarations": declarations, "missing": missing, "map": version_script, "operations": operations,
          "table": table}
if len(sys.argv) < 3 or sys.argv[1] not in MAKERS or len(sys.argv) != 3 + 2 * (sys.argv[1] == "operations"):
    sys.exit(__doc__)
print("\n".join(MAKERS[sys.argv[1]](*sys.argv[2:])))
