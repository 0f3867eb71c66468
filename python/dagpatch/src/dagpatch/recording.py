"""A recording: a graph against slots, bound and launched as often as wanted."""

from __future__ import annotations

import ctypes
import errno
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from . import _abi
from ._abi import Condition, DumpFormat, Relocation, State, Stats
from ._library import address, array, guard, handle, lib, make, make_error, pending, raise_pending
from ._owner import ContextBase, Owner
from .cache import Cache
from .nodes import (
    AnyArgument,
    Attributes,
    Collective,
    Declared,
    End,
    Mapping,
    make_arguments,
    make_attributes,
    make_end,
    three,
)

# (stream, addresses): submits the work to a stream that is being captured.
Capture = Callable[[int, list[int]], object]


def _destroy(pointer: int, owner: Owner, kept: list[Any]) -> None:
    """OWNER and KEPT are here so that the context, caches and callbacks are alive until now."""
    lib.dagpatch_recording_destroy(pointer)


def _captor(record: Capture, count: int) -> Callable[..., int]:
    def call(_user: Any, stream: Optional[int], addresses: Any) -> int:
        record(stream or 0, [addresses[i] or 0 for i in range(count)])
        return 0

    return call


@dataclass(frozen=True)
class Child:
    """A recording to be nested, and where each of its slots lies. It may be closed after it was
    added."""

    nested: "Recording"
    mappings: Sequence[Union[Mapping, int]]


def _child(child: Child) -> _abi.Child:
    """The C struct, its size set."""
    mappings = [
        _abi.Mapping(mapping) if isinstance(mapping, int) else _abi.Mapping(*mapping)
        for mapping in child.mappings
    ]
    return make(
        _abi.Child,
        nested=child.nested.pointer,
        mappings=array(_abi.Mapping, mappings),
        mapping_count=len(mappings),
    )


