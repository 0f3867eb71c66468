"""What dagpatch/basics.h, dagpatch/contexts.h, dagpatch/recordings.h, dagpatch/nodes.h,
dagpatch/captured_work.h, dagpatch/launches.h, dagpatch/inspection.h, dagpatch/caches.h and
dagpatch/model.h declare, for ctypes.

Made by scripts/gen-python-abi.py from the headers; do not edit. A name here is the C name
without "dagpatch_", in Python's style: struct dagpatch_kernel is Kernel.
"""
from __future__ import annotations

import enum
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64,
                    c_size_t, c_uint32, c_uint64, c_void_p)
from typing import Any, Optional

# As ctypes gives them; fields of structs are called bytes and type.
Text = bytes
OptionalText = Optional[bytes]
Address = Optional[int]


class Struct(Structure):
    """A struct of C that shows its fields."""

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name, *_ in self._fields_)
        shown = [f"{name}={list(value) if hasattr(value, '_length_') else value!r}"
                 for name, value in values]
        return f"{type(self).__name__}({', '.join(shown)})"


NONE = 4294967295
VERSION = 100
DST = 0
SRC = 8
CANNOT_TELL = 1


class Strategy(enum.IntEnum):
    AUTO = 0
    SET_PARAMS = 1
    DEVICE_TABLE = 2
    UPDATE_GRAPH = 3
    INSTANTIATE = 4
    CAPTURE = 5
    SHADOW = 6


STRATEGY_COUNT = 7


class Capability(enum.IntFlag):
    HAS_TABLE = 1
    HAS_CONDITIONALS = 2
    HAS_LAYOUTS = 4


class ParameterKind(enum.IntEnum):
    PARAMETER_UNKNOWN = 0
    PARAMETER_POINTER = 1
    PARAMETER_VALUE = 2
    PARAMETER_HIDDEN = 3


class State(enum.IntEnum):
    CREATED = 0
    READY = 1
    LOST = 2


DERIVE_DEPENDENCIES = 1
NESTED = 2


SHADOW_IN = 1
SHADOW_OUT = 2


READS = 1
WRITES = 2


PRIORITY = 1
COOPERATIVE = 2
CLUSTER = 4
PROGRAMMATIC = 8


class Programmatic(enum.IntEnum):
    ON_END = 0
    ON_TRIGGER = 1
    ON_START = 2


class Condition(enum.IntEnum):
    IF = 0
    CASE = 1
    WHILE = 2


RECAPTURE = 1
LEAVE_UNSTABLE = 2


class DumpFormat(enum.IntEnum):
    DUMP_TEXT = 0
    DUMP_GRAPHVIZ = 1


class VotePhase(enum.IntEnum):
    VOTE_BEFORE = 0
    VOTE_AFTER = 1


MODEL_DEVICES = 4


MODEL_LAZY = 0
MODEL_THREADED = 1


MODEL_NO_TABLE = 1
MODEL_NO_LAYOUTS = 2
MODEL_NO_NESTED_SETS = 4
MODEL_NO_CONDITIONALS = 8
MODEL_NO_UPDATE = 16
MODEL_NO_CHILDREN = 32
MODEL_NO_BRANCHES = 64
MODEL_NO_KEPT_MEMSETS = 128
MODEL_NO_FUNCTIONS = 256
MODEL_NO_KEPT_EXECS = 512
MODEL_NO_MEMSET_SETS = 1024


class Error(Struct):
    code: int
    driver_code: int
    node: int
    byte: int
    message: Text
    _fields_ = [
        ("code", c_int),
        ("driver_code", c_int),
        ("node", c_uint32),
        ("byte", c_uint32),
        ("message", c_char * 256),
    ]


