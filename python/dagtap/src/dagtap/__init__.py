"""What a program's GPUs did: recordings of dagtap's as tables and answers, and scopes for them.

    recording = dagtap.open("run.dagtap")
    recording.summary()
    polars.DataFrame(recording["activities"])

    with dagtap.scope("forward", layer=3):
        model(batch)

docs/python.md is a tour. Needs no other package; tables go to pandas, polars, pyarrow, duckdb and
whatever else takes Arrow's streams.
"""

from ._annotate import attached, note, scope, scope_path, step
from ._answers import Answer
from ._errors import (
    DamageWarning,
    Error,
    ExistsError,
    NotFoundError,
    NotRecordedError,
    NotRecordedWarning,
)
from ._recording import Recording, Selection, open
from ._session import Range, is_recording, record
from ._tables import Column, Table, Tables

__all__ = [
    "Answer",
    "Column",
    "DamageWarning",
    "Error",
    "ExistsError",
    "NotFoundError",
    "NotRecordedError",
    "NotRecordedWarning",
    "Range",
    "Recording",
    "Selection",
    "Table",
    "Tables",
    "attached",
    "is_recording",
    "note",
    "open",
    "record",
    "scope",
    "scope_path",
    "step",
]