class Recording:
    """A graph that stays alive when its buffers move; see dagpatch.h for each call.

    It takes slots and nodes until finalize(), then addresses and launches. Numbers of nodes and
    slots are what the calls that add them return. after names nodes that come first. Streams,
    events and graphs are numbers or objects that hold one (torch.cuda.Stream); addresses are
    numbers or tensors, which the caller keeps alive.

    One thread at a time may use a recording. Calls release the GIL, so two threads of Python can be
    in the library at once: recordings that threads share need a lock of the caller's.
    """

    def __init__(
        self, context: ContextBase, *, derive_dependencies: bool = False, nested: bool = False
    ) -> None:
        pointer = ctypes.c_void_p()
        flags = (_abi.DERIVE_DEPENDENCIES if derive_dependencies else 0) | (
            _abi.NESTED if nested else 0
        )
        code = lib.dagpatch_recording_create(context.pointer, flags, ctypes.byref(pointer))
        if code < 0 or not pointer.value:
            raise make_error(code, None, "dagpatch_recording_create")
        self._pointer = pointer.value
        self._owner = context._owner
        self._kept: list[Any] = []
        self._finalizer = weakref.finalize(
            self, _destroy, pointer.value, context._owner, self._kept
        )
        context._members.add(self)
        context._recordings[pointer.value] = self

    @property
    def pointer(self) -> int:
        """The struct dagpatch_recording."""
        if not self._finalizer.alive:
            raise ValueError("the recording is closed")
        return self._pointer

    def _check(self, code: int, what: str) -> None:
        """After each call: raises what a callback raised, or what the library says."""
        if pending.exceptions:
            raise_pending()
        if code < 0:
            error = lib.dagpatch_recording_error(self.pointer)
            raise make_error(code, error.contents if error else None, what)

    def _add(self, what: str, *arguments: Any, after: Sequence[int] = ()) -> int:
        """Adds a node by the function WHAT; its number."""
        node = ctypes.c_uint32()
        nodes = array(ctypes.c_uint32, after)
        follows = _abi.After(nodes, len(after)) if nodes is not None else None
        self._check(getattr(lib, what)(self.pointer, *arguments, follows, ctypes.byref(node)), what)
        return node.value

    # ---- what it is made of ----

    def add_slot(
        self,
        name: str,
        bytes: int,
        *,
        alignment: int = 0,
        shadow_in: bool = False,
        shadow_out: bool = False,
        on_host: bool = False,
    ) -> int:
        """A buffer of so many bytes; every address bound to it is aligned to alignment (0: 256)."""
        flags = (_abi.SHADOW_IN if shadow_in else 0) | (_abi.SHADOW_OUT if shadow_out else 0)
        slot = make(
            _abi.Slot,
            name=name.encode(),
            bytes=bytes,
            alignment=alignment,
            flags=flags,
            on_host=on_host,
        )
        number = ctypes.c_uint32()
        self._check(
            lib.dagpatch_slot_add(self.pointer, slot, ctypes.byref(number)), "dagpatch_slot_add"
        )
        return number.value

    def add_kernel(
        self,
        function: Any,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[AnyArgument] = (),
        *,
        shared_bytes: int = 0,
        attributes: Optional[Attributes] = None,
        after: Sequence[int] = (),
    ) -> int:
        """A launch. One argument a parameter: a Pointer, an Argument with addresses in it, or a
        value."""
        kernel = _kernel(function, grid, block, arguments, shared_bytes, attributes)
        return self._add("dagpatch_add_kernel", kernel, after=after)

    def add_copy(
        self,
        dst: End,
        src: End,
        width_bytes: int,
        *,
        height: int = 0,
        depth: int = 0,
        after: Sequence[int] = (),
    ) -> int:
        """A copy of one, two or three dimensions."""
        copy = _copy(dst, src, width_bytes, height, depth)
        return self._add("dagpatch_add_copy", copy, after=after)

    def add_memset(
        self,
        slot: int,
        value: int,
        width: int,
        *,
        element_bytes: int = 1,
        offset: int = 0,
        height: int = 0,
        pitch: int = 0,
        after: Sequence[int] = (),
    ) -> int:
        """width elements of element_bytes (1, 2 or 4), height rows of them that are pitch bytes
        apart."""
        memset = _memset(slot, value, width, element_bytes, offset, height, pitch)
        return self._add("dagpatch_add_memset", memset, after=after)

    def add_empty(self, *, after: Sequence[int] = ()) -> int:
        """A node that does nothing, to wait for."""
        return self._add("dagpatch_add_empty", after=after)

    def add_host(self, function: Callable[[], object], *, after: Sequence[int] = ()) -> int:
        """Calls function on a thread of the driver's, which waits for the GIL. What it raises has
        no caller: sys.unraisablehook gets it. It is kept until the context is closed, for replays
        may still be in flight when the recording is."""
        callback = _abi.HostFunction(lambda _user: function() and None)
        self._owner.kept.append(callback)
        return self._add("dagpatch_add_host", make(_abi.Host, function=callback), after=after)

    def add_event_record(self, event: Any, *, after: Sequence[int] = ()) -> int:
        """Records the driver's event."""
        return self._add("dagpatch_add_event_record", handle(event), after=after)

    def add_event_wait(self, event: Any, *, after: Sequence[int] = ()) -> int:
        """Waits for the driver's event."""
        return self._add("dagpatch_add_event_wait", handle(event), after=after)

    def add_child(self, child: Child, *, after: Sequence[int] = ()) -> int:
        """A copy of a nested recording."""
        self._kept.append(child.nested._kept)
        return self._add("dagpatch_add_child", _child(child), after=after)

    def add_conditional(
        self,
        condition: Condition,
        predicate_slot: int,
        bodies: Sequence[Child],
        *,
        predicate_offset: int = 0,
        predicate_is_byte: bool = False,
        after: Sequence[int] = (),
    ) -> int:
        """Bodies that run as an int32 (or a byte) in a slot says; see enum dagpatch_condition."""
        self._kept += [child.nested._kept for child in bodies]
        made = [_child(child) for child in bodies]
        conditional = make(
            _abi.Conditional,
            condition=condition,
            predicate_slot=predicate_slot,
            predicate_offset=predicate_offset,
            predicate_is_byte=predicate_is_byte,
            bodies=array(_abi.Child, made),
            body_count=len(made),
        )
        return self._add("dagpatch_add_conditional", conditional, after=after)

    def add_captured(
        self,
        record: Capture,
        slots: Sequence[int],
        *,
        recapture: bool = False,
        leave_unstable: bool = False,
        addresses: Optional[tuple[Sequence[Any], Sequence[Any]]] = None,
        collective: Optional[Collective] = None,
        cache: Optional[Cache] = None,
        key: bytes = b"",
        after: Sequence[int] = (),
    ) -> int:
        """Other people's work: record(stream, addresses) submits it to a stream that is being
        captured, with an address for each of slots. It is called several times now and, with
        recapture or verify(), later; what it raises is raised by the call that made it run.
        addresses: two sets to capture at, instead of scratch memory. key, with a cache, names the
        work: recordings with the same key share what was captured at the same addresses. It tells
        all that the work depends on but the slots' addresses; b"": nobody else gets it."""
        callback = _abi.CaptureFn(guard(_captor(record, len(slots))))
        flags = (_abi.RECAPTURE if recapture else 0) | (
            _abi.LEAVE_UNSTABLE if leave_unstable else 0
        )
        capture = make(
            _abi.Capture,
            record=callback,
            slots=array(ctypes.c_uint32, slots),
            slot_count=len(slots),
            flags=flags,
            cache=cache.pointer if cache else None,
            key=ctypes.cast(ctypes.c_char_p(key or None), ctypes.c_void_p),
            key_bytes=len(key),
        )
        if collective:
            capture.collective = ctypes.pointer(
                make(
                    _abi.Collective,
                    communicator=collective.communicator,
                    operation=collective.operation,
                    type=collective.type,
                    count=collective.count,
                    buffers_are_registered=collective.buffers_are_registered,
                )
            )
        for number, given in enumerate(addresses or ()):
            capture.addresses[number] = _addresses(given)
        self._kept += [callback, cache.held if cache else None]
        return self._add("dagpatch_add_captured", capture, after=after)

    def add_graph(
        self,
        graph: Any,
        slots: Sequence[int] = (),
        addresses: Sequence[Any] = (),
        *,
        other_graph: Any = None,
        other_addresses: Sequence[Any] = (),
        further_graphs: Sequence[Any] = (),
        declared: Sequence[Declared] = (),
        after: Sequence[int] = (),
    ) -> int:
        """A copy of a graph that somebody else made, at addresses (one for each of slots), as a
        child node. The rest is as of adopt(); graph may go, what its nodes point to besides the
        slots may not."""
        made = make(
            _abi.Graph,
            graph=handle(graph),
            slots=array(ctypes.c_uint32, slots),
            slot_count=len(slots),
        )
        _fill(made, addresses, other_graph, other_addresses, further_graphs, declared)
        return self._add("dagpatch_add_graph", made, after=after)

    def adopt(
        self,
        graph: Any,
        addresses: Sequence[Any],
        *,
        other_graph: Any = None,
        other_addresses: Sequence[Any] = (),
        further_graphs: Sequence[Any] = (),
        declared: Sequence[Declared] = (),
        exec: Any = None,
    ) -> None:
        """A graph that somebody else captured at addresses (one a slot) becomes the whole content.
        What the addresses in it are is told by the same work captured at other_addresses, or is
        declared. further_graphs: further captures, in turn at addresses and other_addresses. exec:
        the caller's executable graph made of graph, which is patched in place; the caller keeps
        both. Of a nested recording it becomes node 0, as by add_graph(), and has no exec."""
        adoption = make(_abi.Adoption, graph=handle(graph), exec=handle(exec) or None)
        _fill(adoption, addresses, other_graph, other_addresses, further_graphs, declared)
        self._check(lib.dagpatch_adopt(self.pointer, adoption), "dagpatch_adopt")

    def finalize(self) -> None:
        """No more slots or nodes. For a recording that is LOST: a new graph at the next launch."""
        self._check(lib.dagpatch_finalize(self.pointer), "dagpatch_finalize")

    # ---- what is done with it ----

    def bind(self, slot: int, memory: Any, bytes: Optional[int] = None) -> None:
        """The slot is at memory from the next launch on. bytes is what is there: a tensor knows
        it."""
        at = memory if type(memory) is int else address(memory)
        size = bytes if bytes is not None else int(memory.nbytes)
        self._check(lib.dagpatch_bind(self.pointer, slot, at, size), "dagpatch_bind")

    def bind_all(self, memory: Sequence[Any]) -> None:
        """All slots, in their order, all or none. The sizes are the caller's word."""
        self._check(
            lib.dagpatch_bind_all(self.pointer, _addresses(memory), len(memory)),
            "dagpatch_bind_all",
        )

    def apply(self) -> None:
        """Brings the graph to what is bound, if it is not."""
        self._check(lib.dagpatch_apply(self.pointer), "dagpatch_apply")

    def launch(self, stream: Any = None) -> None:
        """apply(), then the graph in stream, one of the recording's device (None: the driver's
        default stream). Where the stream is being captured, a copy of what is wanted now becomes
        part of the captured graph, and nothing runs."""
        self._check(
            lib.dagpatch_launch(self.pointer, stream if type(stream) is int else handle(stream)),
            "dagpatch_launch",
        )

    def evict(self) -> None:
        """Gives the memory of the graph back to the driver; the next launch() builds it again."""
        self._check(lib.dagpatch_evict(self.pointer), "dagpatch_evict")

    def revert(self) -> None:
        """Discards pending bindings; keeps the addresses that were applied last."""
        self._check(lib.dagpatch_revert(self.pointer), "dagpatch_revert")

    def set_kernel(
        self,
        node: int,
        function: Any,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[AnyArgument] = (),
        *,
        shared_bytes: int = 0,
        attributes: Optional[Attributes] = None,
    ) -> None:
        """Another launch in place of a kernel's, from the next apply() or launch() on, with the
        dependencies that the node has. A child's own nodes follow it and can be set, too."""
        kernel = _kernel(function, grid, block, arguments, shared_bytes, attributes)
        self._check(lib.dagpatch_set_kernel(self.pointer, node, kernel), "dagpatch_set_kernel")

    def set_copy(
        self,
        node: int,
        dst: End,
        src: End,
        width_bytes: int,
        *,
        height: int = 0,
        depth: int = 0,
    ) -> None:
        """The same of a copy."""
        copy = _copy(dst, src, width_bytes, height, depth)
        self._check(lib.dagpatch_set_copy(self.pointer, node, copy), "dagpatch_set_copy")

    def set_memset(
        self,
        node: int,
        slot: int,
        value: int,
        width: int,
        *,
        element_bytes: int = 1,
        offset: int = 0,
        height: int = 0,
        pitch: int = 0,
    ) -> None:
        """The same of a memset."""
        memset = _memset(slot, value, width, element_bytes, offset, height, pitch)
        self._check(lib.dagpatch_set_memset(self.pointer, node, memset), "dagpatch_set_memset")

    def set_child(self, node: int, child: Child) -> None:
        """Another recording, of the same shape, in place of a child's."""
        made = _child(child)
        self._check(lib.dagpatch_set_child(self.pointer, node, made), "dagpatch_set_child")
        self._kept.append(child.nested._kept)

    def set_argument(self, node: int, index: int, value: Any) -> None:
        """Another value for a kernel's argument, but for its addresses, from the next launch on."""
        given = bytes(value)
        self._check(
            lib.dagpatch_set_argument(self.pointer, node, index, given, len(given)),
            "dagpatch_set_argument",
        )

    def set_memset_value(self, node: int, value: int) -> None:
        """Another value for a memset, from the next launch on."""
        self._check(
            lib.dagpatch_set_memset_value(self.pointer, node, value), "dagpatch_set_memset_value"
        )

    def verify(self) -> bool:
        """Whether every address was read from the executable graph and is what is bound. False:
        nothing is wrong, but some cannot be read (stats().unread_nodes). Raises Mismatch where one
        is another."""
        code = lib.dagpatch_verify(self.pointer)
        self._check(code, "dagpatch_verify")
        return bool(code != _abi.CANNOT_TELL)

    # ---- looking in ----

    @property
    def state(self) -> State:
        """CREATED, READY or LOST."""
        return State(lib.dagpatch_recording_state(self.pointer))

    def stats(self) -> Stats:
        """Counts of what was done; uses, nodes and ns are indexed by Strategy."""
        stats = make(Stats)
        self._check(lib.dagpatch_recording_stats(self.pointer, stats), "dagpatch_recording_stats")
        return stats

    def relocations(self) -> Iterator[Relocation]:
        """Where addresses are, in ascending order of slot."""
        index = 0
        while True:
            relocation = Relocation()
            code = lib.dagpatch_recording_relocation(self.pointer, index, relocation)
            if code == -errno.ERANGE:
                return
            self._check(code, "dagpatch_recording_relocation")
            yield relocation
            index += 1

    @property
    def exec(self) -> Optional[int]:
        """The driver's executable graph; None before the first apply() or launch()."""
        found: Optional[int] = lib.dagpatch_recording_exec(self.pointer)
        return found

    def node_handle(self, node: int) -> Optional[int]:
        """The driver's handle of a node; None before the first apply() or launch()."""
        found: Optional[int] = lib.dagpatch_node_handle(self.pointer, node)
        return found

    def dump(self, format: DumpFormat = DumpFormat.DUMP_TEXT) -> str:
        """It in words, or as a drawing for Graphviz' dot: slots, nodes, addresses, and what was
        changed last. For people; may change."""
        pieces: list[bytes] = []

        def write(_user: Any, text: int, size: int) -> int:
            pieces.append(ctypes.string_at(text, size))
            return 0

        callback = _abi.WriteFn(guard(write))
        self._check(lib.dagpatch_dump(self.pointer, format, callback, None), "dagpatch_dump")
        return b"".join(pieces).decode(errors="replace")

    def close(self) -> None:
        """Frees it; replays in flight go on. Not in a callback of its own."""
        self._finalizer()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _addresses(memory: Any) -> Any:
    return array(ctypes.c_void_p, [address(at) for at in memory])