class Change(Struct):
    recording: Address
    slot: int
    node: int
    byte: int
    node_handle: Address
    old_address: int
    new_address: int
    strategy: int
    ns: int
    _fields_ = [
        ("recording", c_void_p),
        ("slot", c_uint32),
        ("node", c_uint32),
        ("byte", c_uint32),
        ("node_handle", c_void_p),
        ("old_address", c_uint64),
        ("new_address", c_uint64),
        ("strategy", c_int),
        ("ns", c_uint64),
    ]


OptionsObserve = CFUNCTYPE(None, c_void_p, POINTER(Change))


class Options(Struct):
    size: int
    driver: OptionalText
    library: OptionalText
    strategy: int
    child_depth: int
    table_versions: int
    updates_before_instantiate: int
    verify: int
    table_from_nodes: int
    observe: Any
    observe_user: Address
    _fields_ = [
        ("size", c_size_t),
        ("driver", c_char_p),
        ("library", c_char_p),
        ("strategy", c_int),
        ("child_depth", c_uint32),
        ("table_versions", c_uint32),
        ("updates_before_instantiate", c_uint32),
        ("verify", c_int),
        ("table_from_nodes", c_uint32),
        ("observe", OptionsObserve),
        ("observe_user", c_void_p),
    ]


class Parameter(Struct):
    offset: int
    bytes: int
    kind: int
    _fields_ = [
        ("offset", c_uint32),
        ("bytes", c_uint32),
        ("kind", c_int),
    ]


class Slot(Struct):
    size: int
    name: OptionalText
    bytes: int
    alignment: int
    flags: int
    on_host: int
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("bytes", c_uint64),
        ("alignment", c_uint64),
        ("flags", c_uint32),
        ("on_host", c_int),
    ]


class After(Struct):
    nodes: Any
    count: int
    _fields_ = [
        ("nodes", POINTER(c_uint32)),
        ("count", c_uint32),
    ]


class Pointer(Struct):
    byte: int
    slot: int
    offset: int
    range_bytes: int
    access: int
    _fields_ = [
        ("byte", c_uint32),
        ("slot", c_uint32),
        ("offset", c_uint64),
        ("range_bytes", c_uint64),
        ("access", c_uint32),
    ]


class Argument(Struct):
    bytes: Address
    size: int
    pointer_count: int
    pointers: Any
    _fields_ = [
        ("bytes", c_void_p),
        ("size", c_uint32),
        ("pointer_count", c_uint32),
        ("pointers", POINTER(Pointer)),
    ]


class Attributes(Struct):
    size: int
    given: int
    priority: int
    cooperative: int
    cluster: Any
    programmatic: int
    _fields_ = [
        ("size", c_size_t),
        ("given", c_uint32),
        ("priority", c_int32),
        ("cooperative", c_int),
        ("cluster", c_uint32 * 3),
        ("programmatic", c_int),
    ]


class Kernel(Struct):
    size: int
    function: Address
    grid: Any
    block: Any
    shared_bytes: int
    argument_count: int
    arguments: Any
    attributes: Any
    _fields_ = [
        ("size", c_size_t),
        ("function", c_void_p),
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("shared_bytes", c_uint32),
        ("argument_count", c_uint32),
        ("arguments", POINTER(Argument)),
        ("attributes", POINTER(Attributes)),
    ]


class End(Struct):
    slot: int
    on_host: int
    offset: int
    address: Address
    pitch: int
    rows: int
    _fields_ = [
        ("slot", c_uint32),
        ("on_host", c_int),
        ("offset", c_uint64),
        ("address", c_void_p),
        ("pitch", c_uint64),
        ("rows", c_uint64),
    ]


class Copy(Struct):
    size: int
    dst: End
    src: End
    width_bytes: int
    height: int
    depth: int
    _fields_ = [
        ("size", c_size_t),
        ("dst", End),
        ("src", End),
        ("width_bytes", c_uint64),
        ("height", c_uint64),
        ("depth", c_uint64),
    ]


