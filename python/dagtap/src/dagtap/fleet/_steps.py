"""The steps of a recording: which scopes they are, and which activities belong to them.

A scope is a step if it has a number: the attribute step_num, or a text like "step 12" or
"ProfilerStep#12" (step_number_find of src/analyze/step_query.c, which `path --step` uses). What a
call inside a step caused belongs to it, to the innermost one if steps are nested.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, NamedTuple, Optional

import pyarrow
import pyarrow.compute

_NUMBERED = re.compile(r"(?:step|profilerstep|train|iteration)[ #_:=-]*([0-9]+)", re.I | re.A)
_NUMBER_AT_END = re.compile(r"[ #_:=-]*[0-9]*$", re.A)
_FOREVER = 2**63 - 1
_SCOPE = (
    "process",
    "thread",
    "kind",
    "scope",
    "scope_id",
    "parent_id",
    "text",
    "begin_ns",
    "duration_ns",
)

# Of the activities of a step; the first word is the column, the second how it is aggregated.
_SUMS = [
    ("activities", "sum"),
    ("kernels", "sum"),
    ("kernel_ns", "sum"),
    ("first_ns", "min"),
    ("last_ns", "max"),
]


class Step(NamedTuple):
    """Times are those of the recording."""

    process: int
    thread: Optional[int]
    number: int
    name: str
    begin_ns: Optional[int]
    duration_ns: Optional[int]


class _Session(NamedTuple):
    """A recording of a process, with the scopes that are in steps. Another recording of the process
    counts its scopes anew, so that only the time tells whose scope an id means."""

    process: int
    begin_ns: int
    end_ns: int
    scope_ids: Any
    steps: Any


class Steps:
    """The steps of RECORDING, and sums over their activities."""

    def __init__(self, recording: Any) -> None:
        self.steps: list[Step] = []
        self._paths: set[str] = set()
        self._left: dict[str, str] = {}
        self._sessions: list[_Session] = []
        self._sums: list[Any] = []
        scopes = _read_scopes(recording)
        for process, begin, end in _list_sessions(recording):
            is_mine = pyarrow.compute.and_(
                pyarrow.compute.equal(scopes["process"], process),
                _is_between(scopes["begin_ns"], begin, end),
            )
            mine = self._find_steps(scopes.filter(is_mine))
            self._sessions.append(_Session(process, begin, end, *mine))
        self.numbers = pyarrow.array([step.number for step in self.steps], pyarrow.int64())

    def _find_steps(self, scopes: Any) -> tuple[Any, Any]:
        """Adds the steps among SCOPES, those of a session. Of each scope that is in one, its id and
        the step's index."""
        found: dict[int, int] = {}
        for row in scopes.filter(pyarrow.compute.is_valid(scopes["number"])).to_pylist():
            found[row["scope_id"]] = len(self.steps)
            self._paths.add(row["scope"] or "")
            self.steps.append(_make_step(row))
        others = list(zip(_list_values(scopes["scope_id"]), _list_values(scopes["parent_id"])))
        before = -1
        # Once, unless a scope comes before its parent.
        while len(found) != before:
            before, left = len(found), []
            for scope, parent in others:
                if scope not in found:
                    if parent in found:
                        found[scope] = found[parent]
                    else:
                        left.append((scope, parent))
            others = left
        return (
            pyarrow.array(found.keys(), pyarrow.uint64()),
            pyarrow.array(found.values(), pyarrow.int64()),
        )

    def find(self, process: Any, scope_id: Any, ns: Any) -> Any:
        """For each row, an activity of a call that began in the scope at NS, the index of the step
        that it belongs to, or null."""
        found = pyarrow.nulls(len(process), pyarrow.int64())
        for session in self._sessions:
            place = pyarrow.compute.index_in(scope_id, value_set=session.scope_ids)
            is_in = pyarrow.compute.equal(process, session.process)
            if (session.begin_ns, session.end_ns) != (-_FOREVER, _FOREVER):
                is_then = _is_between(ns, session.begin_ns, session.end_ns)
                is_in = pyarrow.compute.and_(is_in, is_then)
            found = pyarrow.compute.if_else(is_in, session.steps.take(place), found)
        return found

    def leave(self, path: str) -> str:
        """PATH, of a scope, without the step that it is in: "" of the step itself."""
        left = self._left.get(path)
        if left is None:
            end = len(path)
            while end > 0 and path[:end] not in self._paths:
                end = path.rfind("/", 0, end)
            left = self._left[path] = path[end + 1 :] if end > 0 else path
        return left

    def add(self, step: Any, kind: Any, start_ns: Any, duration_ns: Any) -> None:
        """Adds activities to the sums of their steps, which find() gave."""
        is_kernel = pyarrow.compute.equal(kind.cast(pyarrow.string()), "kernel")
        rows = pyarrow.table(
            {
                "index": step,
                "activities": pyarrow.compute.if_else(is_kernel, 1, 1),
                "kernels": is_kernel.cast(pyarrow.int64()),
                "kernel_ns": pyarrow.compute.if_else(is_kernel, duration_ns, 0),
                "first_ns": start_ns,
                "last_ns": pyarrow.compute.add(start_ns, duration_ns),
            }
        )
        self._sums.append(_sum(rows.filter(pyarrow.compute.is_valid(step))))

    def sums(self) -> dict[int, dict[str, Any]]:
        """Of each step with activities, by its index: how many they are, how many kernels, the
        kernels' time, and when the first began and the last ended."""
        if not self._sums:
            return {}
        return {row["index"]: row for row in _sum(pyarrow.concat_tables(self._sums)).to_pylist()}


