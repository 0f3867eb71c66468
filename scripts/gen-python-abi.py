#!/usr/bin/env python3
"""Keeps what the Python packages know of the C headers: python/PACKAGE/src/PACKAGE/_abi.py, where
PACKAGE is dagpatch or dagtap.

    gen-python-abi.py PACKAGE python > python/PACKAGE/src/PACKAGE/_abi.py
        structs, enums and functions, for ctypes
    gen-python-abi.py PACKAGE check
        fails when that file is out of date
    gen-python-abi.py PACKAGE asserts
        a C file that compiles only where sizes, offsets, values and prototypes are as in that file

Reads the package's headers: declarations of the form that these have (enums, structs, unions in
structs, typedefs of callbacks, functions). Anything else is an error, never skipped; what is left
out is named in PACKAGES. "asserts" takes what it says from ctypes, and leaves it to the compiler to
compare that with the headers.
"""

import ctypes
import importlib.util
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Package:
    """A Python package and the headers that it is made for."""

    def __init__(self, name, headers, left_out=None):
        self.name = name
        self.prefix = f"{name}_"
        self.headers = headers
        # Of functions that the package does not call, and of structs that only these take.
        self.left_out = re.compile(left_out or r"(?!)")
        self.output = ROOT / "python" / name / "src" / name / "_abi.py"


# Each behind those that it includes.
DAGPATCH_PARTS = [
    "basics", "contexts", "recordings", "nodes", "captured_work", "launches", "inspection", "caches", "model"
]
PACKAGES = {
    "dagpatch": Package("dagpatch", [f"dagpatch/{part}.h" for part in DAGPATCH_PARTS]),
    # The rows of a trace are read as columns, and Arrow's own structs are in _arrow.py.
    "dagtap": Package(
        "dagtap",
        [
            f"dagtap/{name}.h"
            for name in ("error", "annotate", "session", "trace", "columns", "export")
        ],
        r"dagtap_export_to_sized|dagtap_export_(options|thread)|dagtap_trace_get_\w+_sized|dagtap_trace_(process|thread|device|stream|attribute|call|"
        r"activity|graph|node|edge|launch|source|message|scope|\w+_kind|direction|confidence)|"
        r"Arrow\w+",
    ),
}

SCALARS = {  # the C type, as ctypes has it, and as Python does
    "int": ("c_int", "int"),
    "size_t": ("c_size_t", "int"),
    "char": ("c_char", "Text"),
    "uint32_t": ("c_uint32", "int"),
    "int32_t": ("c_int32", "int"),
    "int64_t": ("c_int64", "int"),
    "uint64_t": ("c_uint64", "int"),
    "double": ("c_double", "float"),
}

HEAD = '''\
"""What HEADERS declare, for ctypes.

Made by scripts/gen-python-abi.py from the headers; do not edit. A name here is the C name
without "PREFIX", in Python's style: struct EXAMPLE.
"""
from __future__ import annotations

import enum
IMPORTS
from typing import Any, Optional

# As ctypes gives them; fields of structs are called bytes and type.
Text = bytes
OptionalText = Optional[bytes]
Address = Optional[int]


class Struct(Structure):
    """A struct of C that shows its fields."""

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name, *_ in self._fields_)
        shown = [f"{name}={list(value) if hasattr(value, '_length_') else value!r}"
                 for name, value in values]
        return f"{type(self).__name__}({', '.join(shown)})"


'''


def camel(name):
    words = re.sub("^(dagpatch|dagtap)_", "", name).split("_")
    return "".join(word.capitalize() for word in words)


def constant(name):
    return re.sub("^(DAGPATCH|DAGTAP)_", "", name)