class Memset(Struct):
    size: int
    slot: int
    offset: int
    value: int
    element_bytes: int
    width: int
    height: int
    pitch: int
    _fields_ = [
        ("size", c_size_t),
        ("slot", c_uint32),
        ("offset", c_uint64),
        ("value", c_uint32),
        ("element_bytes", c_uint32),
        ("width", c_uint64),
        ("height", c_uint64),
        ("pitch", c_uint64),
    ]


HostFunction = CFUNCTYPE(None, c_void_p)


class Host(Struct):
    size: int
    function: Any
    user: Address
    _fields_ = [
        ("size", c_size_t),
        ("function", HostFunction),
        ("user", c_void_p),
    ]


class Mapping(Struct):
    slot: int
    offset: int
    _fields_ = [
        ("slot", c_uint32),
        ("offset", c_uint64),
    ]


class Child(Struct):
    size: int
    nested: Address
    mappings: Any
    mapping_count: int
    _fields_ = [
        ("size", c_size_t),
        ("nested", c_void_p),
        ("mappings", POINTER(Mapping)),
        ("mapping_count", c_uint32),
    ]


class Conditional(Struct):
    size: int
    condition: int
    predicate_slot: int
    predicate_offset: int
    predicate_is_byte: int
    bodies: Any
    body_count: int
    _fields_ = [
        ("size", c_size_t),
        ("condition", c_int),
        ("predicate_slot", c_uint32),
        ("predicate_offset", c_uint64),
        ("predicate_is_byte", c_int),
        ("bodies", POINTER(Child)),
        ("body_count", c_uint32),
    ]


class Collective(Struct):
    size: int
    communicator: int
    operation: int
    type: int
    count: int
    buffers_are_registered: int
    _fields_ = [
        ("size", c_size_t),
        ("communicator", c_uint64),
        ("operation", c_uint32),
        ("type", c_uint32),
        ("count", c_uint64),
        ("buffers_are_registered", c_int),
    ]


CaptureFn = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(c_void_p))


class Capture(Struct):
    size: int
    record: Any
    user: Address
    slots: Any
    slot_count: int
    flags: int
    addresses: Any
    collective: Any
    cache: Address
    key: Address
    key_bytes: int
    _fields_ = [
        ("size", c_size_t),
        ("record", CaptureFn),
        ("user", c_void_p),
        ("slots", POINTER(c_uint32)),
        ("slot_count", c_uint32),
        ("flags", c_uint32),
        ("addresses", POINTER(c_void_p) * 2),
        ("collective", POINTER(Collective)),
        ("cache", c_void_p),
        ("key", c_void_p),
        ("key_bytes", c_size_t),
    ]


class Declared(Struct):
    node: int
    byte: int
    slot: int
    offset: int
    _fields_ = [
        ("node", c_uint32),
        ("byte", c_uint32),
        ("slot", c_uint32),
        ("offset", c_uint64),
    ]


class Graph(Struct):
    size: int
    graph: Address
    slots: Any
    slot_count: int
    addresses: Any
    other_graph: Address
    further_graphs: Any
    further_graph_count: int
    declared: Any
    declared_count: int
    _fields_ = [
        ("size", c_size_t),
        ("graph", c_void_p),
        ("slots", POINTER(c_uint32)),
        ("slot_count", c_uint32),
        ("addresses", POINTER(c_void_p) * 2),
        ("other_graph", c_void_p),
        ("further_graphs", POINTER(c_void_p)),
        ("further_graph_count", c_uint32),
        ("declared", POINTER(Declared)),
        ("declared_count", c_uint32),
    ]


class Adoption(Struct):
    size: int
    graph: Address
    addresses: Any
    other_graph: Address
    further_graphs: Any
    further_graph_count: int
    declared: Any
    declared_count: int
    exec: Address
    _fields_ = [
        ("size", c_size_t),
        ("graph", c_void_p),
        ("addresses", POINTER(c_void_p) * 2),
        ("other_graph", c_void_p),
        ("further_graphs", POINTER(c_void_p)),
        ("further_graph_count", c_uint32),
        ("declared", POINTER(Declared)),
        ("declared_count", c_uint32),
        ("exec", c_void_p),
    ]


