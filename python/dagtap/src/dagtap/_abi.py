"""What dagtap/error.h, dagtap/annotate.h, dagtap/session.h, dagtap/trace.h, dagtap/columns.h and
dagtap/export.h declare, for ctypes.

Made by scripts/gen-python-abi.py from the headers; do not edit. A name here is the C name
without "dagtap_", in Python's style: struct dagtap_error is Error.
"""
from __future__ import annotations

import enum
from ctypes import (POINTER, Structure, Union, c_char, c_char_p, c_double, c_int, c_int64, c_size_t,
                    c_uint32, c_uint64, c_void_p)
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


ERROR_NO_OFFSET = 18446744073709551615
TRACE_NONE = 4294967295
COLUMNS_VERSION = 1
COLUMNS_BATCH = 65536


class AttributeKind(enum.IntEnum):
    ATTRIBUTE_INT64 = 1
    ATTRIBUTE_UINT64 = 2
    ATTRIBUTE_DOUBLE = 3
    ATTRIBUTE_TEXT = 4


class TraceArray(enum.IntEnum):
    TRACE_PROCESS = 0
    TRACE_THREAD = 1
    TRACE_DEVICE = 2
    TRACE_STREAM = 3
    TRACE_SCOPE = 4
    TRACE_ATTRIBUTE = 5
    TRACE_CALL = 6
    TRACE_ACTIVITY = 7
    TRACE_GRAPH = 8
    TRACE_NODE = 9
    TRACE_EDGE = 10
    TRACE_LAUNCH = 11
    TRACE_SOURCE = 12
    TRACE_MESSAGE = 13


class Error(Struct):
    code: int
    offset: int
    message: Text
    _fields_ = [
        ("code", c_int),
        ("offset", c_uint64),
        ("message", c_char * 512),
    ]


class AttributeValue(Union):
    int64: int
    uint64: int
    float64: float
    text: OptionalText
    _fields_ = [
        ("int64", c_int64),
        ("uint64", c_uint64),
        ("float64", c_double),
        ("text", c_char_p),
    ]


class Attribute(Struct):
    key: OptionalText
    kind: int
    value: AttributeValue
    _fields_ = [
        ("key", c_char_p),
        ("kind", c_uint32),
        ("value", AttributeValue),
    ]


class ColumnsTable(Struct):
    name: OptionalText
    help: OptionalText
    _fields_ = [
        ("name", c_char_p),
        ("help", c_char_p),
    ]


class ColumnsColumn(Struct):
    name: OptionalText
    unit: OptionalText
    format: OptionalText
    is_dictionary: int
    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("format", c_char_p),
        ("is_dictionary", c_int),
    ]


class ExportFormat(Struct):
    name: OptionalText
    extension: OptionalText
    help: OptionalText
    _fields_ = [
        ("name", c_char_p),
        ("extension", c_char_p),
        ("help", c_char_p),
    ]


# Result and parameters of each function.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "dagtap_scope_push": (c_uint64, [c_char_p]),
    "dagtap_scope_pop": (None, []),
    "dagtap_scope_push_with": (c_uint64, [c_char_p, POINTER(Attribute), c_size_t]),
    "dagtap_step_begin": (c_uint64, [c_char_p, c_int64]),
    "dagtap_step_end": (None, []),
    "dagtap_scope_path": (c_size_t, [POINTER(c_uint64), c_size_t]),
    "dagtap_scope_attach": (None, [POINTER(c_uint64), c_size_t]),
    "dagtap_scope_detach": (None, []),
    "dagtap_session_start": (c_int, []),
    "dagtap_session_is_recording": (c_int, []),
    "dagtap_session_stop": (None, []),
    "dagtap_session_path": (c_size_t, [c_char_p, c_size_t]),
    "dagtap_session_note": (None, [c_char_p]),
    "dagtap_trace_open": (c_int, [c_char_p, POINTER(c_void_p), POINTER(Error)]),
    "dagtap_trace_close": (None, [c_void_p]),
    "dagtap_trace_is_accounted_for": (c_int, [c_void_p]),
    "dagtap_trace_count": (c_uint32, [c_void_p, c_int]),
    "dagtap_columns_get_table": (c_int, [c_size_t, POINTER(ColumnsTable)]),
    "dagtap_columns_get_column": (c_int, [c_char_p, c_size_t, POINTER(ColumnsColumn)]),
    "dagtap_columns_open": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), c_void_p,
        POINTER(Error)]),
    "dagtap_export_get_format": (c_int, [c_size_t, POINTER(ExportFormat)]),
    "dagtap_export": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_int, POINTER(Error)]),
}
