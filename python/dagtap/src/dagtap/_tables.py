"""The tables of a recording, which hand their rows out as columns of Arrow's."""

from __future__ import annotations

import ctypes
import errno
import html
import os
import pathlib
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NamedTuple, Optional, Union

from . import _abi, _arrow, _installation
from ._errors import Error, make_error

if TYPE_CHECKING:
    import pandas

_TYPES = {
    "b": "bool",
    "i": "int32",
    "I": "uint32",
    "l": "int64",
    "L": "uint64",
    "g": "double",
    "u": "text",
}


class Column(NamedTuple):
    """A column of a table: its name, the unit of its values ("ns", "bytes" ...; "" if none), and
    its type ("bool", "int32", "uint32", "int64", "uint64", "double", "name", "text"; a name is a
    text that many rows repeat, and dictionary-encoded)."""

    name: str
    unit: str
    type: str


class Library:
    """libdagtap-trace, loaded when the first recording is opened, and what it says of tables."""

    def __init__(self) -> None:
        self.functions = _installation.load(_installation.TRACE_LIBRARY)
        self.tables = {name: help for name, help in self._list_tables()}

    def _list_tables(self) -> Iterator[tuple[str, str]]:
        table, index = _abi.ColumnsTable(), 0
        while self.functions.dagtap_columns_get_table(index, ctypes.byref(table)) == 0:
            yield (table.name or b"").decode(), (table.help or b"").decode()
            index += 1

    def list_columns(self, table: str) -> list[Column]:
        column = _abi.ColumnsColumn()
        found: list[Column] = []
        while not self.functions.dagtap_columns_get_column(
            table.encode(), len(found), ctypes.byref(column)
        ):
            name, unit, kind = (
                (text or b"").decode() for text in (column.name, column.unit, column.format)
            )
            found.append(Column(name, unit, "name" if column.is_dictionary else _TYPES[kind]))
        return found

    def list_formats(self) -> list[str]:
        """The names that Recording.export() takes."""
        row = _abi.ExportFormat()
        found: list[str] = []
        while not self.functions.dagtap_export_get_format(len(found), ctypes.byref(row)):
            found.append((row.name or b"").decode())
        return found


_library: Optional[Library] = None


def library() -> Library:
    """The library; Error if it cannot be loaded."""
    global _library
    if _library is None:
        _library = Library()
    return _library


def failure(code: int, about: _abi.Error) -> Error:
    """The exception for a call that returned CODE and filled ABOUT."""
    offset = None if about.offset == _abi.ERROR_NO_OFFSET else about.offset
    return make_error(-code, about.message.decode("utf-8", "replace"), offset)


class Trace:
    """A struct dagtap_trace, which is closed when nothing refers to it any more."""

    def __init__(self, path: str) -> None:
        self.library = library()
        self.pointer: Optional[int] = None
        try:
            self.input: Optional[os.stat_result] = os.stat(path)
        except OSError:
            self.input = None
        pointer, error = ctypes.c_void_p(), _abi.Error()
        code = self.library.functions.dagtap_trace_open(
            path.encode("utf-8", "surrogateescape"), ctypes.byref(pointer), ctypes.byref(error)
        )
        if code < 0:
            raise failure(code, error)
        self.pointer = pointer.value
        self.file = os.path.realpath(path)

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.library.functions.dagtap_trace_close(self.pointer)