class Stats(Struct):
    size: int
    launches: int
    unchanged_launches: int
    failures: int
    rollbacks: int
    uses: Any
    nodes: Any
    ns: Any
    captures: int
    node_count: int
    relocation_count: int
    node_bytes: int
    relocation_bytes: int
    parameter_bytes: int
    unread_nodes: int
    captured_launches: int
    host_bytes: int
    pinned_bytes: int
    device_bytes: int
    exec_bytes: int
    evictions: int
    memory_retries: int
    _fields_ = [
        ("size", c_size_t),
        ("launches", c_uint64),
        ("unchanged_launches", c_uint64),
        ("failures", c_uint64),
        ("rollbacks", c_uint64),
        ("uses", c_uint64 * 7),
        ("nodes", c_uint64 * 7),
        ("ns", c_uint64 * 7),
        ("captures", c_uint64),
        ("node_count", c_uint64),
        ("relocation_count", c_uint64),
        ("node_bytes", c_uint64),
        ("relocation_bytes", c_uint64),
        ("parameter_bytes", c_uint64),
        ("unread_nodes", c_uint64),
        ("captured_launches", c_uint64),
        ("host_bytes", c_uint64),
        ("pinned_bytes", c_uint64),
        ("device_bytes", c_uint64),
        ("exec_bytes", c_uint64),
        ("evictions", c_uint64),
        ("memory_retries", c_uint64),
    ]


class Relocation(Struct):
    node: int
    byte: int
    slot: int
    offset: int
    _fields_ = [
        ("node", c_uint32),
        ("byte", c_uint32),
        ("slot", c_uint32),
        ("offset", c_uint64),
    ]


class Vote(Struct):
    size: int
    phase: int
    count: int
    values: Any
    timeout_ns: int
    _fields_ = [
        ("size", c_size_t),
        ("phase", c_int),
        ("count", c_uint32),
        ("values", POINTER(c_int64)),
        ("timeout_ns", c_uint64),
    ]


VoteFn = CFUNCTYPE(c_int, c_void_p, POINTER(Vote), POINTER(c_int64))


class CacheOptions(Struct):
    size: int
    capacity: int
    vote: Any
    vote_user: Address
    vote_timeout_ns: int
    ranks_change_together: int
    _fields_ = [
        ("size", c_size_t),
        ("capacity", c_uint32),
        ("vote", VoteFn),
        ("vote_user", c_void_p),
        ("vote_timeout_ns", c_uint64),
        ("ranks_change_together", c_int),
    ]


class CacheStats(Struct):
    size: int
    hits: int
    misses: int
    evictions: int
    votes: int
    entries: int
    _fields_ = [
        ("size", c_size_t),
        ("hits", c_uint64),
        ("misses", c_uint64),
        ("evictions", c_uint64),
        ("votes", c_uint64),
        ("entries", c_uint64),
    ]


class ModelCopy(Struct):
    dst: Address
    src: Address
    dst_pitch: int
    dst_rows: int
    src_pitch: int
    src_rows: int
    width_bytes: int
    height: int
    depth: int
    _fields_ = [
        ("dst", c_void_p),
        ("src", c_void_p),
        ("dst_pitch", c_uint64),
        ("dst_rows", c_uint64),
        ("src_pitch", c_uint64),
        ("src_rows", c_uint64),
        ("width_bytes", c_uint64),
        ("height", c_uint64),
        ("depth", c_uint64),
    ]


class ModelLive(Struct):
    allocations: int
    streams: int
    events: int
    graphs: int
    nodes: int
    execs: int
    tables: int
    kernels: int
    _fields_ = [
        ("allocations", c_uint64),
        ("streams", c_uint64),
        ("events", c_uint64),
        ("graphs", c_uint64),
        ("nodes", c_uint64),
        ("execs", c_uint64),
        ("tables", c_uint64),
        ("kernels", c_uint64),
    ]


