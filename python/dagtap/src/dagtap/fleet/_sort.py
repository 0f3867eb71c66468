"""Sorts record batches by a key in bounded memory: each batch is a sorted run in a file without a
name, and the runs are merged a group of rows at a time."""

from __future__ import annotations

import bisect
import mmap
import tempfile
from typing import Any, Iterable, Iterator

import pyarrow
import pyarrow.compute
import pyarrow.ipc

# The last column of what is sorted: int64, never null. It is not in the result.
KEY = "_key"


def sort_batches(batches: Iterable[Any], schema: Any, folder: str, rows: int) -> Iterator[Any]:
    """Yields tables of ROWS rows, the last of fewer, which together are the rows of BATCHES in the
    order of KEY; rows with equal keys keep their order. SCHEMA: of the batches.

    Cost: the memory of one such table, and 24 bytes a row for the keys. Disk: the batches as they
    are in memory, in FOLDER, until the last table was taken.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        with pyarrow.ipc.new_stream(file, schema) as out:
            for batch in batches:
                out.write_batch(batch.take(pyarrow.compute.sort_indices(batch[KEY])))
        file.flush()
        # Unmapped when no run refers to it any more.
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        yield from _merge(list(pyarrow.ipc.open_stream(memory)), schema, rows)


def _merge(runs: list[Any], schema: Any, rows: int) -> Iterator[Any]:
    keys = [_view(run[KEY]) for run in runs]
    begins = [0] * len(runs)
    for ends in _cuts(runs, keys, schema, rows):
        pieces = [run.slice(a, b - a) for run, a, b in zip(runs, begins, ends) if a < b]
        table = pyarrow.Table.from_batches(pieces, schema).unify_dictionaries().combine_chunks()
        order = pyarrow.compute.sort_indices(table[KEY])
        yield table.drop_columns([KEY]).take(order)
        begins = ends


def _view(key: Any) -> memoryview:
    """The values of KEY, an int64 array without nulls."""
    whole = memoryview(key.buffers()[1]).cast("B")
    return whole[8 * key.offset : 8 * (key.offset + len(key))].cast("q")


def _cuts(
    runs: list[Any], keys: list[memoryview], schema: Any, rows: int
) -> Iterator[list[int]]:
    """For each group of ROWS rows in the order of the keys, where it ends in each run."""
    whole = pyarrow.chunked_array([run[KEY] for run in runs], schema.field(KEY).type)
    last = whole.take(pyarrow.compute.sort_indices(whole))[rows::rows].to_pylist()
    for number, key in enumerate(last, 1):
        cut = [bisect.bisect_left(of_run, key) for of_run in keys]
        # Of the rows with this very key, those of the first runs are in the group.
        left = number * rows - sum(cut)
        for at, of_run in enumerate(keys):
            equal = min(left, bisect.bisect_right(of_run, key, cut[at]) - cut[at])
            cut[at] += equal
            left -= equal
        yield cut
    if runs:
        yield [len(run) for run in runs]