def _fill(
    made: Union[_abi.Graph, _abi.Adoption],
    addresses: Sequence[Any],
    other_graph: Any,
    other_addresses: Sequence[Any],
    further_graphs: Sequence[Any],
    declared: Sequence[Declared],
) -> None:
    """Says where the addresses in the graph are."""
    made.addresses[0] = _addresses(addresses)
    if other_graph is not None:
        made.other_graph = handle(other_graph)
        made.addresses[1] = _addresses(other_addresses)
    made.further_graphs = _addresses(map(handle, further_graphs))
    made.further_graph_count = len(further_graphs)
    made.declared = array(_abi.Declared, [_abi.Declared(*one) for one in declared])
    made.declared_count = len(declared)


def _kernel(
    function: Any,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[AnyArgument],
    shared_bytes: int,
    attributes: Optional[Attributes],
) -> _abi.Kernel:
    return make(
        _abi.Kernel,
        function=handle(function),
        grid=three(grid),
        block=three(block),
        shared_bytes=shared_bytes,
        argument_count=len(arguments),
        arguments=make_arguments(arguments),
        attributes=make_attributes(attributes),
    )


def _copy(dst: End, src: End, width_bytes: int, height: int, depth: int) -> _abi.Copy:
    return make(
        _abi.Copy,
        dst=make_end(dst),
        src=make_end(src),
        width_bytes=width_bytes,
        height=height,
        depth=depth,
    )


def _memset(
    slot: int, value: int, width: int, element_bytes: int, offset: int, height: int, pitch: int
) -> _abi.Memset:
    return make(
        _abi.Memset,
        slot=slot,
        offset=offset,
        value=value,
        element_bytes=element_bytes,
        width=width,
        height=height,
        pitch=pitch,
    )


__all__ = ["Capture", "Recording"]
