"""Recording a part of the program from inside it: capture ranges."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import warnings
from types import TracebackType
from typing import Any, Callable, Optional, Type, TypeVar, cast

from . import _annotate
from ._errors import Error, NotRecordedError, NotRecordedWarning
from ._recording import Recording
from ._recording import open as open_recording

F = TypeVar("F", bound=Callable[..., Any])

_HOW = (
    "this process is not under dagtap; start it as `dagtap record --wait -o run.dagtap -- python "
    "PROGRAM`"
)
_lock = threading.Lock()
# How many record() are open: the process has one recording at a time.
_open = 0
_has_warned = False


def is_recording() -> bool:
    """Whether this process records now. False before its first use of a GPU."""
    library = _annotate.library()
    return library is not None and library.dagtap_session_is_recording() == 1


def _spool() -> Optional[str]:
    """The file of this process's present or last recording; None: there was none."""
    path = ctypes.create_string_buffer(os.pathconf("/", "PC_PATH_MAX"))
    length = _annotate.library().dagtap_session_path(path, len(path))
    return os.fsdecode(path.value) if 0 < length < len(path) else None


class Range:
    """A part of the run that was, or is being, recorded: what record() gives.

    is_recording says whether the range is recorded: False in a process that is not under `dagtap
    record`, and where --delay or --duration say no.
    """

    __module__ = "dagtap"

    def __init__(self, is_recording: bool) -> None:
        self.is_recording = is_recording
        self._is_counted = False  # in _open
        self._spool: Optional[str] = None

    def open(self) -> Recording:
        """The range's recording, when the range is over, in the process that was recorded.

        The file is the process's spool: `dagtap record` removes it when the program has ended, and
        what has been opened stays readable. Error if the range was not recorded or is not over.
        """
        if self._spool is None:
            raise Error(
                "this range was not recorded: it is not over, is inside of another one, or "
                + (
                    _HOW
                    if _annotate.library() is None
                    else "`dagtap record` was told so by its options"
                )
            )
        return open_recording(self._spool)

    def __repr__(self) -> str:
        return f"<dagtap range: {'recorded' if self.is_recording else 'not recorded'}>"


class record:
    """Records what the program does meanwhile: a context manager, and a decorator of functions.

        with dagtap.record() as part:
            train(3)
        print(part.open().summary())

    The program is started as `dagtap record --wait -- python PROGRAM`; then nothing but these parts
    is recorded. (Without --wait the recording begins at the first use of a GPU, and the end of the
    first part ends it.) A GPU can be traced only if the tracer is loaded before its runtime, so a
    process that is not under `dagtap record` cannot be recorded: record() warns of that once
    (NotRecordedWarning) and the program goes on, so that it may stay in programs; with
    required=True it raises NotRecordedError.

    Threading: the process is recorded, all of its threads. Parts that overlap, on one thread or
    several, are one: from the first begin to the last end. The object may be used several times.
    Cost: beginning takes some ms, ending waits for the GPU's unfinished work, at most about two
    seconds; work that was submitted before the part is not in it.
    """

    __module__ = "dagtap"

    def __init__(self, *, required: bool = False) -> None:
        self._required = required
        self._ranges: list[Range] = []

    def __enter__(self) -> Range:
        global _open
        library = _annotate.library()
        if library is None:
            self._refuse(_HOW)
            made = Range(False)
        else:
            with _lock:
                made = Range(library.dagtap_session_start() == 1)
                if not made.is_recording and self._required:
                    raise NotRecordedError(
                        "dagtap.record(): the recording did not start: --delay or --duration of "
                        "`dagtap record` say so, or it failed (DAGTAP_LOG=FILE tells)"
                    )
                made._is_counted = True
                _open += 1
        self._ranges.append(made)
        return made

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        global _open
        made = self._ranges.pop()
        if not made._is_counted:
            return
        with _lock:
            _open -= 1
            if _open:
                return
            _annotate.library().dagtap_session_stop()
            made._spool = _spool() if made.is_recording else None

    def _refuse(self, why: str) -> None:
        global _has_warned
        if self._required:
            raise NotRecordedError(f"dagtap.record(): {why}")
        if not _has_warned:
            _has_warned = True
            warnings.warn(f"dagtap.record(): {why}", NotRecordedWarning, stacklevel=3)

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def inside(*arguments: Any, **more: Any) -> Any:
            with self:
                return function(*arguments, **more)

        return cast(F, inside)
