"""GPU graphs that stay alive when buffers move: the C library dagpatch for Python.

A CUDA or HIP graph has the addresses of its buffers baked in. dagpatch records it against slots,
and when a slot is bound to another address it changes exactly those bytes of the executable graph
that are this address.

    context = dagpatch.Context("cuda")
    recording = dagpatch.Recording(context)
    slot = recording.add_slot("input", tensor.nbytes)
    recording.add_captured(lambda stream, at: work(stream, at[0]), [slot])
    recording.finalize()
    for tensor in tensors:
        recording.bind(slot, tensor)
        recording.launch(stream)

dagpatch.torch adopts graphs of PyTorch's, dagpatch.model is a GPU in memory for tests. Calls
release the GIL. Callbacks run on the thread that makes the call, but for host nodes; what they
raise comes out of that call. The library is the package's own, or the one that the variable
DAGPATCH_LIBRARY names.
"""

from ._abi import (
    DST,
    READS,
    SRC,
    STRATEGY_COUNT,
    WRITES,
    CacheStats,
    Capability,
    Condition,
    DumpFormat,
    ParameterKind,
    Programmatic,
    Relocation,
    State,
    Stats,
    Strategy,
)
from ._library import Error, Mismatch, NotSupported, lib as _lib
from .cache import Cache, Vote
from .context import Change, Context, Parameter, drivers, observe_in_trace
from .nodes import Argument, Attributes, Collective, Declared, End, Mapping, Pointer
from .recording import Child, Recording


def version() -> int:
    """The library's version: major * 10000 + minor * 100 + patch."""
    return int(_lib.dagpatch_version())


__all__ = [
    "DST",
    "READS",
    "SRC",
    "STRATEGY_COUNT",
    "WRITES",
    "Argument",
    "Attributes",
    "Cache",
    "CacheStats",
    "Capability",
    "Change",
    "Child",
    "Collective",
    "Condition",
    "Context",
    "Declared",
    "DumpFormat",
    "End",
    "Error",
    "Mapping",
    "Mismatch",
    "NotSupported",
    "Parameter",
    "ParameterKind",
    "Pointer",
    "Programmatic",
    "Recording",
    "Relocation",
    "State",
    "Stats",
    "Strategy",
    "Vote",
    "drivers",
    "observe_in_trace",
    "version",
]
