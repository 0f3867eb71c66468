"""The tables of a fleet: their columns, and how they are made from those of a recording.

docs/fleet.md is the text for users. Types are those that every engine reads: integers are int64,
and times are ns since 1970.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional

import pyarrow
import pyarrow.compute

from ._sort import KEY
from ._steps import Steps

# Version of the layout, columns and their meanings; in the metadata of each file.
VERSION = 1
VERSION_KEY = b"dagtap.fleet_version"

_INT, _TEXT, _BOOL, _DOUBLE = (
    pyarrow.int64(),
    pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    pyarrow.bool_(),
    pyarrow.float64(),
)
_ACTIVITIES = {
    "process": _INT,
    "device": _TEXT,
    "stream": _INT,
    "kind": _TEXT,
    "name": _TEXT,
    "start_ns": _INT,
    "duration_ns": _INT,
    "bytes": _INT,
    "direction": _TEXT,
    "scope": _TEXT,
    "graph": _INT,
    "node": _INT,
    "replay": _INT,
    "step": _INT,
}
_SCOPES = {
    "process": _INT,
    "thread": _INT,
    "kind": _TEXT,
    "scope": _TEXT,
    "begin_ns": _INT,
    "duration_ns": _INT,
    "step": _INT,
}
_STEPS = {
    "process": _INT,
    "thread": _INT,
    "step": _INT,
    "name": _TEXT,
    "begin_ns": _INT,
    "duration_ns": _INT,
    "gpu_begin_ns": _INT,
    "gpu_duration_ns": _INT,
    "activities": _INT,
    "kernels": _INT,
    "kernel_ns": _INT,
}
_PROCESSES = {
    "process": _INT,
    "parent_process": _INT,
    "session": _INT,
    "start_ns": _INT,
    "end_ns": _INT,
    "host": _TEXT,
    "exe": _TEXT,
    "command": _TEXT,
    "complete": _BOOL,
    "build": _TEXT,
    "recording": _TEXT,
    "accounted": _BOOL,
}
_DEVICES = {
    "process": _INT,
    "device": _TEXT,
    "architecture": _TEXT,
    "product": _TEXT,
    "uuid": _TEXT,
    "memory_bytes": _INT,
    "compute_units": _INT,
    "clock_khz": _INT,
    "clock_error_ns": _DOUBLE,
}
_LEDGER = {
    "process": _INT,
    "source": _TEXT,
    "witness": _TEXT,
    "expected": _INT,
    "received": _INT,
    "dropped": _INT,
    "joined": _INT,
    "orphan_calls": _INT,
    "orphan_activities": _INT,
    "untimed": _INT,
    "unexplained": _INT,
    "state": _TEXT,
    "remarks": _TEXT,
}
# In the order in which they get their names: processes says that the others are there. Activities
# come before steps, which have their sums.
TABLES = {
    "activities": _ACTIVITIES,
    "scopes": _SCOPES,
    "steps": _STEPS,
    "devices": _DEVICES,
    "ledger": _LEDGER,
    "processes": _PROCESSES,
}


class Source(NamedTuple):
    """A recording of a rank, and what is known of it besides."""

    recording: Any
    name: str
    build: Optional[str]
    wall_ns: int  # what is added to its times
    steps: Steps


def make_schema(table: str) -> Any:
    """The schema of the files of TABLE."""
    metadata = {VERSION_KEY: str(VERSION), b"dagtap.table": table}
    return pyarrow.schema(
        [
            pyarrow.field(name, kind, metadata={b"unit": b"ns"} if name.endswith("_ns") else None)
            for name, kind in TABLES[table].items()
        ],
        metadata,
    )


def read_batches(source: Source, table: str) -> Iterator[Any]:
    """The rows of TABLE as batches with its columns, and the key by which they are sorted."""
    if table == "steps":
        yield _make_batch(table, _list_steps(source), "begin_ns")
        return
    rows = pyarrow.RecordBatchReader.from_stream(source.recording[table].select(*_needs(table)))
    for batch in rows:
        columns = dict(zip(batch.schema.names, batch.columns))
        if table == "activities":
            yield _convert_activities(source, columns)
        elif table == "scopes":
            yield _convert_scopes(source, columns)
        else:
            yield _convert_others(source, table, columns)


def _needs(table: str) -> list[str]:
    """The columns that a recording's table of this name is read for."""
    added = {
        "activities": {"step"},
        "scopes": {"step"},
        "processes": {"build", "recording", "accounted"},
    }
    more = {"activities": ["submit_ns", "launch_scope_id", "scope_id"], "scopes": ["scope_id"]}
    own = [name for name in TABLES[table] if name not in added.get(table, ())]
    return own + more.get(table, [])