class Table:
    """A table of a recording: an Arrow stream of its rows, as often as it is asked for.

        polars.DataFrame(recording["activities"])
        pyarrow.table(recording["activities"].select("name", "duration_ns"))
        pandas.DataFrame.from_arrow(recording["calls"])              # pandas 3
        calls = recording["calls"]; duckdb.sql("select count(*) from calls")

    docs/tables.md lists tables, columns, types and units; docs/format/csv.md says what the columns
    mean. Times are int64 ns of CLOCK_MONOTONIC on the recorded machine.

    Ownership: a table keeps its recording open, and so does each stream until it is released. What
    a reader has taken from a stream is the reader's own. Threading: any thread; a stream belongs
    to one thread at a time. Cost: about 10 ns of CPU time a value, and the memory of one batch of
    65,536 rows.
    """

    __module__ = "dagtap"

    def __init__(self, trace: Trace, name: str, selected: Optional[tuple[str, ...]] = None) -> None:
        self._trace = trace
        self._selected = selected
        self.name = name

    @property
    def help(self) -> str:
        """What the rows are, in a few words."""
        return self._trace.library.tables[self.name]

    @property
    def columns(self) -> list[Column]:
        """The columns, in their order."""
        columns = self._trace.library.list_columns(self.name)
        if self._selected is None:
            return columns
        by_name = {column.name: column for column in columns}
        return [by_name[name] for name in self._selected]

    def select(self, *columns: str) -> "Table":
        """The same table with these columns alone, in this order. KeyError if there is no such
        column. Reading fewer columns costs less."""
        known = [column.name for column in self.columns]
        for name in columns:
            if name not in known:
                raise KeyError(f"{self.name} has no column {name!r}; it has {', '.join(known)}")
        return Table(self._trace, self.name, columns)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """A capsule with a stream of the rows (Arrow's PyCapsule interface). A request for another
        schema is not followed, as the interface allows."""
        return _arrow.make_capsule(_arrow.ArrowArrayStream, self._open)

    def __arrow_c_schema__(self) -> object:
        """A capsule with the schema of the rows."""
        return _arrow.make_capsule(_arrow.ArrowSchema, self._read_schema)

    def _open(self, stream: _arrow.ArrowArrayStream) -> None:
        names = None
        if self._selected is not None:
            encoded = [name.encode() for name in self._selected]
            names = (ctypes.c_char_p * (len(encoded) + 1))(*encoded)
        error = _abi.Error()
        code = self._trace.library.functions.dagtap_columns_open(
            self._trace.pointer,
            self.name.encode(),
            names,
            ctypes.addressof(stream),
            ctypes.byref(error),
        )
        if code < 0:
            raise failure(code, error)

    def _read_schema(self, schema: _arrow.ArrowSchema) -> None:
        stream = _arrow.ArrowArrayStream()
        self._open(stream)
        try:
            _arrow.read_schema(stream, schema)
        finally:
            _arrow.release(stream)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts, without any other package. Slow, some us a row: for small tables."""
        stream = _arrow.ArrowArrayStream()
        self._open(stream)
        try:
            yield from _arrow.read_rows(stream)
        finally:
            _arrow.release(stream)

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows as a DataFrame with Arrow's types, so that integers with nulls stay integers.
        Needs pandas 2 and pyarrow."""
        import pandas
        import pyarrow

        return pyarrow.table(self).to_pandas(types_mapper=pandas.ArrowDtype)

    def __repr__(self) -> str:
        columns = ", ".join(column.name for column in self.columns)
        return f"<dagtap table {self.name}: {self.help}; columns {columns}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(column.name)}</td><td>{column.type}</td>"
            f"<td>{html.escape(column.unit)}</td></tr>"
            for column in self.columns
        )
        return (
            f"<p><b>{html.escape(self.name)}</b>: {html.escape(self.help)}</p><table><thead><tr>"
            f"<th>column</th><th>type</th><th>unit</th></tr></thead><tbody>{rows}</tbody></table>"
        )


def keep_input(table: Table, output: str) -> None:
    """Error if replacing OUTPUT would destroy the file that the recording of TABLE was read from,
    or if OUTPUT is inside the folder that was read; dagtap_export refuses the same."""
    trace = table._trace

    def is_input(path: Union[str, pathlib.Path]) -> bool:
        try:
            return trace.input is not None and os.path.samestat(os.stat(path), trace.input)
        except OSError:
            return False

    kept = is_input(output)
    folder = pathlib.Path(os.path.dirname(output) or ".").resolve()
    if not kept and (is_input(folder) or any(map(is_input, folder.parents))):
        raise make_error(
            errno.EBUSY,
            f"{output}: is inside the input {trace.file}; give the output another name",
        )
    if os.path.exists(output) and os.path.isdir(trace.file) and is_input(trace.file):
        files = [entry.path for entry in os.scandir(trace.file)]
        kept |= any(os.path.exists(name) and os.path.samefile(name, output) for name in files)
    if kept:
        raise make_error(errno.EBUSY, f"{output}: is the input; give the output another name")


class Tables(Mapping[str, Table]):
    """The tables of a recording, by name and as attributes: tables["calls"] is tables.calls."""

    __module__ = "dagtap"

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __getitem__(self, name: str) -> Table:
        if name not in self._trace.library.tables:
            names = ", ".join(self._trace.library.tables)
            raise KeyError(f"there is no table {name!r}; there are {names}")
        return Table(self._trace, name)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name not in self:
            raise AttributeError(f"there is no table {name!r}; there are {', '.join(self)}")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._trace.library.tables)

    def __len__(self) -> int:
        return len(self._trace.library.tables)

    def __contains__(self, name: object) -> bool:
        return name in self._trace.library.tables

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        lines = (f"  {name:16} {help}" for name, help in self._trace.library.tables.items())
        return "<dagtap tables>\n" + "\n".join(lines)