WriteFn = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)


ModelFn = CFUNCTYPE(None, c_void_p, POINTER(c_uint32), POINTER(c_uint32))


# Result and parameters of each function.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "dagpatch_version": (c_uint32, []),
    "dagpatch_observe_in_trace": (None, [c_void_p, POINTER(Change)]),
    "dagpatch_context_create": (c_int, [POINTER(Options), POINTER(c_void_p), POINTER(Error)]),
    "dagpatch_context_destroy": (None, [c_void_p]),
    "dagpatch_driver_name": (c_char_p, [c_uint32]),
    "dagpatch_context_capabilities": (c_uint32, [c_void_p]),
    "dagpatch_kernel_describe": (c_int, [c_void_p, c_void_p, POINTER(Parameter), c_uint32]),
    "dagpatch_recording_create": (c_int, [c_void_p, c_uint32, POINTER(c_void_p)]),
    "dagpatch_recording_destroy": (None, [c_void_p]),
    "dagpatch_recording_state": (c_int, [c_void_p]),
    "dagpatch_recording_error": (POINTER(Error), [c_void_p]),
    "dagpatch_slot_add": (c_int, [c_void_p, POINTER(Slot), POINTER(c_uint32)]),
    "dagpatch_add_kernel": (c_int, [c_void_p, POINTER(Kernel), POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_copy": (c_int, [c_void_p, POINTER(Copy), POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_memset": (c_int, [c_void_p, POINTER(Memset), POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_empty": (c_int, [c_void_p, POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_host": (c_int, [c_void_p, POINTER(Host), POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_event_record": (c_int, [c_void_p, c_void_p, POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_event_wait": (c_int, [c_void_p, c_void_p, POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_child": (c_int, [c_void_p, POINTER(Child), POINTER(After), POINTER(c_uint32)]),
    "dagpatch_add_conditional": (c_int, [c_void_p, POINTER(Conditional), POINTER(After),
        POINTER(c_uint32)]),
    "dagpatch_add_captured": (c_int, [c_void_p, POINTER(Capture), POINTER(After),
        POINTER(c_uint32)]),
    "dagpatch_add_graph": (c_int, [c_void_p, POINTER(Graph), POINTER(After), POINTER(c_uint32)]),
    "dagpatch_adopt": (c_int, [c_void_p, POINTER(Adoption)]),
    "dagpatch_finalize": (c_int, [c_void_p]),
    "dagpatch_bind": (c_int, [c_void_p, c_uint32, c_void_p, c_uint64]),
    "dagpatch_bind_all": (c_int, [c_void_p, POINTER(c_void_p), c_uint32]),
    "dagpatch_apply": (c_int, [c_void_p]),
    "dagpatch_launch": (c_int, [c_void_p, c_void_p]),
    "dagpatch_evict": (c_int, [c_void_p]),
    "dagpatch_revert": (c_int, [c_void_p]),
    "dagpatch_set_kernel": (c_int, [c_void_p, c_uint32, POINTER(Kernel)]),
    "dagpatch_set_copy": (c_int, [c_void_p, c_uint32, POINTER(Copy)]),
    "dagpatch_set_memset": (c_int, [c_void_p, c_uint32, POINTER(Memset)]),
    "dagpatch_set_child": (c_int, [c_void_p, c_uint32, POINTER(Child)]),
    "dagpatch_set_argument": (c_int, [c_void_p, c_uint32, c_uint32, c_void_p, c_uint32]),
    "dagpatch_set_memset_value": (c_int, [c_void_p, c_uint32, c_uint32]),
    "dagpatch_verify": (c_int, [c_void_p]),
    "dagpatch_recording_stats": (c_int, [c_void_p, POINTER(Stats)]),
    "dagpatch_recording_relocation": (c_int, [c_void_p, c_uint32, POINTER(Relocation)]),
    "dagpatch_recording_exec": (c_void_p, [c_void_p]),
    "dagpatch_node_handle": (c_void_p, [c_void_p, c_uint32]),
    "dagpatch_dump": (c_int, [c_void_p, c_int, WriteFn, c_void_p]),
    "dagpatch_cache_create": (c_int, [c_void_p, POINTER(CacheOptions), POINTER(c_void_p)]),
    "dagpatch_cache_destroy": (None, [c_void_p]),
    "dagpatch_cache_drop": (c_int, [c_void_p, c_void_p, c_size_t]),
    "dagpatch_cache_rejoin": (c_int, [c_void_p]),
    "dagpatch_cache_stats": (c_int, [c_void_p, POINTER(CacheStats)]),
    "dagpatch_model_device_set": (c_int, [c_uint32]),
    "dagpatch_model_device": (c_uint32, []),
    "dagpatch_model_alloc": (c_void_p, [c_uint64]),
    "dagpatch_model_free": (None, [c_void_p]),
    "dagpatch_model_kernel_create": (c_int, [ModelFn, POINTER(Parameter), c_uint32,
        POINTER(c_void_p)]),
    "dagpatch_model_kernel_name": (None, [c_void_p, c_char_p]),
    "dagpatch_model_kernel_destroy": (None, [c_void_p]),
    "dagpatch_model_stream_create": (c_int, [c_int, POINTER(c_void_p)]),
    "dagpatch_model_stream_destroy": (None, [c_void_p]),
    "dagpatch_model_stream_synchronize": (c_int, [c_void_p]),
    "dagpatch_model_launch": (c_int, [c_void_p, c_void_p, POINTER(c_uint32), POINTER(c_uint32),
        POINTER(c_void_p)]),
    "dagpatch_model_launch_block": (c_int, [c_void_p, c_void_p, POINTER(c_uint32),
        POINTER(c_uint32), c_void_p, c_uint32]),
    "dagpatch_model_copy_async": (c_int, [c_void_p, POINTER(ModelCopy)]),
    "dagpatch_model_memset_async": (c_int, [c_void_p, c_void_p, c_uint32, c_uint32, c_uint64]),
    "dagpatch_model_host_async": (c_int, [c_void_p, HostFunction, c_void_p]),
    "dagpatch_model_event_create": (c_int, [POINTER(c_void_p)]),
    "dagpatch_model_event_destroy": (None, [c_void_p]),
    "dagpatch_model_event_record": (c_int, [c_void_p, c_void_p, c_int]),
    "dagpatch_model_event_wait": (c_int, [c_void_p, c_void_p, c_int]),
    "dagpatch_model_event_count": (c_uint64, [c_void_p]),
    "dagpatch_model_capture_begin": (c_int, [c_void_p]),
    "dagpatch_model_capture_end": (c_int, [c_void_p, POINTER(c_void_p)]),
    "dagpatch_model_graph_destroy": (None, [c_void_p]),
    "dagpatch_model_graph_launch": (c_int, [c_void_p, c_void_p]),
    "dagpatch_model_instantiate": (c_int, [c_void_p, POINTER(c_void_p)]),
    "dagpatch_model_exec_launch": (c_int, [c_void_p, c_void_p]),
    "dagpatch_model_exec_destroy": (None, [c_void_p]),
    "dagpatch_model_calls": (c_uint64, []),
    "dagpatch_model_misplaced": (c_uint64, []),
    "dagpatch_model_fail": (None, [c_uint64, c_uint64]),
    "dagpatch_model_without": (None, [c_uint32]),
    "dagpatch_model_stale_replays": (c_uint64, []),
    "dagpatch_model_limit": (None, [c_uint64]),
    "dagpatch_model_held": (c_uint64, []),
    "dagpatch_model_live": (None, [POINTER(ModelLive)]),
}
