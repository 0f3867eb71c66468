"""What nodes are made of: arguments with addresses in them, ends of copies."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Sequence, Union

from . import _abi
from ._abi import Programmatic
from ._library import address, array, make


class Pointer(NamedTuple):
    """An address: where slot SLOT is, plus offset. As a kernel's argument it is a pointer of eight
    bytes; in an Argument, byte says where in it. range_bytes from there (0: to the slot's end) are
    accessed as access says (READS, WRITES; 0: both)."""

    slot: int
    offset: int = 0
    byte: int = 0
    range_bytes: int = 0
    access: int = 0


@dataclass(frozen=True)
class Argument:
    """A parameter by value that holds addresses: bytes (or a ctypes struct), and where in them."""

    value: Any
    pointers: Sequence[Pointer] = ()


# A plain value is bytes or anything of ctypes (ctypes.c_float(1), a Structure).
AnyArgument = Union[Pointer, Argument, bytes, Any]


@dataclass(frozen=True)
class Attributes:
    """How a kernel is launched beyond its parameters. None: the driver's default; where a node is
    set, what it has. cluster is in blocks; the others are those of struct dagpatch_attributes."""

    priority: Optional[int] = None
    cooperative: Optional[bool] = None
    cluster: Union[int, Sequence[int], None] = None
    programmatic: Optional[Programmatic] = None


@dataclass(frozen=True)
class End:
    """One end of a copy: in a slot, or (slot None) at an address that never moves. Rows are pitch
    bytes apart (0: as wide as the copy), slices rows rows apart (0: as high as the copy)."""

    slot: Optional[int] = None
    offset: int = 0
    address: Any = 0
    on_host: bool = False
    pitch: int = 0
    rows: int = 0


class Mapping(NamedTuple):
    """Where a slot of a nested recording lies: in a slot of the outer one."""

    slot: int
    offset: int = 0


@dataclass(frozen=True)
class Collective:
    """A collective is uniform over ranks: each of them captures it, or none does."""

    communicator: int
    operation: int
    type: int
    count: int
    buffers_are_registered: bool = False


class Declared(NamedTuple):
    """Where an address is in an adopted graph: node in the driver's order (a child's own right
    after it), byte in its argument block (copies: DST or SRC, memsets 0)."""

    node: int
    byte: int
    slot: int
    offset: int = 0


def _pointer(pointer: Pointer) -> _abi.Pointer:
    return _abi.Pointer(
        byte=pointer.byte,
        slot=pointer.slot,
        offset=pointer.offset,
        range_bytes=pointer.range_bytes,
        access=pointer.access,
    )


def make_arguments(arguments: Sequence[AnyArgument]) -> Any:
    """The C array; it keeps what it points to."""
    made = [_argument(argument) for argument in arguments]
    values = array(_abi.Argument, made)
    if values is not None:
        # An array holds copies of structs, which do not keep what the originals kept.
        values.kept = made
    return values


def _argument(argument: AnyArgument) -> _abi.Argument:
    if isinstance(argument, Pointer):
        pointers, value, size = [argument], None, 8
    else:
        pointers = list(argument.pointers) if isinstance(argument, Argument) else []
        value = bytes(argument.value if isinstance(argument, Argument) else argument)
        size = len(value)
    made = _abi.Argument(
        size=size,
        pointer_count=len(pointers),
        pointers=array(_abi.Pointer, map(_pointer, pointers)),
    )
    if value is not None:
        made.kept = ctypes.create_string_buffer(value, size)
        made.bytes = ctypes.addressof(made.kept)
    return made


def make_attributes(attributes: Optional[Attributes]) -> Any:
    """A pointer to the C struct; None for no attributes, which C takes for NULL."""
    if attributes is None:
        return None
    given = {
        _abi.PRIORITY: attributes.priority,
        _abi.COOPERATIVE: attributes.cooperative,
        _abi.CLUSTER: attributes.cluster,
        _abi.PROGRAMMATIC: attributes.programmatic,
    }
    return ctypes.pointer(
        make(
            _abi.Attributes,
            given=sum(flag for flag, value in given.items() if value is not None),
            priority=attributes.priority or 0,
            cooperative=bool(attributes.cooperative),
            cluster=three(attributes.cluster or 0),
            programmatic=attributes.programmatic or 0,
        )
    )


def three(sizes: Union[int, Sequence[int]]) -> tuple[int, ...]:
    """Of one to three sizes; those that are left out are 1."""
    given = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    return given + (1,) * (3 - len(given))


def make_end(end: End) -> _abi.End:
    """The C struct."""
    return _abi.End(
        slot=_abi.NONE if end.slot is None else end.slot,
        on_host=end.on_host,
        offset=end.offset,
        address=address(end.address) or None,
        pitch=end.pitch,
        rows=end.rows,
    )