def _convert_activities(source: Source, columns: dict[str, Any]) -> Any:
    submit_ns = pyarrow.compute.coalesce(columns["submit_ns"], columns["start_ns"])
    scope_id = pyarrow.compute.coalesce(columns["launch_scope_id"], columns["scope_id"])
    index = source.steps.find(columns["process"], scope_id, submit_ns)
    source.steps.add(index, columns["kind"], columns["start_ns"], columns["duration_ns"])
    columns["scope"] = _leave_steps(source, columns["scope"])
    columns["step"] = source.steps.numbers.take(index)
    # Without times, an activity is where it was submitted.
    columns[KEY] = pyarrow.compute.coalesce(columns["start_ns"], submit_ns)
    columns["start_ns"] = _to_wall(source, columns["start_ns"])
    return _make_batch("activities", columns, KEY)


def _convert_scopes(source: Source, columns: dict[str, Any]) -> Any:
    begin_ns = pyarrow.compute.fill_null(columns["begin_ns"], 0)
    index = source.steps.find(columns["process"], columns["scope_id"], begin_ns)
    columns["scope"] = _leave_steps(source, columns["scope"])
    columns["step"] = source.steps.numbers.take(index)
    columns["begin_ns"] = _to_wall(source, columns["begin_ns"])
    return _make_batch("scopes", columns, "begin_ns")


def _convert_others(source: Source, table: str, columns: dict[str, Any]) -> Any:
    rows = len(columns["process"])
    if table == "processes":
        columns["start_ns"] = _to_wall(source, columns["start_ns"])
        columns["end_ns"] = _to_wall(source, columns["end_ns"])
        columns["build"] = pyarrow.array([source.build] * rows, pyarrow.string())
        columns["recording"] = pyarrow.array([source.name] * rows, pyarrow.string())
        accounted = bool(source.recording.is_accounted_for)
        columns["accounted"] = pyarrow.array([accounted] * rows, pyarrow.bool_())
    return _make_batch(table, columns, "start_ns" if table == "processes" else None)


def _list_steps(source: Source) -> dict[str, Any]:
    steps, sums = source.steps.steps, source.steps.sums()
    of_step = [sums.get(index, {}) for index in range(len(steps))]

    def from_sums(name: str, default: Optional[int] = None) -> Any:
        return pyarrow.array([one.get(name, default) for one in of_step], pyarrow.int64())

    columns = {
        name: pyarrow.array([getattr(step, field) for step in steps])
        for name, field in (("process", "process"), ("thread", "thread"), ("name", "name"))
    }
    columns["step"] = source.steps.numbers
    for name in ("begin_ns", "duration_ns"):
        columns[name] = pyarrow.array([getattr(step, name) for step in steps], pyarrow.int64())
    first_ns, last_ns = from_sums("first_ns"), from_sums("last_ns")
    columns["begin_ns"] = _to_wall(source, columns["begin_ns"])
    columns["gpu_begin_ns"] = _to_wall(source, first_ns)
    columns["gpu_duration_ns"] = pyarrow.compute.subtract(last_ns, first_ns)
    for name in ("activities", "kernels", "kernel_ns"):
        columns[name] = from_sums(name, 0)
    return columns


def _to_wall(source: Source, ns: Any) -> Any:
    return pyarrow.compute.add(ns, source.wall_ns)


def _leave_steps(source: Source, scope: Any) -> Any:
    """The paths SCOPE, each without the step that it is in: the step is a column of its own, and
    paths of different steps are equal then. The step itself becomes null."""
    places: dict[str, int] = {}
    paths = [source.steps.leave(path) for path in scope.dictionary.to_pylist()]
    changed = [places.setdefault(path, len(places)) if path else None for path in paths]
    return pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(changed, pyarrow.int32()).take(scope.indices),
        pyarrow.array(places.keys(), pyarrow.string()),
    )


def _make_batch(table: str, columns: dict[str, Any], key: Optional[str]) -> Any:
    """A batch with the columns of TABLE, and the column of times KEY as the key to sort by."""
    schema = make_schema(table)
    made = [_to_type(columns[name], schema.field(name).type) for name in schema.names]
    rows = len(made[0])
    times = columns[key] if key else pyarrow.array([0] * rows, pyarrow.int64())
    made.append(pyarrow.compute.fill_null(times, 0))
    return pyarrow.record_batch(made, schema=add_key(schema))


def add_key(schema: Any) -> Any:
    """SCHEMA with the key by which rows are sorted."""
    return schema.append(pyarrow.field(KEY, pyarrow.int64()))


def _to_type(column: Any, kind: Any) -> Any:
    if pyarrow.types.is_dictionary(kind) and not pyarrow.types.is_dictionary(column.type):
        return column.cast(pyarrow.string()).dictionary_encode()
    # A uint64 from 2^63 on becomes negative, with the same bits, as in SQLite.
    return column.cast(kind, safe=False)
