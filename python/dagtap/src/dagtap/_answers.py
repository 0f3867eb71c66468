"""Answers about a recording: the JSON of docs/json.md, shown as tables."""

from __future__ import annotations

import html
from typing import Any, Dict, Iterator, NamedTuple, Sequence

_ROWS = 20  # of a table that is shown; the answer itself has all
_NAME_CHARACTERS = 60

# Numbers that are names, not amounts.
_NUMBERS = ("pid", "id", "graph", "node", "nth", "gpu", "median")

# Of each command: the facts on the first lines, and of each table its key and columns. A dot goes
# into an object. What is not in the answer, or is an empty list, is left out.
_TIMES = ("count", "total_ns", "mean_ns", "median_ns", "min_ns", "max_ns", "untimed")
_SHOWN: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    "summary": (
        (
            "command",
            "state",
            "totals.kernels",
            "totals.graph_kernels",
            "totals.graph_launches",
            "totals.copies",
            "totals.memsets",
            "totals.api_calls",
            "totals.kernel_ns",
            "totals.span_ns",
        ),
        {
            "rows": ("name", *_TIMES),
            "kernels": ("name", *_TIMES),
            "copies": ("name", *_TIMES, "bytes"),
        },
    ),
    "check": (
        ("ok", "witnessed", "state", "lost"),
        {
            "sources": (
                "name",
                "pid",
                "state",
                "witness",
                "expected",
                "received",
                "joined",
                "untimed",
                "unexplained",
                "text",
            ),
            "messages": ("pid", "damage", "text"),
        },
    ),
    "path": (
        ("by", "window_count", "total_ns", "collective_ns"),
        {
            "kinds": ("kind", "ns"),
            "work": ("name", "kind", "count", "total_ns", "slack_ns"),
            "waits": ("cause", "known", "count", "total_ns", "work.name", "call.name", "for.name"),
        },
    ),
    "graph": (
        ("confidence",),
        {
            "top": ("graph", "id", "type", "kernel", "count", "mean_ns", "gap_mean_ns"),
            "graphs": (
                "id",
                "pid",
                "replays",
                "activities",
                "unknown",
                "span_mean_ns",
                "critical_path_ns",
                "parallelism",
                "parallelism_possible",
            ),
        },
    ),
    "scopes": (
        ("scope", "median"),
        {
            "groups": (
                "name",
                "scopes",
                "activities",
                "host.total_ns",
                "host.mean_ns",
                "projection.total_ns",
                "projection.mean_ns",
            ),
            "instances": (
                "nth",
                "scope",
                "begin_ns",
                "activities",
                "projection.duration_ns",
                "projection.busy_ns",
                "outlier",
            ),
        },
    ),
    "gaps": (
        ("gap_count", "total_ns"),
        {"gaps": ("gpu", "begin_ns", "duration_ns", "cause", "scope", "before.name", "after.name")},
    ),
    "memory": (
        ("unknown_releases",),
        {
            "devices": ("pid", "device", "gpu", "kind", "allocations", "peak_bytes", "live_bytes"),
            "scopes": ("scope", "function", "kind", "allocations", "peak_bytes", "live_bytes"),
            "leaks": ("scope", "function", "kind", "bytes", "count"),
        },
    ),
}


