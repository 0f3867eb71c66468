"""What the PyTorch programs share: calls of the CUDA runtime that PyTorch has loaded."""
import contextlib
import ctypes
import re
import time


def runtime():
    """PyTorch's own libcudart: a second one would be another runtime."""
    with open("/proc/self/maps") as maps:
        paths = re.findall(r"\S*/libcudart\S*", maps.read())
    return ctypes.CDLL(paths[0])


def call(function, *arguments):
    result = function(*arguments)
    if result:
        raise RuntimeError(f"CUDA error {result}")


def count_nodes(graph):
    """Nodes of a torch.cuda.CUDAGraph(keep_graph=True)."""
    count = ctypes.c_size_t()
    call(runtime().cudaGraphGetNodes, ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count))
    return count.value


@contextlib.contextmanager
def profiled(trace, with_waits=False):
    """torch.profiler around a block, its trace written to TRACE; nothing if that is None."""
    if not trace:
        yield
        return
    from torch._C._profiler import _ExperimentalConfig
    from torch.profiler import ProfilerActivity, profile
    profiler = profile(activities=[ProfilerActivity.CUDA],
                       experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True) if with_waits else None)
    profiler.start()
    yield
    start = time.perf_counter()
    profiler.stop()
    profiler.export_chrome_trace(str(trace))
    print(f"finish_seconds: {time.perf_counter() - start:.6f}")


def say_done():
    print(f"done: {time.time():.6f}", flush=True)
