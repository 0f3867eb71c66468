"""The recordings of many ranks as Parquet files that DuckDB, ClickHouse, Spark and Trino read.

    dagtap.fleet.write(["rank0.dagtap", "rank1.dagtap"], "/store", job="train")

docs/fleet.md describes the files, and queries of them. Needs pyarrow
(`pip install '.[parquet]'`). `python -m dagtap.fleet --help` is the same as a command.
"""

from __future__ import annotations

import datetime
import errno
import os
import re
from contextlib import ExitStack
from typing import Any, Iterable, Optional, Sequence, Union

import pyarrow
import pyarrow.parquet

from .._errors import ExistsError, make_error
from .._recording import Recording
from .._recording import open as open_recording
from ..parquet import create_temporary
from ._sort import sort_batches
from ._steps import Steps, read_rows
from ._tables import TABLES, VERSION, VERSION_KEY, Source, add_key, make_schema, read_batches

__all__ = ["TABLES", "VERSION", "write"]

# Rows of a row group, which is what an engine skips or reads as one piece, and what is in memory at
# once; docs/fleet.md has the measurement.
ROW_GROUP = 262144

# Integers whose neighbours are close to each other, or which repeat little: their differences are
# smaller than a dictionary.
_DELTA = ("start_ns", "begin_ns", "duration_ns", "gpu_begin_ns", "gpu_duration_ns", "node")

_Path = Union[str, "os.PathLike[str]"]


def write(
    recordings: Union[_Path, Recording, Iterable[Union[_Path, Recording]]],
    root: _Path,
    *,
    job: str,
    ranks: Optional[Sequence[int]] = None,
    day: Union[datetime.date, str, None] = None,
    build: Optional[str] = None,
    part: str = "0",
) -> None:
    """Writes RECORDINGS, files or open recordings of one rank each, into the folder ROOT as
    TABLE/job=JOB/day=DAY/rank=RANK/part-PART.parquet for each table of TABLES.

    RANKS: the rank of each recording; 0, 1, 2 ... if it is not given. DAY: of the recordings, by
    default the day (UTC) on which each begins. BUILD: what the program was built from, as text.
    JOB and PART: letters, digits, and -._ in between.

    What is written again for the same job, day, rank and part replaces the files of the first
    time, and no other file is changed: ExistsError, before anything is written, if one of the
    files is there and was not written by this function. A file is there when it is complete; those
    of one recording get their names together at its end, and a failure before that leaves none.

    ValueError: RANKS has more or fewer elements than RECORDINGS, or an element twice; JOB, DAY or
    PART is no such text; a recording does not say its day. Error: a recording cannot be read, or a
    file cannot be written. Cost: one recording at a time in memory, and one row group of each of
    its tables; unnamed files in ROOT, as large as its tables in memory, while it is sorted.
    """
    given = [recordings] if isinstance(recordings, (str, os.PathLike, Recording)) else recordings
    sources = list(given)
    numbers = list(range(len(sources)) if ranks is None else ranks)
    if len(numbers) != len(sources) or len(set(numbers)) != len(numbers) or min([0, *numbers]) < 0:
        raise ValueError(f"ranks {numbers} are not one different number for each recording")
    for word, value in ("job", job), ("part", part):
        if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", value, re.A):
            raise ValueError(f"{word} {value!r}: takes letters, digits, and -._ in between")
    if isinstance(day, str):
        day = datetime.date.fromisoformat(day)
    for source, rank in zip(sources, numbers):
        if isinstance(source, (str, os.PathLike)):
            source = open_recording(source)
        _write_rank(source, os.fspath(root), (job, day, rank, part), build)


def _write_rank(
    recording: Any, root: str, place: tuple[str, Optional[datetime.date], int, str], build: Any
) -> None:
    job, day, rank, part = place
    wall_ns, begin = _read_clock(recording)
    day = day or begin
    if day is None:
        raise ValueError(f"{recording.file}: does not say when it began: give its day")
    folder = os.path.join(f"job={job}", f"day={day.isoformat()}", f"rank={int(rank)}")
    targets = {
        table: os.path.join(root, table, folder, f"part-{part}.parquet") for table in TABLES
    }
    for target in targets.values():
        _expect_replaceable(target)
    source = Source(recording, os.path.basename(recording.file), build, wall_ns, Steps(recording))
    with ExitStack() as undo:
        written = []
        for table, target in targets.items():
            temporary = _create_file(target)
            undo.callback(_remove, temporary)
            _write_table(source, table, temporary, root)
            written.append((temporary, target))
        for temporary, target in written:
            os.replace(temporary, target)


def _read_clock(recording: Any) -> tuple[int, Optional[datetime.date]]:
    """What is added to a recording's times to get ns since 1970, and the day on which it begins."""
    for row in read_rows(recording, "processes", "start_ns", "start_realtime_ns"):
        start, wall = row["start_ns"], row["start_realtime_ns"]
        if start is not None and wall is not None:
            begin = datetime.datetime.fromtimestamp(wall // 10**9, datetime.timezone.utc)
            return wall - start, begin.date()
    return 0, None


def _expect_replaceable(target: str) -> None:
    """ExistsError if TARGET is there and is not a file of ours."""
    if not os.path.lexists(target):
        return
    try:
        is_ours = not os.path.islink(target) and VERSION_KEY in (
            pyarrow.parquet.read_schema(target).metadata or {}
        )
    except (OSError, pyarrow.ArrowException):
        is_ours = False
    if not is_ours:
        raise make_error(errno.EEXIST, f"{target}: exists, and is no file of a fleet's store")


def _create_file(target: str) -> str:
    """A file beside TARGET, which readers do not take for one of the table."""
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        handle, temporary = create_temporary(target)
    except OSError as cause:
        raise make_error(cause.errno or 0, f"{target}: {cause.strerror}") from None
    os.close(handle)
    return temporary


def _remove(temporary: str) -> None:
    try:
        os.unlink(temporary)
    except FileNotFoundError:
        pass


def _write_table(source: Source, table: str, path: str, root: str) -> None:
    schema = make_schema(table)
    delta = [name for name in schema.names if name in _DELTA]
    with pyarrow.parquet.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[name for name in schema.names if name not in delta],
        column_encoding={name: "DELTA_BINARY_PACKED" for name in delta},
    ) as writer:
        batches = read_batches(source, table)
        for group in sort_batches(batches, add_key(schema), root, ROW_GROUP):
            writer.write_table(group, row_group_size=ROW_GROUP)
