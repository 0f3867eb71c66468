"""A context: a driver, and how addresses shall get into its graphs."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Iterable, NamedTuple, Optional

from . import _abi
from ._abi import Capability, ParameterKind, Strategy
from ._library import guard, handle, lib, make, make_error, raise_pending
from ._owner import ContextBase, Owner
from .recording import Recording

Observer = Callable[["Change"], None]


class Change(NamedTuple):
    """An address that the driver has accepted. node None: all nodes of the slot at once, by the
    table."""

    recording: Optional[Recording]
    slot: int
    node: Optional[int]
    byte: Optional[int]
    node_handle: Optional[int]
    old_address: int
    new_address: int
    strategy: Strategy
    ns: int


class Parameter(NamedTuple):
    """One parameter of a kernel."""

    offset: int
    bytes: int
    kind: ParameterKind = ParameterKind.PARAMETER_UNKNOWN


def observe_in_trace(change: Change) -> None:
    """As Context(observe=observe_in_trace): marks each change in dagtap's trace, without coming to
    Python."""
    raise NotImplementedError("for Context(observe=...) only")


class Context(ContextBase):
    """A driver's context ("cuda", "hip" or "model") of the thread's current device, whatever
    thread uses it later; see dagpatch_context_create.

    library is the driver's own library, if not the one that the process has. strategy is what to
    prefer. The others are those of struct dagpatch_options. observe(change) is called for each
    address that the driver has accepted, on the thread that applies; what it raises is raised by
    that call, whose work stays done. May be used by any number of threads. close() closes what was
    made of it; so does the end of a `with`.
    """

    def __init__(
        self,
        driver: str = "cuda",
        *,
        library: Optional[str] = None,
        strategy: Strategy = Strategy.AUTO,
        child_depth: int = 0,
        table_versions: int = 0,
        updates_before_instantiate: int = 0,
        verify: bool = False,
        table_from_nodes: int = 0,
        observe: Optional[Observer] = None,
    ) -> None:
        super().__init__()
        options = make(
            _abi.Options,
            driver=driver.encode(),
            library=library.encode() if library else None,
            strategy=strategy,
            child_depth=child_depth,
            table_versions=table_versions,
            updates_before_instantiate=updates_before_instantiate,
            verify=verify,
            table_from_nodes=table_from_nodes,
        )
        if observe is observe_in_trace:
            options.observe = ctypes.cast(lib.dagpatch_observe_in_trace, _abi.OptionsObserve)
        elif observe is not None:
            options.observe = _abi.OptionsObserve(guard(self._observer(observe), None))
        pointer, error = ctypes.c_void_p(), _abi.Error()
        code = lib.dagpatch_context_create(options, ctypes.byref(pointer), ctypes.byref(error))
        raise_pending()
        if code < 0 or not pointer.value:
            raise make_error(code, error, "dagpatch_context_create")
        self._owner = Owner(pointer.value)
        self._owner.kept.append(options.observe)

    def _observer(self, observe: Observer) -> Callable[[Any, Any], None]:
        recordings = self._recordings

        def call(_user: Any, pointer: Any) -> None:
            change = pointer.contents
            node, byte = (None if n == _abi.NONE else n for n in (change.node, change.byte))
            observe(
                Change(
                    recordings.get(change.recording),
                    change.slot,
                    node,
                    byte,
                    change.node_handle,
                    change.old_address,
                    change.new_address,
                    Strategy(change.strategy),
                    change.ns,
                )
            )

        return call

    @property
    def capabilities(self) -> Capability:
        """What this driver can do."""
        return Capability(lib.dagpatch_context_capabilities(self.pointer))

    def describe_kernel(self, function: Any, parameters: Iterable[Parameter]) -> None:
        """A second witness about a kernel's parameters, in ascending order of offset; see
        dagpatch_kernel_describe."""
        given = [_abi.Parameter(*parameter) for parameter in parameters]
        code = lib.dagpatch_kernel_describe(
            self.pointer, handle(function), (_abi.Parameter * len(given))(*given), len(given)
        )
        if code < 0:
            raise make_error(code, None, "dagpatch_kernel_describe")

    def close(self) -> None:
        """Closes its recordings and caches, then itself."""
        recordings = [member for member in self._members if hasattr(member, "launch")]
        # Caches go after the recordings that use them.
        for member in recordings + [
            member for member in self._members if not hasattr(member, "launch")
        ]:
            member.close()
        self._owner.finalizer()

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def drivers() -> list[str]:
    """Names of the drivers that were built into the library."""
    names, name = [], lib.dagpatch_driver_name(0)
    while name is not None:
        names.append(name.decode())
        name = lib.dagpatch_driver_name(len(names))
    return names
