"""As much of dagpatch.h as these examples need, by ctypes. LIBRARY: where libdagpatch.so is."""
import ctypes
import os

NONE = 0xFFFFFFFF
AUTO, SET_PARAMS, DEVICE_TABLE, UPDATE_GRAPH, INSTANTIATE, CAPTURE, SHADOW = range(7)
CAPTURE_AGAIN = 1

u32, u64, i64, pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p
capture_function = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, ctypes.POINTER(pointer))


class Vote(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("phase", ctypes.c_int), ("count", u32), ("values", ctypes.POINTER(i64)),
                ("timeout_ns", u64)]


vote_function = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.POINTER(Vote), ctypes.POINTER(i64))


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("driver_code", ctypes.c_int), ("node", u32), ("byte", u32),
                ("message", ctypes.c_char * 256)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("driver", ctypes.c_char_p), ("library", ctypes.c_char_p),
                ("strategy", ctypes.c_int), ("child_depth", u32), ("table_versions", u32),
                ("updates_before_instantiate", u32), ("verify", ctypes.c_int), ("observe", pointer),
                ("observe_user", pointer)]


class Slot(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("bytes", u64), ("alignment", u64), ("flags", u32),
                ("on_host", ctypes.c_int)]


class Collective(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("communicator", u64), ("operation", u32), ("type", u32), ("count", u64),
                ("buffers_are_registered", ctypes.c_int)]


class Capture(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("record", capture_function), ("user", pointer), ("slots", ctypes.POINTER(u32)),
                ("slot_count", u32), ("flags", u32), ("addresses", ctypes.POINTER(pointer) * 2),
                ("collective", ctypes.POINTER(Collective)), ("cache", pointer), ("key", ctypes.c_char_p),
                ("key_bytes", ctypes.c_size_t)]


class Adoption(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("graph", pointer), ("addresses", ctypes.POINTER(pointer) * 2), ("other_graph", pointer),
                ("again", ctypes.POINTER(pointer)), ("again_count", u32), ("declared", pointer), ("declared_count", u32), ("exec", pointer)]


class Stats(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("launches", u64), ("unchanged_launches", u64), ("failures", u64),
                ("rollbacks", u64), ("uses", u64 * 7), ("nodes", u64 * 7), ("ns", u64 * 7), ("captures", u64),
                ("node_count", u64), ("relocation_count", u64), ("node_bytes", u64),
                ("relocation_bytes", u64), ("parameter_bytes", u64)]


class CacheOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("capacity", u32), ("vote", vote_function), ("vote_user", pointer),
                ("vote_timeout_ns", u64), ("ranks_change_together", ctypes.c_int)]


class CacheStats(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("hits", u64), ("misses", u64), ("evictions", u64), ("votes", u64),
                ("entries", u64)]


class Failure(Exception):
    pass


library = ctypes.CDLL(os.environ.get("LIBRARY", "libdagpatch.so"))
library.dagpatch_recording_error.restype = ctypes.POINTER(Error)
for name in ("context_destroy", "recording_destroy", "cache_destroy"):
    getattr(library, "dagpatch_" + name).argtypes = [pointer]
    getattr(library, "dagpatch_" + name).restype = None


class Context:
    def __init__(self, driver="cuda", strategy=AUTO, **options):
        self.options = Options(ctypes.sizeof(Options), driver.encode(), strategy=strategy, **options)
        self.handle, error = pointer(), Error()
        if library.dagpatch_context_create(ctypes.byref(self.options), ctypes.byref(self.handle),
                                           ctypes.byref(error)) < 0:
            raise Failure(error.message.decode())

    def cache(self, vote=None, timeout_ns=0, capacity=0, ranks_change_together=False):
        handle = pointer()
        self.vote = vote_function(vote) if vote else vote_function()
        options = CacheOptions(ctypes.sizeof(CacheOptions), capacity, self.vote, None, timeout_ns,
                               ranks_change_together)
        if library.dagpatch_cache_create(self.handle, ctypes.byref(options), ctypes.byref(handle)) < 0:
            raise Failure("dagpatch_cache_create")
        return handle

    def close(self):
        library.dagpatch_context_destroy(self.handle)


def addresses(values):
    return (pointer * len(values))(*values)


class Recording:
    def __init__(self, context):
        self.handle, self.kept = pointer(), []
        if library.dagpatch_recording_create(context.handle, 0, ctypes.byref(self.handle)) < 0:
            raise Failure("dagpatch_recording_create")
        # What is called for each step, with as little around it as Python allows.
        self.bind_call = library.dagpatch_bind
        self.bind_call.argtypes = [pointer, u32, pointer, u64]
        self.launch_call = library.dagpatch_launch
        self.launch_call.argtypes = [pointer, pointer]

    def check(self, result):
        if result < 0:
            error = library.dagpatch_recording_error(self.handle).contents
            raise Failure(f"{error.message.decode()} ({result}, driver {error.driver_code})")

    def slot(self, name, size, alignment=0):
        number = u32()
        slot = Slot(ctypes.sizeof(Slot), name.encode(), size, alignment)
        self.check(library.dagpatch_slot_add(self.handle, ctypes.byref(slot), ctypes.byref(number)))
        return number.value

    def captured(self, record, slots, flags=0, collective=None, cache=None):
        """record(stream, [addresses]) submits the work to a stream that is being captured."""
        def call(user, stream, at):
            try:
                record(stream, [at[i] for i in range(len(slots))])
                return 0
            except Exception as failure:  # which C cannot pass on
                print(failure)
                return -5
        kept = capture_function(call)
        capture = Capture(ctypes.sizeof(Capture), kept, None, (u32 * len(slots))(*slots), len(slots), flags)
        capture.cache = cache
        if collective:
            capture.collective = ctypes.pointer(collective)
        self.kept += [kept, capture]
        self.check(library.dagpatch_add_captured(self.handle, ctypes.byref(capture), None, None))

    def adopt(self, graph, at, other_graph, other_at, again=()):
        """Captures of the same work: GRAPH with the slots at AT, OTHER_GRAPH at OTHER_AT, and AGAIN in turn."""
        adoption = Adoption(ctypes.sizeof(Adoption), graph, other_graph=other_graph, again=addresses(again), again_count=len(again))
        adoption.addresses[0], adoption.addresses[1] = addresses(at), addresses(other_at)
        self.check(library.dagpatch_adopt(self.handle, ctypes.byref(adoption)))

    def finalize(self):
        self.check(library.dagpatch_finalize(self.handle))

    def bind(self, slot, address, size):
        self.check(self.bind_call(self.handle, slot, address, size))

    def launch(self, stream):
        self.check(self.launch_call(self.handle, stream))

    def revert(self):
        self.check(library.dagpatch_revert(self.handle))

    def stats(self):
        stats = Stats(ctypes.sizeof(Stats))
        self.check(library.dagpatch_recording_stats(self.handle, ctypes.byref(stats)))
        return stats

    def close(self):
        library.dagpatch_recording_destroy(self.handle)
