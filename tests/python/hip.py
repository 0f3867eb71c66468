"""As much of HIP as the tests need, by ctypes: memory, a stream, and graphs with the methods that
PyTorch's have."""

import contextlib
import ctypes
import os
import types

u32, pointer = ctypes.c_uint32, ctypes.c_void_p
hip = ctypes.CDLL(os.environ["HIP_LIBRARY"], ctypes.RTLD_GLOBAL)
work = ctypes.CDLL(os.environ["HIP_WORK"], ctypes.RTLD_GLOBAL)
work.work_branch.restype = pointer
work.work_submit_branch.argtypes = [pointer, pointer, pointer, u32, u32]
work.work_submit_mix.argtypes = [pointer, pointer, u32, u32]


def check(code):
    if code:
        raise RuntimeError(f"HIP error {code}")


class Memory:
    """uint32 on the device; what dagpatch and dagpatch.torch take for a tensor."""

    def __init__(self, values):
        self.count, self.nbytes, self.at = len(values), 4 * len(values), pointer()
        check(hip.hipMalloc(ctypes.byref(self.at), ctypes.c_size_t(self.nbytes)))
        self.write(values)

    def data_ptr(self):
        return self.at.value

    def is_contiguous(self):
        return True

    def detach(self):
        return self

    def write(self, values):
        check(hip.hipMemcpy(self.at, (u32 * self.count)(*values), ctypes.c_size_t(self.nbytes), 1))

    def read(self):
        values = (u32 * self.count)()
        check(hip.hipMemcpy(values, self.at, ctypes.c_size_t(self.nbytes), 2))
        return list(values)

    def close(self):
        check(hip.hipFree(self.at))


class Stream:
    def __init__(self):
        self.at = pointer()
        check(hip.hipStreamCreate(ctypes.byref(self.at)))

    @property
    def handle(self):
        return self.at.value

    def synchronize(self):
        check(hip.hipStreamSynchronize(self.at))


class Graph:
    """As torch.cuda.CUDAGraph(keep_graph=True), on STREAM."""

    def __init__(self, stream):
        self.stream, self.graph, self.exec, self.replays = stream, pointer(), pointer(), 0

    def capture_begin(self):
        check(hip.hipStreamBeginCapture(self.stream.at, 0))

    def capture_end(self):
        check(hip.hipStreamEndCapture(self.stream.at, ctypes.byref(self.graph)))

    def instantiate(self):
        self.exec = pointer()
        exec_, no = ctypes.byref(self.exec), ctypes.c_size_t(0)
        check(hip.hipGraphInstantiate(exec_, self.graph, None, None, no))

    def raw_cuda_graph(self):
        return self.graph.value

    def raw_cuda_graph_exec(self):
        if not self.exec.value:
            raise RuntimeError("not instantiated")
        return self.exec.value

    def pool(self):
        return (0, 1)

    def replay(self):
        self.replays += 1
        check(hip.hipGraphLaunch(self.exec, self.stream.at))


def captured(stream, submit):
    """What SUBMIT(handle of the stream) submits."""
    graph = Graph(stream)
    graph.capture_begin()
    submit(stream.handle)
    graph.capture_end()
    return graph


def torch_on(stream):
    """As much of torch as dagpatch.torch.capture uses, and the captures that it was asked for."""
    asked = []

    @contextlib.contextmanager
    def graph(graph, **options):
        asked.append(options)
        graph.capture_begin()
        yield
        graph.capture_end()

    cuda = types.SimpleNamespace(
        CUDAGraph=lambda keep_graph: Graph(stream), graph=graph, current_device=lambda: 0
    )
    torch = types.SimpleNamespace(
        cuda=cuda,
        version=types.SimpleNamespace(hip="5.2.3"),
        empty_like=lambda memory: Memory([0] * memory.count),
    )
    return torch, asked


def skip_without_gpu():
    if work.work_open() == 77:
        raise SystemExit(77)
