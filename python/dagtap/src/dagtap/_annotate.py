"""Scopes: named intervals of the program, to which the recording assigns the GPU's work."""

from __future__ import annotations

import ctypes
import functools
import inspect
import numbers
import os
from types import TracebackType
from typing import Any, Callable, Optional, Sequence, Type, TypeVar, Union, cast

from . import _abi, _installation

Value = Union[int, float, str]
F = TypeVar("F", bound=Callable[..., Any])

# libdagtap, or None in a process that cannot be recorded: then no scope calls C.
_library: Any = None


def connect() -> None:
    """Lets scopes reach the injected library. Importing the package calls this in a process under
    `dagtap record`; a program that loads the injected library itself calls it after that."""
    global _library
    if _library is None:
        _library = _installation.load(_installation.ANNOTATE_LIBRARY)


def can_be_recorded() -> bool:
    """Whether `dagtap record` started this process, or the injected library is in it."""
    return bool(os.environ.get("DAGTAP_SPOOL")) or hasattr(ctypes.CDLL(None), "dagtap_inject_v1")


def library() -> Any:
    """libdagtap, or None in a process that cannot be recorded."""
    return _library


def encode(text: str) -> bytes:
    """TEXT as C takes it: without the NUL that would end it."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")


def _attribute(key: str, value: Any) -> _abi.Attribute:
    """The attribute of the kind that VALUE has; a value that is not a number becomes text."""
    made = _abi.Attribute(key=encode(key))
    if isinstance(value, numbers.Integral):
        number = int(value)
        if -(2**63) <= number < 2**63:
            made.kind, made.value.int64 = _abi.AttributeKind.ATTRIBUTE_INT64, number
            return made
        if 0 <= number < 2**64:
            made.kind, made.value.uint64 = _abi.AttributeKind.ATTRIBUTE_UINT64, number
            return made
    elif isinstance(value, numbers.Real):
        made.kind, made.value.float64 = _abi.AttributeKind.ATTRIBUTE_DOUBLE, float(value)
        return made
    made.kind, made.value.text = _abi.AttributeKind.ATTRIBUTE_TEXT, encode(str(value))
    return made


class _Interval:
    """The base of scope and step: a context manager, and a decorator of functions."""

    __slots__ = ("__weakref__",)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        raise NotImplementedError

    def __call__(self, function: F) -> F:
        if (
            inspect.iscoroutinefunction(function)
            or inspect.isgeneratorfunction(function)
            or inspect.isasyncgenfunction(function)
        ):
            raise TypeError(
                f"{function.__qualname__}: a scope cannot be around a coroutine or generator, which "
                "lets others run on its thread meanwhile; open the scope inside it, around code "
                "that does not await or yield"
            )

        @functools.wraps(function)
        def inside(*arguments: Any, **more: Any) -> Any:
            with self:
                return function(*arguments, **more)

        return cast(F, inside)


class scope(_Interval):
    """A named interval of the calling thread; work that it submits meanwhile belongs to it.

        with dagtap.scope("forward", layer=3):
            model(batch)

        @dagtap.scope("optimizer")
        def update(): ...

    NAME and the ATTRIBUTES are copied when the scope opens; each is cut after 8192 bytes of UTF-8.
    An attribute keeps the type of its value: int (of 64 bits, else text), float, or text; a bool
    is an int, and anything else is text as str() makes it. Scopes nest.

    Threading: a scope belongs to the thread that opens it, and must be closed on it. One object may
    be open on several threads, and several times, at once. Not for generators and coroutines.
    Cost: docs/python.md has figures; in a process that is not under `dagtap record`, no call of C.
    Errors: none. A scope that cannot be recorded is left out, and the program goes on.
    """

    __module__ = "dagtap"
    __slots__ = ("_name", "_attributes", "_encoded", "_made")

    def __init__(self, name: str, /, **attributes: Value) -> None:
        self._name = name
        self._attributes = attributes
        # What C is given, made when it is first needed.
        self._encoded: Optional[bytes] = None
        self._made: Any = None

    def _encode(self) -> bytes:
        if self._attributes:
            made = [_attribute(key, value) for key, value in self._attributes.items()]
            self._made = (_abi.Attribute * len(made))(*made)
        self._encoded = encode(self._name)
        return self._encoded

    def __enter__(self) -> "scope":
        if _library is not None:
            text = self._encoded if self._encoded is not None else self._encode()
            if self._made is None:
                _library.dagtap_scope_push(text)
            else:
                _library.dagtap_scope_push_with(text, self._made, len(self._made))
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if _library is not None:
            _library.dagtap_scope_pop()

    def __repr__(self) -> str:
        more = "".join(f", {key}={value!r}" for key, value in self._attributes.items())
        return f"dagtap.scope({self._name!r}{more})"


class step(_Interval):
    """A scope for one iteration of the program's main loop, which trace viewers show as a step.

        for number, batch in enumerate(batches):
            with dagtap.step("train", number):
                ...

    NUMBER becomes the attribute step_num. Everything else is as of a scope.
    """

    __module__ = "dagtap"
    __slots__ = ("_name", "_number")

    def __init__(self, name: str, number: int) -> None:
        self._name = name
        self._number = number

    def __enter__(self) -> "step":
        if _library is not None:
            _library.dagtap_step_begin(encode(self._name), self._number)
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if _library is not None:
            _library.dagtap_step_end()

    def __repr__(self) -> str:
        return f"dagtap.step({self._name!r}, {self._number})"


def scope_path() -> tuple[int, ...]:
    """The ids of the calling thread's open scopes, from the outermost to the innermost, for
    attached() on another thread. Empty when nothing is recorded."""
    if _library is None:
        return ()
    room = 64
    while True:
        ids = (ctypes.c_uint64 * room)()
        count = _library.dagtap_scope_path(ids, room)
        if count <= room:
            return tuple(ids[:count])
        room = count


class attached(_Interval):
    """The calling thread works on behalf of the scopes of another one, whose scope_path() PATH is.

        path = dagtap.scope_path()
        def work():
            with dagtap.attached(path):
                ...

    Scopes that the thread opens and work that it submits belong under the last scope of PATH.
    """

    __module__ = "dagtap"
    __slots__ = ("_path",)

    def __init__(self, path: Sequence[int]) -> None:
        self._path = tuple(path)

    def __enter__(self) -> "attached":
        if _library is not None:
            ids = (ctypes.c_uint64 * len(self._path))(*self._path)
            _library.dagtap_scope_attach(ids, len(self._path))
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if _library is not None:
            _library.dagtap_scope_detach()


def note(text: str) -> None:
    """Adds a line of text to the recording; `dagtap check` and `dagtap info` show it. Does nothing
    when nothing is recorded."""
    if _library is not None:
        _library.dagtap_session_note(encode(text))


if can_be_recorded():
    connect()