class Header:
    """The declarations of the headers, in their order."""

    def __init__(self, package):
        self.package = package
        self.defines, self.values = {}, {}
        self.unions = {}  # the C name of each, which is none of its own
        self.enums, self.structs, self.callbacks, self.functions = {}, {}, {}, {}
        self.opaque = set()
        for name in package.headers:
            self.read((ROOT / "include" / name).read_text(encoding="utf-8"))

    def read(self, text):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        for found in re.finditer(r"^#define (DAG\w+)\s+(\d+|UINT(32|64)_MAX)$", text, re.M):
            self.defines[found[1]] = 2 ** int(found[3]) - 1 if found[3] else int(found[2])
        # Preprocessor lines, with those that continue them.
        text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
        text = re.sub(r'extern "C" \{', "", text)
        text = re.sub(r"static inline [^{;]*\{.*?\n\}", "", text, flags=re.S)
        text = re.sub(r"\}\s*$", "", text) if text.count("{") < text.count("}") else text
        for statement in self.statements(text):
            self.declaration(" ".join(statement.split()))

    @staticmethod
    def statements(text):
        depth, begin = 0, 0
        for at, letter in enumerate(text):
            depth += (letter == "{") - (letter == "}")
            if letter == ";" and depth == 0:
                yield text[begin:at]
                begin = at + 1
        if text[begin:].strip():
            sys.exit(f"gen-python-abi: not understood at the end: {text[begin:].strip()[:80]}")

    def declaration(self, text):
        words = re.match(r"(?:struct|enum) (\w+)(?: \{|$)|[^({]*?(\w+)\(", text)
        if words and self.package.left_out.fullmatch(words[1] or words[2] or ""):
            return
        if found := re.fullmatch(r"enum ?(\w*) ?\{(.*)\}", text):
            self.enum(found[1], found[2])
        elif found := re.fullmatch(r"struct (\w+)", text):
            self.opaque.add(found[1])
        elif found := re.fullmatch(r"struct (\w+) \{(.*)\}", text):
            self.structs[found[1]] = self.members(found[1], found[2])
        elif found := re.fullmatch(r"typedef (\w+) \(\*(\w+)\)\((.*)\)", text):
            self.callbacks[found[2]] = (camel(found[2]), found[1], self.parameters(found[3]))
        elif found := re.fullmatch(r"([\w ]+?[ *]+)(\w+)\((.*)\)", text):
            self.functions[found[2]] = (found[1].strip(), self.parameters(found[3]))
        else:
            sys.exit(f"gen-python-abi: not understood: {text[:100]}")

    def enum(self, name, body):
        value, members = 0, {}
        for item in body.split(","):
            if not item.strip():
                continue
            member, _, given = (part.strip() for part in item.partition("="))
            value = int(given, 0) if given else value
            members[member] = self.values[member] = value
            value += 1
        self.enums[name or f"#{len(self.enums)}"] = members

    def members(self, owner, body):
        """The fields of a struct. A union in it is a type of its own, OWNER_FIELD."""

        def name_union(found):
            name = f"{owner}_{found[2]}"
            self.structs[name] = self.members(name, found[1])
            self.unions[name] = f"__typeof__(((struct {owner} *)0)->{found[2]})"
            return f"struct {name} {found[2]}"

        body = re.sub(r"union \{([^{}]*)\} (\w+)", name_union, body)
        return [
            field
            for part in body.split(";")
            if part.strip()
            for field in self.fields(part.strip(), camel(owner))
        ]

    def fields(self, text, owner):
        """[(name, type, dimensions)] of a line in a struct, e.g. "struct dagpatch_end dst, src"."""
        if found := re.fullmatch(r"(\w+) \(\*(\w+)\)\((.*)\)", text):
            signature = f"{found[1]}({found[3]})"
            if signature not in self.callbacks:
                self.callbacks[signature] = (
                    owner + camel(found[2]),
                    found[1],
                    self.parameters(found[3]),
                )
            return [(found[2], signature, [])]
        first, *others = [part.strip() for part in text.split(",")]
        found = re.fullmatch(r"(.*?[ *])(\w+)((?:\[\w+\])*)", first)
        if not found or (others and "*" in text):
            sys.exit(f"gen-python-abi: not understood: {text}")
        names = [found.group(2, 3)] + [
            re.fullmatch(r"(\w+)((?:\[\w+\])*)", other).groups() for other in others
        ]
        return [
            (name, found[1].strip(), [self.number(n) for n in re.findall(r"\[(\w+)\]", dimensions)])
            for name, dimensions in names
        ]

    def parameters(self, text):
        """[(name, type)]; an array is a pointer."""
        parameters = []
        for part in re.split(r",(?![^()]*\))", "" if text == "void" else text):
            if part.strip():
                ((name, kind, dimensions),) = self.fields(part.strip(), "")
                parameters.append((name, kind + " *" if dimensions else kind))
        return parameters

    def number(self, text):
        return int(text) if text.isdigit() else self.values.get(text, self.defines.get(text))