class _Shown(NamedTuple):
    """A table of an answer, as texts."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]]
    are_numbers: list[bool]
    left_out: int


class Answer(Dict[str, Any]):
    """What a command of dagtap says of a recording: a dict with the keys of docs/json.md.

        answer = recording.summary()
        answer["totals"]["kernels"]
        pandas.DataFrame(answer["kernels"])

    Names that end in _ns are in ns, names that end in _bytes in bytes. It shows its main tables, in
    a notebook as HTML. Ownership: it needs neither the recording nor the file any more.
    """

    __module__ = "dagtap"

    def __init__(self, command: str, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.command = command

    def _facts(self) -> Iterator[tuple[str, str]]:
        for key in _SHOWN[self.command][0]:
            value = _get(self, key)
            if value not in (None, ""):
                yield _label(key), _show(key, value)

    def _tables(self) -> Iterator[_Shown]:
        for key, columns in _SHOWN[self.command][1].items():
            rows = self.get(key)
            if key == "kernels" and self.get("rows"):
                return  # the grouping that was asked for is shown instead
            if isinstance(rows, dict):
                rows = [dict(zip(columns, item)) for item in rows.items()]
            if rows:
                yield _make_table(key, columns, rows)

    def __repr__(self) -> str:
        lines = [f"dagtap {self.command} {self.get('file', '')}".rstrip()]
        lines += [f"{name:15} {value}" for name, value in self._facts()]
        for table in self._tables():
            lines += ["", *_write_text(table)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        title = html.escape(f"dagtap {self.command} {self.get('file', '')}")
        tables = "".join(_write_html(table) for table in self._tables())
        return f"<p><b>{title}</b></p><table><tbody>{facts}</tbody></table>{tables}"


def _get(row: Any, key: str) -> Any:
    """The value behind a key with dots; None where an object is missing."""
    for part in key.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def _label(key: str) -> str:
    """A key as a heading: without its unit, which the values show."""
    parts = key.split(".")
    if parts[0] == "totals":
        parts = parts[1:]
    words = " ".join(parts).replace("_", " ").split(" ")
    return " ".join(words[:-1] if words[-1] in ("ns", "name") and len(words) > 1 else words)


def _make_table(title: str, columns: Sequence[str], rows: list[Any]) -> _Shown:
    values = [[_get(row, column) for column in columns] for row in rows[:_ROWS]]
    used = [at for at in range(len(columns)) if any(row[at] not in (None, "") for row in values)]
    texts = [[_show(columns[at], row[at]) for at in used] for row in values]
    are_numbers = [
        all(isinstance(row[at], (int, float, type(None))) for row in values) for at in used
    ]
    names = [_label(columns[at]) for at in used]
    return _Shown(title, names, texts, are_numbers, len(rows) - len(values))


def _show(key: str, value: Any) -> str:
    """A value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_show('', part)}" for name, part in value.items())
    if isinstance(value, (int, float)):
        # A point in time is no duration: it is shown whole.
        if key.endswith("_ns") and not key.endswith("begin_ns") or key == "ns":
            return _show_scaled(value, ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")))
        if key.endswith("bytes"):
            return _show_scaled(
                value, ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1, "B"))
            )
        if key in _NUMBERS:
            return str(value)
        return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
    return str(value)


def _show_scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    for scale, unit in units:
        if abs(value) >= scale or scale == 1:
            scaled = value / scale
            digits = (
                0
                if scale == 1 and scaled == int(scaled)
                else max(0, 2 - len(str(int(abs(scaled)))) + 1)
            )
            return f"{scaled:.{digits}f} {unit}"
    return str(value)


def _write_text(table: _Shown) -> list[str]:
    cells = [list(table.columns), *table.rows]
    for row in cells:
        for at, text in enumerate(row):
            if len(text) > _NAME_CHARACTERS:
                row[at] = text[: _NAME_CHARACTERS - 3] + "..."
    widths = [max(len(row[at]) for row in cells) for at in range(len(table.columns))]
    lines = [
        "  ".join(
            text.rjust(width) if is_number else text.ljust(width)
            for text, width, is_number in zip(row, widths, table.are_numbers)
        ).rstrip()
        for row in cells
    ]
    more = [f"... and {table.left_out:,} more"] if table.left_out else []
    return [f"{table.title}:", *lines, *more]


def _write_html(table: _Shown) -> str:
    def line(tag: str, row: Sequence[str]) -> str:
        return (
            "<tr>"
            + "".join(
                f"<{tag} style='text-align:{'right' if is_number else 'left'}'>"
                f"{html.escape(text)}</{tag}>"
                for text, is_number in zip(row, table.are_numbers)
            )
            + "</tr>"
        )

    body = "".join(line("td", row) for row in table.rows)
    more = f"<p>... and {table.left_out:,} more</p>" if table.left_out else ""
    return (
        f"<p>{html.escape(table.title)}</p><table><thead>{line('th', table.columns)}</thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )
