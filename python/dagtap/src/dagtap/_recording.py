"""A recording, opened: its tables, and the questions that can be asked of it."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Optional, TypedDict, Union

from . import _abi, _command
from ._answers import Answer
from ._tables import Table, Tables, Trace, failure

if TYPE_CHECKING:
    from typing_extensions import Unpack

Time = Union[int, str]


class Selection(TypedDict, total=False):
    """What selects rows, the same for all questions that take it: the answer is as if the other
    activities and calls had not been recorded.

    kernel and scope are names or patterns ("*gemm*", "token *"); stream and device are numbers.
    from_ and to are times: an int in ns as the recording has them, or a text with a unit since its
    begin ("1.5s"). threads is the most threads to use.
    """

    kernel: str
    scope: str
    from_: Time
    to: Time
    stream: int
    device: int
    threads: int


class Recording:
    """A recording of dagtap's, or a trace of another tool's. Made by dagtap.open().

    Its tables are recording["activities"], or recording.tables.activities. summary(), check(),
    path(), graph(), scopes(), gaps() and memory() give what the commands of the same names say
    (docs/json.md), and read the file again.

    Ownership: the recording is in memory as long as this object, a table of it, or a stream of a
    table is used. Threading: any number of threads may use it. Cost: dagtap.open() reads the whole
    file and takes about 100 bytes of memory an activity; a question runs the program dagtap on the
    file.
    """

    __module__ = "dagtap"

    def __init__(self, file: str) -> None:
        self._trace = Trace(file)
        self.file = file
        self.tables = Tables(self._trace)

    def __getitem__(self, table: str) -> Table:
        return self.tables[table]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.tables)

    @property
    def is_accounted_for(self) -> bool:
        """Whether every row that witnesses expect is there and no damage was found; check() says
        the details."""
        return bool(
            self._trace.library.functions.dagtap_trace_is_accounted_for(self._trace.pointer)
        )

    def summary(
        self,
        *,
        by: Optional[str] = None,
        step_of: Optional[str] = None,
        **select: "Unpack[Selection]",
    ) -> Answer:
        """Where the time went. BY: what a row of answer["rows"] is: stream, graph, scope, api or
        copy. STEP_OF: what is taken as steps, as in "token *" or "graph:4"."""
        return self._ask("summary", by=by, step_of=step_of, **select)

    def check(self) -> Answer:
        """The ledger: is everything accounted for? answer["ok"] says it."""
        return Answer("check", _command.ask("check", self.file, warns=False))

    def path(
        self,
        *,
        scope: Optional[str] = None,
        nth: Optional[int] = None,
        step: Optional[int] = None,
        step_of: Optional[str] = None,
        replay: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
    ) -> Answer:
        """The critical path: which work waited for which, and why streams were idle; of the whole
        recording, of each instance of SCOPE (or the NTH), of a STEP, or of a REPLAY ("GRAPH:N")."""
        return self._ask(
            "path",
            scope=scope,
            nth=nth,
            step=step,
            step_of=step_of,
            replay=replay,
            from_=from_,
            to=to,
            limit=limit,
        )

    def graph(
        self,
        *,
        graph: Optional[int] = None,
        sort: Optional[str] = None,
        top: Optional[int] = None,
        **select: "Unpack[Selection]",
    ) -> Answer:
        """Graphs, their nodes, replays, and the critical path of a replay; with TOP also the first
        nodes of all graphs, in the order of SORT (mean, median, max, stddev, gap)."""
        return self._ask("graph", graph=graph, sort=sort, top=top, **select)

    def scopes(
        self,
        name: Optional[str] = None,
        /,
        *,
        nth: Optional[int] = None,
        step_of: Optional[str] = None,
        **select: "Unpack[Selection]",
    ) -> Answer:
        """All scopes; or each instance of the scope NAME, a text or pattern, on the host and on the
        GPUs, with the outliers, or the NTH, compared to the median instance."""
        given: dict[str, Any] = dict(select, nth=nth, step_of=step_of)
        operands = [] if name is None else [name]
        return Answer("scopes", _command.ask("scopes", self.file, *operands, **given))

    def gaps(self, *, limit: Optional[int] = None, **select: "Unpack[Selection]") -> Answer:
        """The longest gaps of the GPUs (ten, or LIMIT; 0 is all), why, and what the host did."""
        return self._ask("gaps", limit=limit, **select)

    def memory(self, **select: "Unpack[Selection]") -> Answer:
        """Allocations: what was held at most and at the end, and what was never released."""
        return self._ask("memory", **select)

    def _ask(self, command: str, **given: Any) -> Answer:
        return Answer(command, _command.ask(command, self.file, **given))

    def export(
        self,
        format: str,
        path: Union[str, "os.PathLike[str]"],
        *,
        table: Optional[str] = None,
        replace: bool = False,
    ) -> None:
        """Writes the recording to PATH in the format that is named ("perfetto", "kineto", "xspace",
        "sqlite", "csv", "arrow", "parquet" ...; `dagtap export --help` lists them). TABLE: which
        one, of csv, arrow and parquet; else its activities. Parquet needs pyarrow (ImportError).
        ExistsError if PATH exists and REPLACE is false; Error if PATH is what was read, or if
        writing fails, and then there is no file. ValueError if there is no such format or table.
        Releases the GIL."""
        if format == "parquet":
            self._write_parquet(os.fsdecode(path), table or "activities", replace)
            return
        error = _abi.Error()
        code = self._trace.library.functions.dagtap_export(
            self._trace.pointer,
            format.encode(),
            None if table is None else table.encode(),
            os.fsencode(path),
            replace,
            error,
        )
        if code == -errno.EINVAL:
            formats = ", ".join(self._trace.library.list_formats())
            raise ValueError(f"{error.message.decode()}; formats are {formats}")
        if code < 0:
            raise failure(code, error)

    def _write_parquet(self, path: str, table: str, replace: bool) -> None:
        if table not in self.tables:
            raise ValueError(f"format parquet has no table {table!r}")
        from . import parquet

        parquet.write(self[table], path, replace=replace)

    def __repr__(self) -> str:
        count = self._trace.library.functions.dagtap_trace_count
        array = _abi.TraceArray
        amounts = (
            (array.TRACE_ACTIVITY, "activities"),
            (array.TRACE_CALL, "calls"),
            (array.TRACE_SCOPE, "scopes"),
            (array.TRACE_PROCESS, "processes"),
        )
        shown = ", ".join(f"{count(self._trace.pointer, of):,} {name}" for of, name in amounts)
        return f"<dagtap recording {self.file}: {shown}>"


def open(path: Union[str, "os.PathLike[str]"]) -> Recording:
    """Opens a .dagtap, a spool, a folder of spools, an .xplane.pb, or a trace of PyTorch's profiler
    (.json, .json.gz).

    NotFoundError if there is no such file; Error, with the place in the file and the cause, if it
    cannot be read. Damage inside a recording is not an error: check() says it. Releases the GIL
    while it reads.
    """
    return Recording(os.fsdecode(path))