class Python:
    """The text of _abi.py."""

    def __init__(self, header):
        self.header = header

    def type(self, text):
        """ctypes' type and Python's annotation for what a field or parameter of this C type
        holds."""
        if text in self.header.callbacks:
            return self.header.callbacks[text][0], "Any"
        base, stars = re.sub(r"\bconst\b|\*", " ", text).split(), text.count("*")
        name = base[-1]
        if base[0] == "enum":
            kind, hint = "c_int", "int"
        elif base[0] == "struct":
            if name in self.header.structs:
                kind, hint = camel(name), camel(name)
            elif stars:
                kind, hint, stars = "c_void_p", "Address", stars - 1
            else:
                sys.exit(f"gen-python-abi: {name} is not declared")
        elif name == "void":
            if not stars:
                return "None", "None"
            kind, hint, stars = "c_void_p", "Address", stars - 1
        elif name == "char" and stars:
            kind, hint, stars = "c_char_p", "OptionalText", stars - 1
        elif name in SCALARS:
            kind, hint = SCALARS[name]
        else:
            sys.exit(f"gen-python-abi: no type of ctypes for {text}")
        for _ in range(stars):
            kind, hint = f"POINTER({kind})", "Any"
        return kind, hint

    def struct(self, name):
        base = "Union" if name in self.header.unions else "Struct"
        fields, hints = [], []
        for field, kind, dimensions in self.header.structs[name]:
            ctype, hint = self.type(kind)
            for n in dimensions:
                ctype, hint = f"{ctype} * {n}", "Text" if ctype == "c_char" else "Any"
            fields.append(f'        ("{field}", {ctype}),')
            hints.append(f"    {field}: {hint}")
        return "\n".join(
            [f"class {camel(name)}({base}):", *hints, "    _fields_ = [", *fields, "    ]"]
        )

    def enum(self, name, members):
        if name.startswith("#"):
            return "\n".join(f"{constant(member)} = {value}" for member, value in members.items())
        lines = [
            f"class {camel(name)}(enum.Int{'Flag' if name.endswith('capability') else 'Enum'}):"
        ]
        lines += [
            f"    {constant(member)} = {value}"
            for member, value in members.items()
            if not member.endswith("_COUNT")
        ]
        counts = [
            f"{constant(member)} = {value}"
            for member, value in members.items()
            if member.endswith("_COUNT")
        ]
        return "\n".join(lines + (["", "", *counts] if counts else []))

    def callback(self, name):
        shown, result, parameters = self.header.callbacks[name]
        types = ", ".join(self.type(kind)[0] for _, kind in parameters)
        # Of a c_char_p ctypes makes bytes that end at a 0, which texts with a length do not have.
        types = types.replace("c_char_p", "c_void_p")
        return f"{shown} = CFUNCTYPE({self.type(result)[0]}, {types})"

    def function(self, name):
        result, parameters = self.header.functions[name]
        types = ", ".join(self.type(kind)[0] for _, kind in parameters)
        return textwrap.fill(
            f'"{name}": ({self.type(result)[0]}, [{types}]),',
            100,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
        )

    def order(self):
        """Structs and callbacks, each after what it is made of."""
        done, order = set(), []

        def visit(name, is_callback):
            if name in done:
                return
            done.add(name)
            made_of = self.header.callbacks[name][2] if is_callback else self.header.structs[name]
            for _, kind, *_ in made_of:
                if kind in self.header.callbacks:
                    visit(kind, True)
                    continue
                for used in re.findall(r"struct (\w+)", kind):
                    if used in self.header.structs:
                        visit(used, False)
            order.append((name, is_callback))

        for name in self.header.structs:
            visit(name, False)
        for name in self.header.callbacks:
            visit(name, True)
        return order

    def with_head(self, body):
        """BODY behind the docstring and what it imports."""
        package = self.header.package
        example = {"dagpatch": "dagpatch_kernel is Kernel", "dagtap": "dagtap_error is Error"}
        headers = ", ".join(package.headers[:-1]) + " and " + package.headers[-1]
        first = textwrap.fill(f'"""What {headers} declare, for ctypes.', 100)
        head = HEAD.replace('"""What HEADERS declare, for ctypes.', first)
        head = head.replace("EXAMPLE", example[package.name]).replace("PREFIX", package.prefix)
        names = ["CFUNCTYPE"] * bool(self.header.callbacks) + ["POINTER", "Structure"]
        names += ["Union"] * bool(self.header.unions)
        types = sorted(set(re.findall(r"\bc_\w+", body)))
        imported = textwrap.fill(
            f"from ctypes import ({', '.join(names + types)})", 100, subsequent_indent=" " * 20
        )
        return head.replace("IMPORTS", imported) + body

    def text(self):
        defines = "\n".join(
            f"{constant(name)} = {value}" for name, value in self.header.defines.items()
        )
        parts = [defines]
        parts += [self.enum(name, members) for name, members in self.header.enums.items()]
        parts += [
            self.callback(name) if is_callback else self.struct(name)
            for name, is_callback in self.order()
        ]
        functions = "\n".join(self.function(name) for name in self.header.functions)
        parts.append(
            "# Result and parameters of each function.\n"
            "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {\n" + functions + "\n}"
        )
        return self.with_head("\n\n\n".join(parts) + "\n")


