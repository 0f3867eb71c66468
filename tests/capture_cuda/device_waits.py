#!/usr/bin/env python3
"""device_waits.py: events and waits of every kind, by calls of CUDA's libraries, on a machine with
an NVIDIA GPU. One thread works at a time, so that every run makes the same waits; a line says which
calls were refused. compare_waits.py compares two recordings of it."""
import ctypes
import glob
import importlib.util
import threading

BYTES = 1 << 22
H2D, D2H = 1, 2
DISABLE_TIMING, NONBLOCKING, EXTERNAL = 2, 1, 1
THREAD_LOCAL_CAPTURE = 1


def find_runtime():
    places = ["/usr/local/cuda/lib64/libcudart.so*"]
    for package in ("nvidia", "torch"):
        found = importlib.util.find_spec(package)
        for folder in (found.submodule_search_locations or []) if found else []:
            places += [f"{folder}/cu*/lib/libcudart.so.*", f"{folder}/cuda_runtime/lib/libcudart.so.*", f"{folder}/lib/libcudart*.so*"]
    return next(path for place in places for path in sorted(glob.glob(place)))


cuda = ctypes.CDLL(find_runtime())
driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments, library=cuda, allowed=(0,)):
    code = getattr(library, name)(*arguments)
    if code not in allowed:
        raise SystemExit(f"{name}: error {code}")
    return code


def make(name, *arguments, library=cuda):
    handle = ctypes.c_void_p()
    call(name, ctypes.byref(handle), *arguments, library=library)
    return handle


def event():
    return make("cudaEventCreateWithFlags", DISABLE_TIMING)


def stream():
    return make("cudaStreamCreateWithFlags", NONBLOCKING)


class Work:
    """A few memsets, which take some time on the device."""

    def __init__(self):
        self.memory = make("cudaMalloc", ctypes.c_size_t(BYTES))

    def on(self, where, suffix=""):
        call("cudaMemsetAsync" + suffix, self.memory, 1, ctypes.c_size_t(BYTES), where)


def record(which, where, suffix=""):
    call("cudaEventRecord" + suffix, which, where)


def wait(where, which, suffix=""):
    call("cudaStreamWaitEvent" + suffix, where, which, 0)


def between_streams(work, a, b):
    e, f, never = event(), event(), event()
    work.on(a)
    record(e, a)
    wait(b, e)
    work.on(b)
    for _ in range(3):  # recorded again, before and after the wait
        work.on(a)
        record(e, a)
        wait(b, e)
        work.on(b)
        record(e, b)
        record(f, b)
        wait(a, e)
        wait(a, f)
        work.on(a)
    wait(a, never)
    work.on(a)
    call("cudaEventSynchronize", f)
    call("cudaEventSynchronize", never)
    call("cudaEventQuery", f)
    for which in (e, f, never):
        call("cudaEventDestroy", which)


def reused_handles(work, a):
    handles = set()
    for _ in range(4):
        e, b = event(), stream()
        handles |= {e.value, b.value}
        wait(a, e)  # not recorded in this life
        work.on(b)
        record(e, b)
        wait(a, e)
        work.on(a)
        call("cudaStreamSynchronize", b)
        call("cudaEventDestroy", e)
        call("cudaStreamDestroy", b)
    print("reused handles:", 8 - len(handles))


def host_waits(work, a, b):
    e = event()
    for _ in range(2):
        work.on(a)
        work.on(b)
        record(e, b)
        call("cudaStreamSynchronize", a)
        call("cudaEventSynchronize", e)
        call("cudaStreamQuery", a)
        work.on(a)
        call("cudaDeviceSynchronize")
    text = ctypes.create_string_buffer(BYTES)
    call("cudaMemcpy", work.memory, text, ctypes.c_size_t(BYTES), H2D)
    work.on(a)
    call("cudaMemcpy", text, work.memory, ctypes.c_size_t(BYTES), D2H)
    call("cudaFree", make("cudaMalloc", ctypes.c_size_t(BYTES)))
    call("cuCtxSynchronize", library=driver)


def default_streams(work, a, blocking):
    """The legacy default stream and the blocking ones wait for each other."""
    e = event()
    work.on(blocking)
    work.on(None)
    record(e, None)
    wait(a, e)
    work.on(a)
    record(e, a)
    wait(None, e)
    work.on(None)
    work.on(blocking)
    call("cudaStreamSynchronize", None)
    # The thread's own one.
    work.on(None, "_ptsz")
    record(e, None, "_ptsz")
    wait(a, e)
    work.on(a)
    record(e, a)
    wait(ctypes.c_void_p(2), e)
    work.on(None, "_ptsz")
    record(e, None, "_ptsz")
    # Of cudaStreamSynchronize_ptsz(0), CUPTI reports a wait for the legacy stream.
    call("cudaEventSynchronize", e)


def captured(work, a, b):
    e, f, outside = event(), event(), event()
    graph = ctypes.c_void_p()
    record(e, b)
    call("cudaStreamBeginCapture", a, THREAD_LOCAL_CAPTURE)
    work.on(a)
    record(e, a)
    wait(b, e)
    work.on(b)
    record(f, b)
    wait(a, f)
    call("cudaEventRecordWithFlags", outside, a, EXTERNAL)
    call("cudaStreamEndCapture", a, ctypes.byref(graph))
    run = make("cudaGraphInstantiate", graph, ctypes.c_ulonglong(0))
    wait(b, outside)  # nothing has recorded it yet
    for _ in range(2):
        call("cudaGraphLaunch", run, a)
        wait(b, outside)
        work.on(b)
    record(e, a)
    wait(b, e)
    work.on(b)
    call("cudaStreamSynchronize", b)


def refused(a, b):
    """Calls that fail change nothing."""
    e = event()
    record(e, a)
    codes = [call("cudaEventRecordWithFlags", e, b, 0x70, allowed=range(1, 1000)),
             call("cudaStreamWaitEvent", b, e, 0x70, allowed=range(1, 1000))]
    wait(b, e)
    call("cudaStreamSynchronize", b)
    print("refused:", codes)


def of_another_context(work, a):
    """An event of a second context of the device."""
    first = ctypes.c_void_p()
    call("cuCtxGetCurrent", ctypes.byref(first), library=driver)
    call("cuCtxCreate_v2", ctypes.byref(ctypes.c_void_p()), 0, 0, library=driver)
    there, e = make("cuStreamCreate", NONBLOCKING, library=driver), make("cuEventCreate", DISABLE_TIMING, library=driver)
    memory = make("cuMemAlloc_v2", ctypes.c_size_t(BYTES), library=driver)
    for where in (there, None):
        call("cuMemsetD8Async", memory, 1, ctypes.c_size_t(BYTES), where, library=driver)
        call("cuEventRecord", e, where, library=driver)
        call("cuStreamSynchronize", where, library=driver)
    call("cuCtxSynchronize", library=driver)
    call("cuCtxSetCurrent", first, library=driver)
    # Of cuStreamSynchronize(there), CUPTI would name the current context.
    wait(a, e)
    work.on(a)
    call("cudaDeviceSynchronize")


def in_a_thread(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


def main():
    work = Work()
    a, b, blocking = stream(), stream(), make("cudaStreamCreate")
    between_streams(work, a, b)
    reused_handles(work, a)
    host_waits(work, a, b)
    default_streams(work, a, blocking)
    in_a_thread(default_streams, work, b, blocking)
    in_a_thread(between_streams, work, b, a)
    captured(work, a, b)
    refused(a, b)
    of_another_context(work, a)
    call("cudaDeviceSynchronize")


main()