def _sum(rows: Any) -> Any:
    summed = rows.group_by("index").aggregate(_SUMS)
    return summed.select(["index", *(f"{name}_{how}" for name, how in _SUMS)]).rename_columns(
        ["index", *(name for name, _ in _SUMS)]
    )


def _make_step(row: dict[str, Any]) -> Step:
    name = _NUMBER_AT_END.sub("", (row["text"] or "").split("#", 1)[0])
    return Step(
        row["process"], row["thread"], row["number"], name, row["begin_ns"], row["duration_ns"]
    )


def _is_between(ns: Any, begin: int, end: int) -> Any:
    known = pyarrow.compute.fill_null(ns, 0)
    later = pyarrow.compute.greater_equal(known, begin)
    return pyarrow.compute.and_(later, pyarrow.compute.less(known, end))


def _list_values(column: Any) -> list[int]:
    """The values of COLUMN, ids of scopes, faster than to_pylist(); no id is 0, which stands for
    null."""
    values: list[int] = []
    for chunk in pyarrow.compute.fill_null(column, 0).chunks:
        end = 8 * (chunk.offset + len(chunk))
        values += memoryview(chunk.buffers()[1]).cast("B")[8 * chunk.offset : end].cast("Q")
    return values


def _list_sessions(recording: Any) -> Iterator[tuple[int, int, int]]:
    """The recordings of each process, with the time from which on its rows belong to it, and the
    time from which on they do not."""
    begins: dict[int, list[int]] = {}
    for row in read_rows(recording, "processes", "process", "start_ns"):
        begins.setdefault(row["process"], []).append(row["start_ns"] or 0)
    for process, times in begins.items():
        times.sort()
        yield from zip([process] * len(times), [-_FOREVER, *times[1:]], [*times[1:], _FOREVER])


def _read_scopes(recording: Any) -> Any:
    """The scopes, with the column number: as a step, or null."""
    scopes = pyarrow.table(recording["scopes"].select(*_SCOPE)).unify_dictionaries()
    text = scopes["text"].combine_chunks()
    matches = [_NUMBERED.fullmatch(one) for one in text.dictionary.to_pylist()]
    of_text = [int(match[1]) if match else None for match in matches]
    numbers = pyarrow.array(of_text, pyarrow.int64()).take(text.indices).to_pylist()
    ids, processes, at = _list_values(scopes["scope_id"]), scopes["process"].to_pylist(), -1
    # Attributes are in the order of the scopes.
    for process, scope, number in _list_numbers(recording):
        try:
            place = ids.index(scope, at + 1)
            while processes[place] != process:
                place = ids.index(scope, place + 1)
        except ValueError:
            continue  # the second number of a scope
        numbers[place], at = number, place
    is_mark = pyarrow.compute.equal(scopes["kind"].cast(pyarrow.string()), "mark")
    number = pyarrow.compute.if_else(is_mark, None, pyarrow.array(numbers, pyarrow.int64()))
    return scopes.append_column("number", number)


def _list_numbers(recording: Any) -> Iterator[tuple[int, int, Optional[int]]]:
    """Process, scope and number of the scopes with the attribute step_num; negative numbers
    are left out."""
    for row in read_rows(recording, "scope_attributes", "process", "scope_id", "key", "int64"):
        if row["key"] == "step_num" and row["int64"] is not None:
            number = row["int64"] if row["int64"] >= 0 else None
            yield row["process"], row["scope_id"], number


def read_rows(recording: Any, table: str, *columns: str) -> list[dict[str, Any]]:
    """The rows of a small table of RECORDING."""
    rows: list[dict[str, Any]] = pyarrow.table(recording[table].select(*columns)).to_pylist()
    return rows