def load_output(package):
    spec = importlib.util.spec_from_file_location("_abi", package.output)
    module = importlib.util.module_from_spec(spec)
    sys.modules["_abi"] = module
    spec.loader.exec_module(module)
    return module


def c_type(kind):
    """A C type of the same size and, for functions, of the same class as ctypes' KIND."""
    if kind is None:
        return "void"
    return {
        ctypes.c_int: "int",
        ctypes.c_uint32: "uint32_t",
        ctypes.c_uint64: "uint64_t",
        ctypes.c_int64: "int64_t",
        ctypes.c_size_t: "size_t",
    }.get(kind, "void *")


def calls(name, called, result, parameters):
    """That CALLED takes so many arguments of these classes, and what it returns, of NAME's."""
    zeros = ["0"] * len(parameters)
    if result is not None:
        yield f"IS(sizeof({called}({', '.join(zeros)})), sizeof({c_type(result)}));"
    yield f"void call_{name}(void);"
    yield f"void call_{name}(void)\n{{"
    # A value for a pointer, and a pointer for a value, do not compile.
    for number, kind in [*enumerate(parameters)] or [(0, None)]:
        given = [*zeros]
        given[number : number + 1] = [f"({c_type(kind)})0"] if parameters else []
        yield f"\t(void){called}({', '.join(given)});"
    yield "}"


def asserts(header):
    """Everything that _abi.py says, said to the compiler."""
    abi = load_output(header.package)
    lines = ["/* Made by scripts/gen-python-abi.py asserts. */", "#include <stddef.h>"]
    lines += [f"#include <{name}>" for name in header.package.headers]
    lines.append("#define IS(what, value) _Static_assert((what) == (value), #what)")
    for name in header.structs:
        struct, c_name = getattr(abi, camel(name)), header.unions.get(name, f"struct {name}")
        instance = f"(({c_name} *)0)"
        lines.append(f"IS(sizeof({c_name}), {ctypes.sizeof(struct)});")
        for field, kind in struct._fields_:
            descriptor = getattr(struct, field)
            lines.append(f"IS(offsetof({c_name}, {field}), {descriptor.offset});")
            lines.append(f"IS(sizeof({instance}->{field}), {descriptor.size});")
            if hasattr(kind, "_argtypes_"):
                lines += calls(
                    f"{name}_{field}", f"{instance}->{field}", kind._restype_, kind._argtypes_
                )
    for name, members in header.enums.items():
        owner = abi if name.startswith("#") else getattr(abi, camel(name))
        for member in members:
            short = constant(member)
            lines.append(
                f"IS({member}, {int(getattr(abi if short.endswith('_COUNT') else owner, short))});"
            )
    for name in header.defines:
        lines.append(f"IS({name}, {getattr(abi, constant(name))}ull);")
    for name, (result, parameters) in abi.FUNCTIONS.items():
        lines += calls(name, name, result, parameters)
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in PACKAGES:
        sys.exit(__doc__)
    package, command = PACKAGES[sys.argv[1]], sys.argv[2]
    header = Header(package)
    if command == "python":
        print(Python(header).text(), end="")
    elif command == "check":
        if package.output.read_text(encoding="utf-8") != Python(header).text():
            output = package.output.relative_to(ROOT)
            sys.exit(
                f"{output} is not what the headers declare: "
                f"{sys.argv[0]} {package.name} python > {output}"
            )
    elif command == "asserts":
        print(asserts(header), end="")
    else:
        sys.exit(__doc__)


main()
