"""A GPU in memory, dagpatch's driver "model": for tests of programs that use dagpatch. See
dagpatch/model.h.

Kernels are functions of Python. A lazy stream runs what it holds when somebody synchronises with
it, so replays stay in flight as long as a test wants; within a graph, of the nodes whose turn it is
the one added last runs first.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Callable, Iterable, Sequence

from . import _abi
from ._abi import (
    MODEL_DEVICES,
    MODEL_NO_BRANCHES,
    MODEL_NO_CHILDREN,
    MODEL_NO_CONDITIONALS,
    MODEL_NO_FUNCTIONS,
    MODEL_NO_KEPT_EXECS,
    MODEL_NO_KEPT_MEMSETS,
    MODEL_NO_LAYOUTS,
    MODEL_NO_MEMSET_SETS,
    MODEL_NO_NESTED_SETS,
    MODEL_NO_TABLE,
    MODEL_NO_UPDATE,
    ModelLive,
)
from ._library import address, array, handle, lib, make_error
from .context import Parameter
from .nodes import three

# (arguments, grid, block): arguments is the address of the block of arguments.
Function = Callable[[int, tuple[int, ...], tuple[int, ...]], object]


def _check(code: int, what: str) -> None:
    if code < 0:
        raise make_error(code, None, what)


class _Handle:
    """A handle of the model's, destroyed with its object."""

    def __init__(self, name: str, *arguments: Any) -> None:
        pointer, create = ctypes.c_void_p(), getattr(lib, f"dagpatch_model_{name}")
        _check(create(*arguments, ctypes.byref(pointer)), f"dagpatch_model_{name}")
        self.handle = pointer.value or 0
        what = {"capture_end": "graph", "instantiate": "exec"}.get(
            name, name.replace("_create", "")
        )
        self._finalizer = weakref.finalize(
            self, getattr(lib, f"dagpatch_model_{what}_destroy"), self.handle
        )
        # At the end of the program streams run what they still hold: what that uses stays.
        self._finalizer.atexit = what == "stream"

    def close(self) -> None:
        """Destroys it."""
        self._finalizer()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Memory:
    """Bytes of the model's, aligned to 256 and zero at first."""

    def __init__(self, bytes: int) -> None:
        self.nbytes = bytes
        self.handle: int = lib.dagpatch_model_alloc(bytes)
        if not self.handle:
            raise MemoryError(f"{bytes} bytes")
        self._finalizer = weakref.finalize(self, lib.dagpatch_model_free, self.handle)
        self._finalizer.atexit = False

    def data_ptr(self) -> int:
        """Its address."""
        return self.handle

    def view(self, kind: Any = ctypes.c_uint8) -> Any:
        """What is there, as an array of ctypes' kind that keeps the memory alive."""
        found = (kind * (self.nbytes // ctypes.sizeof(kind))).from_address(self.handle)
        found.kept = self
        return found

    def close(self) -> None:
        """Frees it."""
        self._finalizer()


class Kernel(_Handle):
    """A kernel that is a function of Python; it runs on whatever thread runs the stream. Kept by
    what launches it for as long as the caller keeps it. name is for messages and dumps."""

    def __init__(self, function: Function, parameters: Iterable[Parameter], name: str = "") -> None:
        given = [_abi.Parameter(*parameter) for parameter in parameters]
        self._callback = _abi.ModelFn(
            lambda at, grid, block: function(at or 0, tuple(grid[:3]), tuple(block[:3])) and None
        )
        super().__init__("kernel_create", self._callback, array(_abi.Parameter, given), len(given))
        self._name = name.encode()
        if name:
            lib.dagpatch_model_kernel_name(self.handle, self._name)


class Event(_Handle):
    """An event; count is of records that have been run."""

    def __init__(self) -> None:
        super().__init__("event_create")

    @property
    def count(self) -> int:
        """Records that have been run."""
        return int(lib.dagpatch_model_event_count(self.handle))


class Stream(_Handle):
    """A queue in order, lazy or with a thread of its own."""

    def __init__(self, threaded: bool = False) -> None:
        super().__init__("stream_create", _abi.MODEL_THREADED if threaded else _abi.MODEL_LAZY)
        self._kept: list[Any] = []

    def synchronize(self) -> None:
        """Runs what is left, or waits until its thread has."""
        _check(
            lib.dagpatch_model_stream_synchronize(self.handle), "dagpatch_model_stream_synchronize"
        )

    def launch(
        self, kernel: Kernel, grid: Sequence[int], block: Sequence[int], parameters: Sequence[Any]
    ) -> None:
        """parameters: ctypes' values, one a parameter."""
        pointers = array(ctypes.c_void_p, [ctypes.addressof(value) for value in parameters])
        _check(
            lib.dagpatch_model_launch(
                self.handle, kernel.handle, _sizes(grid), _sizes(block), pointers
            ),
            "dagpatch_model_launch",
        )

    def launch_block(
        self, kernel: Kernel, grid: Sequence[int], block: Sequence[int], arguments: bytes
    ) -> None:
        """The same with one block of arguments."""
        _check(
            lib.dagpatch_model_launch_block(
                self.handle, kernel.handle, _sizes(grid), _sizes(block), arguments, len(arguments)
            ),
            "dagpatch_model_launch_block",
        )

    def copy(
        self,
        dst: Any,
        src: Any,
        width_bytes: int,
        *,
        height: int = 1,
        depth: int = 1,
        dst_pitch: int = 0,
        dst_rows: int = 0,
        src_pitch: int = 0,
        src_rows: int = 0,
    ) -> None:
        """A copy of one, two or three dimensions."""
        copy = _abi.ModelCopy(
            address(dst),
            address(src),
            dst_pitch or width_bytes,
            dst_rows or height,
            src_pitch or width_bytes,
            src_rows or height,
            width_bytes,
            height,
            depth,
        )
        _check(lib.dagpatch_model_copy_async(self.handle, copy), "dagpatch_model_copy_async")

    def memset(self, dst: Any, value: int, width: int, element_bytes: int = 1) -> None:
        """width elements of element_bytes."""
        _check(
            lib.dagpatch_model_memset_async(self.handle, address(dst), value, element_bytes, width),
            "dagpatch_model_memset_async",
        )

    def host(self, function: Callable[[], object]) -> None:
        """Calls function when its turn comes."""
        callback = _abi.HostFunction(lambda _user: function() and None)
        self._kept.append(callback)
        _check(
            lib.dagpatch_model_host_async(self.handle, callback, None), "dagpatch_model_host_async"
        )

    def record(self, event: Event, external: bool = False) -> None:
        """Records the event; while captured an edge, or (external) a node."""
        _check(
            lib.dagpatch_model_event_record(self.handle, event.handle, external),
            "dagpatch_model_event_record",
        )

    def wait(self, event: Event, external: bool = False) -> None:
        """Waits for the event; while captured an edge, or (external) a node."""
        _check(
            lib.dagpatch_model_event_wait(self.handle, event.handle, external),
            "dagpatch_model_event_wait",
        )

    def capture_begin(self) -> None:
        """What comes now becomes nodes of a graph."""
        _check(lib.dagpatch_model_capture_begin(self.handle), "dagpatch_model_capture_begin")

    def capture_end(self) -> "Graph":
        """The graph."""
        return Graph(self)

    def launch_graph(self, graph: "Graph") -> None:
        """While captured: a child node."""
        _check(
            lib.dagpatch_model_graph_launch(self.handle, graph.handle),
            "dagpatch_model_graph_launch",
        )


class Graph(_Handle):
    """A captured graph."""

    def __init__(self, stream: Stream) -> None:
        super().__init__("capture_end", stream.handle)

    def instantiate(self) -> "Exec":
        """An executable graph."""
        return Exec(self)


class Exec(_Handle):
    """An executable graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__("instantiate", graph.handle)

    def launch(self, stream: Stream) -> None:
        """Replays it."""
        _check(
            lib.dagpatch_model_exec_launch(self.handle, stream.handle), "dagpatch_model_exec_launch"
        )


def _sizes(sizes: Sequence[int]) -> Any:
    return array(ctypes.c_uint32, three(sizes))


def raw_stream(stream: int) -> Stream:
    """The stream that a capture is handed, as an object; it is not ours to destroy."""
    found = Stream.__new__(Stream)
    found.handle, found._kept = handle(stream), []
    return found


def set_device(device: int) -> None:
    """The thread's current device from now on, below DEVICES; 0 at first."""
    _check(lib.dagpatch_model_device_set(device), "dagpatch_model_device_set")


def current_device() -> int:
    """The thread's current device."""
    return int(lib.dagpatch_model_device())


def calls() -> int:
    """Calls that dagpatch made to the driver, of those that can fail."""
    return int(lib.dagpatch_model_calls())


def misplaced() -> int:
    """Calls that dagpatch made while another device than theirs was current: must be 0."""
    return int(lib.dagpatch_model_misplaced())


def stale_replays() -> int:
    """Replays that began after their executable graph had been destroyed, where NO_KEPT_EXECS
    forbids it."""
    return int(lib.dagpatch_model_stale_replays())


def limit(bytes: int) -> None:
    """Memory of the device for what dagpatch has the driver make; 0: no limit."""
    lib.dagpatch_model_limit(bytes)


def held() -> int:
    """How many bytes of it are in use."""
    return int(lib.dagpatch_model_held())


def fail(first: int, count: int = 1) -> None:
    """The first-th of them from now on (1: the next) and count in all fail; 0 turns it off."""
    lib.dagpatch_model_fail(first, count)


def without(features: int) -> None:
    """What contexts made from now on cannot do: a sum of NO_..."""
    lib.dagpatch_model_without(features)


def live() -> ModelLive:
    """What is alive."""
    found = ModelLive()
    lib.dagpatch_model_live(found)
    return found


DEVICES = MODEL_DEVICES
NO_TABLE = MODEL_NO_TABLE
NO_FUNCTIONS = MODEL_NO_FUNCTIONS
NO_KEPT_EXECS = MODEL_NO_KEPT_EXECS
NO_LAYOUTS = MODEL_NO_LAYOUTS
NO_MEMSET_SETS = MODEL_NO_MEMSET_SETS
NO_NESTED_SETS = MODEL_NO_NESTED_SETS
NO_CONDITIONALS = MODEL_NO_CONDITIONALS
NO_UPDATE = MODEL_NO_UPDATE
NO_CHILDREN = MODEL_NO_CHILDREN
NO_BRANCHES = MODEL_NO_BRANCHES
NO_KEPT_MEMSETS = MODEL_NO_KEPT_MEMSETS

__all__ = [
    "DEVICES",
    "Event",
    "Exec",
    "Graph",
    "Kernel",
    "Memory",
    "NO_BRANCHES",
    "NO_CHILDREN",
    "NO_CONDITIONALS",
    "NO_FUNCTIONS",
    "NO_KEPT_EXECS",
    "NO_KEPT_MEMSETS",
    "NO_LAYOUTS",
    "NO_MEMSET_SETS",
    "NO_NESTED_SETS",
    "NO_TABLE",
    "NO_UPDATE",
    "Stream",
    "calls",
    "current_device",
    "fail",
    "held",
    "limit",
    "live",
    "misplaced",
    "raw_stream",
    "set_device",
    "stale_replays",
    "without",
]
