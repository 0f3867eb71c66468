"""Tables as Parquet files, by pyarrow (`pip install '.[parquet]'`).

    dagtap.parquet.write(recording["activities"], "activities.parquet")

`dagtap export --format parquet --table NAME -o OUT FILE` writes the same files: it gives an Arrow
stream to main().
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from typing import IO, Any, Iterable, Iterator, Union

import pyarrow
import pyarrow.ipc
import pyarrow.parquet

from ._errors import make_error
from ._tables import Table, keep_input

# Rows of a row group: what is in memory at once, and what a reader skips or reads as one piece.
ROW_GROUP = 262144


def write(table: Any, path: Union[str, "os.PathLike[str]"], *, replace: bool = False) -> None:
    """Writes TABLE, anything with __arrow_c_stream__, to PATH: columns have their names, types and
    units (in the metadata), names are dictionaries, compressed by zstd.

    PATH is there when it is complete, and a failure leaves no file. ExistsError if it exists and
    REPLACE is false; Error if it is the file that the recording of TABLE was read from. Cost: the
    memory of one row group of 262,144 rows, whatever the table has.
    """
    target = os.fspath(path)
    if isinstance(table, Table):
        keep_input(table, target)
    if not replace and os.path.lexists(target):
        raise make_error(errno.EEXIST, f"{target}: exists already; replace=True replaces it")
    try:
        handle, temporary = create_temporary(target)
    except OSError as cause:
        raise make_error(cause.errno or 0, f"{target}: {cause.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as out:
            _write_stream(pyarrow.RecordBatchReader.from_stream(table), out)
        _give_name(temporary, target, replace)
    except BaseException:
        os.unlink(temporary)
        raise


def create_temporary(target: str) -> tuple[int, str]:
    """Creates a file beside TARGET whose name begins with a dot, with the mode that open() would
    give it; its descriptor and path. OSError if that fails."""
    folder = os.path.dirname(os.path.abspath(target))
    handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=folder)
    mask = os.umask(0)
    os.umask(mask)
    os.fchmod(handle, 0o666 & ~mask)
    return handle, temporary


def _give_name(temporary: str, target: str, replace: bool) -> None:
    if replace:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise make_error(
            errno.EEXIST, f"{target}: exists already; replace=True replaces it"
        ) from None
    os.unlink(temporary)


class _Counted:
    """A file that only takes bytes, as a pipe does: Parquet needs to know how many there were."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._count = 0
        self.closed = False

    def write(self, data: Any) -> int:
        self._out.write(data)
        self._count += len(data)
        return len(data)

    def tell(self) -> int:
        return self._count

    def flush(self) -> None:
        self._out.flush()

    def close(self) -> None:
        """The file stays the caller's."""
        self.closed = True


def _groups(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """The batches of each row group."""
    group: list[Any] = []
    for batch in batches:
        group.append(batch)
        if sum(len(one) for one in group) >= ROW_GROUP:
            yield group
            group = []
    if group:
        yield group


def _write_stream(reader: Any, out: IO[bytes]) -> None:
    schema = reader.schema
    sink = pyarrow.PythonFile(_Counted(out), mode="w")
    with pyarrow.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _groups(reader):
            # Each batch has dictionaries of its own; a row group has one for a column.
            table = pyarrow.Table.from_batches(group, schema).unify_dictionaries()
            writer.write_table(table, row_group_size=ROW_GROUP)
    out.flush()


def main() -> None:
    """From an Arrow IPC stream on standard input to Parquet on standard output; for dagtap."""
    try:
        with pyarrow.ipc.open_stream(sys.stdin.buffer) as reader:
            _write_stream(reader, sys.stdout.buffer)
    except (OSError, pyarrow.ArrowException) as error:
        sys.exit(f"dagtap: Parquet: {error}")


if __name__ == "__main__":
    main()
