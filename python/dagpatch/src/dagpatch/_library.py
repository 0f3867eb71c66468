"""Finds libdagpatch.so, calls it, and carries exceptions across it.

Every call releases the GIL for as long as it is in the library; callbacks take it again, on the
thread that made the call. An exception in a callback cannot travel through C: the callback returns
an error, the library undoes what it has to, and the exception is raised again where the call was
made.
"""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from typing import Any, Callable, Optional, Type, TypeVar

from . import _abi

ENVIRONMENT = "DAGPATCH_LIBRARY"

S = TypeVar("S", bound=ctypes.Structure)


class Error(Exception):
    """A call that failed, as struct dagpatch_error tells it.

    code is a negative errno as the C library returns it, driver_code is CUDA's or HIP's own (0 when
    the driver was not to blame). node and byte are None when the error is about neither.
    """

    __module__ = "dagpatch"

    def __init__(
        self,
        message: str,
        code: int,
        driver_code: int = 0,
        node: Optional[int] = None,
        byte: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.driver_code = driver_code
        self.node = node
        self.byte = byte

    def __str__(self) -> str:
        name = errno.errorcode.get(-self.code, str(self.code))
        driver = f", driver {self.driver_code}" if self.driver_code else ""
        return f"{self.message} ({name}{driver})"


class NotSupported(Error):
    """-ENOTSUP: this driver cannot do it."""

    __module__ = "dagpatch"


class Mismatch(Error):
    """-EILSEQ: captures differ where no slot explains it, or a graph has other addresses than are
    bound."""

    __module__ = "dagpatch"


KINDS: dict[int, Type[Error]] = {-errno.ENOTSUP: NotSupported, -errno.EILSEQ: Mismatch}


def make_error(code: int, about: Optional[_abi.Error], what: str) -> Error:
    """The exception for a call that returned CODE, with what the library says ABOUT it."""
    kind = KINDS.get(code, Error)
    # A struct that is about another call has another code.
    if about is None or about.code != code or not about.message:
        return kind(f"{what}: {os.strerror(-code)}", code)
    node, byte = (None if number == _abi.NONE else number for number in (about.node, about.byte))
    return kind(about.message.decode(errors="replace"), code, about.driver_code, node, byte)


def find_library() -> str:
    """The file, or the name that the loader shall look for."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libdagpatch.so")
    return os.environ.get(ENVIRONMENT) or (beside if os.path.exists(beside) else "libdagpatch.so.0")


def load() -> Any:
    """The library, with the types of all its functions."""
    library = ctypes.CDLL(find_library())
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(
                f"{library._name} has no {name}: it is older than this package"
            ) from None
        function.restype, function.argtypes = result, parameters
    version = library.dagpatch_version()
    if version // 10000 != _abi.VERSION // 10000:
        raise ImportError(
            f"{library._name} is version {version}, this package is made for {_abi.VERSION}"
        )
    return library


lib = load()


def make(kind: Type[S], **fields: Any) -> S:
    """A struct of this kind, with its size if it is one that has it."""
    made = kind(**fields)
    if kind._fields_[0][0] == "size":
        setattr(made, "size", ctypes.sizeof(kind))
    return made


def array(kind: Any, values: Any) -> Any:
    """A C array; None for no values, which C takes for NULL."""
    values = list(values)
    return (kind * len(values))(*values) if values else None


def handle(of: Any) -> int:
    """The driver's handle: a number, or what PyTorch's streams, ctypes' pointers and dagpatch.model
    have."""
    if of is None:
        return 0
    if isinstance(of, int):
        return of
    for name in ("cuda_stream", "cuda_event", "handle", "value"):
        found = getattr(of, name, None)
        if isinstance(found, int):
            return found
    raise TypeError(f"no handle of a driver: {of!r}")


def address(of: Any) -> int:
    """Where memory is: a number, a tensor, or what has __cuda_array_interface__."""
    if isinstance(of, int):
        return of
    if hasattr(of, "data_ptr"):
        return int(of.data_ptr())
    interface = getattr(of, "__cuda_array_interface__", None)
    if interface is not None:
        return int(interface["data"][0])
    return handle(of)


class _Pending(threading.local):
    """Exceptions of callbacks of the call that this thread is in, the first one first."""

    def __init__(self) -> None:
        self.exceptions: list[BaseException] = []


pending = _Pending()


def guard(
    callback: Callable[..., Any], failed: Optional[int] = -errno.ECANCELED
) -> Callable[..., Any]:
    """CALLBACK as C may call it: an exception is kept for the caller, and its errno or FAILED is
    returned."""

    def guarded(*arguments: Any) -> Any:
        # Calls that the callback makes have callbacks and exceptions of their own.
        outer, pending.exceptions = pending.exceptions, []
        try:
            return callback(*arguments)
        except BaseException as exception:
            outer.append(exception)
            if failed is not None and isinstance(exception, OSError) and exception.errno:
                return -exception.errno
            return failed
        finally:
            pending.exceptions = outer

    return guarded


def raise_pending() -> None:
    """Raises what a callback of the call that has just returned has raised."""
    if pending.exceptions:
        exceptions, pending.exceptions = pending.exceptions, []
        raise exceptions[0]
