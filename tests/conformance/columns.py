"""The tables of a trace through libdagtap-trace's C stream: objects with __arrow_c_stream__."""

import ctypes
import os
import pathlib

LIBRARY = pathlib.Path(os.environ["BUILD_DIR"]) / "lib" / "libdagtap-trace.so.0"


class Stream(ctypes.Structure):
    """ArrowArrayStream of dagtap/columns.h."""

    _fields_ = [(name, ctypes.c_void_p) for name in
                ("get_schema", "get_next", "get_last_error", "release", "private_data")]


class Error(ctypes.Structure):
    """dagtap_error of dagtap/error.h."""

    _fields_ = [("code", ctypes.c_int), ("offset", ctypes.c_uint64),
                ("message", ctypes.c_char * 512)]


class TableName(ctypes.Structure):
    """dagtap_columns_table of dagtap/columns.h."""

    _fields_ = [("name", ctypes.c_char_p), ("help", ctypes.c_char_p)]


class Column(ctypes.Structure):
    """dagtap_columns_column of dagtap/columns.h."""

    _fields_ = [("name", ctypes.c_char_p), ("unit", ctypes.c_char_p),
                ("format", ctypes.c_char_p), ("is_dictionary", ctypes.c_int)]


dagtap = ctypes.CDLL(str(LIBRARY))
dagtap.dagtap_trace_close.argtypes = [ctypes.c_void_p]
dagtap.dagtap_columns_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p,
                                       ctypes.c_void_p, ctypes.POINTER(Error)]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def destroy(capsule):
    """Releases a stream that nobody took, and frees its struct."""
    address = get_pointer(capsule, b"arrow_array_stream")
    release = Stream.from_address(address).release
    if release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(release)(address)
    libc.free(address)


class Table:
    def __init__(self, trace, name, columns=None):
        self.trace = trace
        self.name = name
        self.columns = columns

    def __arrow_c_stream__(self, requested_schema=None):
        names = self.columns and (ctypes.c_char_p * (len(self.columns) + 1))(
            *(name.encode() for name in self.columns))
        address = libc.malloc(ctypes.sizeof(Stream))
        error = Error()
        if dagtap.dagtap_columns_open(self.trace.pointer, self.name.encode(), names, address,
                                      ctypes.byref(error)) < 0:
            libc.free(address)
            raise ValueError(error.message.decode())
        return new_capsule(address, b"arrow_array_stream", ctypes.cast(destroy, ctypes.c_void_p))


class Trace:
    """Must outlive what reads its tables."""

    def __init__(self, path):
        self.path = path
        self.pointer = ctypes.c_void_p()
        error = Error()
        if dagtap.dagtap_trace_open(str(path).encode(), ctypes.byref(self.pointer),
                                    ctypes.byref(error)) < 0:
            raise OSError(error.message.decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        dagtap.dagtap_trace_close(self.pointer)

    def table(self, name, columns=None):
        return Table(self, name, columns)


def tables():
    """{table: [Column]} as dagtap_columns_get_table and _get_column list them."""
    result = {}
    table, column = TableName(), Column()
    while dagtap.dagtap_columns_get_table(ctypes.c_size_t(len(result)), ctypes.byref(table)) == 0:
        columns = []
        while dagtap.dagtap_columns_get_column(table.name, ctypes.c_size_t(len(columns)),
                                               ctypes.byref(column)) == 0:
            columns.append(Column.from_buffer_copy(column))
        result[table.name.decode()] = columns
    return result
