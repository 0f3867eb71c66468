"""Arrow's C data and stream interface: what is needed to give streams to other packages and to
read them.

The structs are those of https://arrow.apache.org/docs/format/CDataInterface.html, which do not
change. dagtap/columns.h says which formats a table has.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int32, c_int64, c_void_p
from typing import Any, Callable, Iterator, Optional

from ._errors import Error


class ArrowSchema(ctypes.Structure):
    format: bytes
    name: bytes
    n_children: int
    children: Any
    dictionary: Optional[int]
    release: Optional[int]
    _fields_ = [
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_void_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", ctypes.POINTER(c_void_p)),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArray(ctypes.Structure):
    length: int
    null_count: int
    offset: int
    n_buffers: int
    buffers: Any
    children: Any
    dictionary: Optional[int]
    release: Optional[int]
    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", ctypes.POINTER(c_void_p)),
        ("children", ctypes.POINTER(c_void_p)),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArrayStream(ctypes.Structure):
    get_schema: int
    get_next: int
    get_last_error: int
    release: Optional[int]
    _fields_ = [
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


_CALL = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_TEXT = ctypes.CFUNCTYPE(c_char_p, c_void_p)
_RELEASE = ctypes.CFUNCTYPE(None, c_void_p)

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = c_void_p
_get_pointer.argtypes = [c_void_p, c_char_p]
_libc = ctypes.CDLL(None)
_libc.calloc.restype = c_void_p
_libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_libc.free.argtypes = [c_void_p]


def release(struct: Any, call: Any = _RELEASE, address: Any = ctypes.addressof) -> None:
    """Releases one of the three structs, unless it was released or moved."""
    if struct.release:
        call(struct.release)(address(struct))


def _destructor(name: bytes, kind: Any) -> Any:
    """What Python calls when a capsule of this name ends: releases the struct if nobody has taken
    it, and frees its memory. It refers to no global name, and is never freed: a capsule may outlive
    the modules while the interpreter ends."""

    def destroy(
        capsule: Any,
        get_pointer: Any = _get_pointer,
        free: Any = _libc.free,
        release: Any = release,
    ) -> None:
        address = get_pointer(capsule, name)
        release(kind.from_address(address))
        free(address)

    made = _RELEASE(destroy)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made


# Capsules keep the name's address, so the names live as long as the package.
_KINDS: dict[Any, tuple[bytes, Any]] = {
    kind: (name, _destructor(name, kind))
    for kind, name in ((ArrowArrayStream, b"arrow_array_stream"), (ArrowSchema, b"arrow_schema"))
}


def make_capsule(kind: Any, fill: Callable[[Any], None]) -> object:
    """A capsule with a struct of KIND, which FILL fills in its place, or raises."""
    name, destroy = _KINDS[kind]
    address = _libc.calloc(1, ctypes.sizeof(kind))
    if not address:
        raise MemoryError
    try:
        fill(kind.from_address(address))
    except BaseException:
        _libc.free(address)
        raise
    made: object = _new_capsule(address, name, ctypes.cast(destroy, c_void_p))
    return made


def read_schema(stream: ArrowArrayStream, ret_schema: ArrowSchema) -> None:
    """Fills RET_SCHEMA, which the caller releases."""
    _call(stream, stream.get_schema, ret_schema)


def _call(stream: ArrowArrayStream, function: int, result: Any) -> None:
    code = _CALL(function)(ctypes.addressof(stream), ctypes.addressof(result))
    if code:
        text = _TEXT(stream.get_last_error)(ctypes.addressof(stream)) or b""
        raise Error(text.decode("utf-8", "replace") or f"reading the table: error {code}", code)


_NUMBERS: dict[bytes, Any] = {
    b"i": c_int32,
    b"I": ctypes.c_uint32,
    b"l": c_int64,
    b"L": ctypes.c_uint64,
    b"g": ctypes.c_double,
}


def read_rows(stream: ArrowArrayStream) -> Iterator[dict[str, Any]]:
    """The rows of a stream of tables (dagtap/columns.h), which stays the caller's."""
    schema = ArrowSchema()
    read_schema(stream, schema)
    try:
        columns = [
            ArrowSchema.from_address(schema.children[index]) for index in range(schema.n_children)
        ]
        names = [column.name.decode() for column in columns]
        while True:
            batch = ArrowArray()
            _call(stream, stream.get_next, batch)
            if not batch.release:
                return
            try:
                values = [
                    _read_column(column, ArrowArray.from_address(batch.children[index]))
                    for index, column in enumerate(columns)
                ]
            finally:
                release(batch)
            for row in zip(*values):
                yield dict(zip(names, row))
    finally:
        release(schema)


def _read_column(schema: ArrowSchema, array: ArrowArray) -> list[Any]:
    values = _read_values(schema.format, array)
    if schema.dictionary:
        kind = ArrowSchema.from_address(schema.dictionary)
        texts = _read_values(kind.format, ArrowArray.from_address(array.dictionary or 0))
        # An index at a null has no meaning.
        texts.append("")
        values = [texts[index] if 0 <= index < len(texts) else "" for index in values]
    if array.null_count and array.buffers[0]:
        valid = _bits(array.buffers[0], array.offset, array.length)
        values = [value if is_valid else None for value, is_valid in zip(values, valid)]
    return values


def _read_values(format: bytes, array: ArrowArray) -> list[Any]:
    """The values without regard to nulls."""
    length, offset = array.length, array.offset
    if format == b"b":
        return _bits(array.buffers[1], offset, length)
    if format == b"u":
        ends = (c_int32 * (offset + length + 1)).from_address(array.buffers[1])
        text = ctypes.string_at(array.buffers[2] or 0, ends[-1]) if ends[-1] else b""
        return [
            text[ends[index] : ends[index + 1]].decode() for index in range(offset, offset + length)
        ]
    if not length:
        return []
    values = (_NUMBERS[format] * (offset + length)).from_address(array.buffers[1])
    return list(values[offset:])


def _bits(address: int, offset: int, length: int) -> list[bool]:
    octets = ctypes.string_at(address, (offset + length + 7) // 8) if length else b""
    return [bool(octets[at >> 3] >> (at & 7) & 1) for at in range(offset, offset + length)]
