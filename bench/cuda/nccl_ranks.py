#!/usr/bin/env python3
"""nccl_ranks.py [BYTES COUNT]: collectives of NCCL on all GPUs of the machine, a process each,
without a framework: NCCL and the CUDA runtime are loaded by ctypes, from the loader's path or from
the packages nvidia-nccl-cu12 (cu13) and nvidia-cuda-runtime of this Python.

Each rank runs COUNT (20) operations of BYTES (64 MiB) of each kind after a warm-up, and rank 0
prints their bus bandwidth by CUDA's events, as nccl-tests calculate it. Then the last rank sleeps 5
ms before each of 5 all-reduces. For comparison with `dagtap collectives` of a recording of the same
run."""

import ctypes
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import time

FLOAT32, SUM = 7, 0
WARM_UP, LATE_COUNT, LATE_S = 3, 5, 0.005


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def load(pattern, *names):
    packages = pathlib.Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    for name in [*names, *map(str, sorted(packages.glob(pattern)))]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit(f"nccl_ranks.py: no {names[0]}: install it, or a package of NVIDIA's for this Python")


def load_both():
    return (load("*/lib/libnccl.so.2", "libnccl.so.2"),
            load("*/lib/libcudart.so.1[23]", "libcudart.so.13", "libcudart.so.12"))


def check(result, what):
    if result != 0:
        sys.exit(f"nccl_ranks.py: {what} returned {result}")


class Rank:
    def __init__(self, rank, ranks, unique_id):
        self.nccl, self.cuda = load_both()
        self.rank, self.ranks = rank, ranks
        self.comm, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        check(self.cuda.cudaSetDevice(rank), "cudaSetDevice")
        check(self.cuda.cudaStreamCreateWithFlags(ctypes.byref(self.stream), 1), "cudaStreamCreate")
        check(self.nccl.ncclCommInitRank(ctypes.byref(self.comm), ranks, unique_id, rank),
              "ncclCommInitRank")

    def allocate(self, size):
        address = ctypes.c_void_p()
        check(self.cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)), "cudaMalloc")
        return address

    def make_event(self):
        event = ctypes.c_void_p()
        check(self.cuda.cudaEventCreate(ctypes.byref(event)), "cudaEventCreate")
        return event

    def all_reduce(self, source, target, size):
        check(self.nccl.ncclAllReduce(source, target, ctypes.c_size_t(size // 4), FLOAT32, SUM,
                                      self.comm, self.stream), "ncclAllReduce")

    def all_gather(self, source, target, size):
        check(self.nccl.ncclAllGather(source, target, ctypes.c_size_t(size // 4 // self.ranks),
                                      FLOAT32, self.comm, self.stream), "ncclAllGather")

    def reduce_scatter(self, source, target, size):
        check(self.nccl.ncclReduceScatter(source, target, ctypes.c_size_t(size // 4 // self.ranks),
                                          FLOAT32, SUM, self.comm, self.stream), "ncclReduceScatter")

    def wait(self):
        check(self.cuda.cudaStreamSynchronize(self.stream), "cudaStreamSynchronize")

    def measure(self, operation, count, *arguments):
        """Mean time of one of COUNT operations, in s."""
        begin, end, elapsed_ms = self.make_event(), self.make_event(), ctypes.c_float()
        for _ in range(WARM_UP):
            operation(*arguments)
        check(self.cuda.cudaEventRecord(begin, self.stream), "cudaEventRecord")
        for _ in range(count):
            operation(*arguments)
        check(self.cuda.cudaEventRecord(end, self.stream), "cudaEventRecord")
        self.wait()
        check(self.cuda.cudaEventElapsedTime(ctypes.byref(elapsed_ms), begin, end),
              "cudaEventElapsedTime")
        return elapsed_ms.value / 1000 / count

    def run(self, size, count):
        size -= size % (4 * self.ranks)
        source, target = self.allocate(size), self.allocate(size)
        share = (self.ranks - 1) / self.ranks
        for name, operation, factor in (("all_reduce", self.all_reduce, 2 * share),
                                        ("all_gather", self.all_gather, share),
                                        ("reduce_scatter", self.reduce_scatter, share)):
            mean_s = self.measure(operation, count, source, target, size)
            if self.rank == 0:
                print(f"{name}: {size} bytes, {mean_s * 1e6:.1f} us, "
                      f"bus {size / mean_s * factor / 1e9:.2f} GB/s", flush=True)
        for _ in range(LATE_COUNT):
            if self.rank == self.ranks - 1:
                time.sleep(LATE_S)
            self.all_reduce(source, target, size)
            self.wait()
        check(self.nccl.ncclCommDestroy(self.comm), "ncclCommDestroy")


def work(rank, ranks, folder, size, count):
    unique_id = UniqueId()
    if rank == 0:
        check(load_both()[0].ncclGetUniqueId(ctypes.byref(unique_id)), "ncclGetUniqueId")
        for other in range(1, ranks):
            (folder / str(other)).write_bytes(bytes(unique_id))
    else:
        ctypes.memmove(ctypes.byref(unique_id), (folder / str(rank)).read_bytes(), 128)
    Rank(rank, ranks, unique_id).run(size, count)


def count_gpus():
    """In a process of its own, so that this one does not use CUDA."""
    code = "import ctypes, nccl_ranks as n; c = ctypes.c_int(); " \
           "n.check(n.load_both()[1].cudaGetDeviceCount(ctypes.byref(c)), 'cudaGetDeviceCount'); print(c.value)"
    done = subprocess.run([sys.executable, "-c", code], cwd=pathlib.Path(__file__).parent,
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return int(done.stdout)


def main(size="67108864", count="20"):
    ranks = count_gpus()
    if ranks < 2:
        sys.exit(f"nccl_ranks.py: {ranks} GPU; two are needed")
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(1, ranks):
            os.mkfifo(pathlib.Path(folder) / str(rank))
        workers = [subprocess.Popen([sys.executable, __file__, "--rank", str(rank), str(ranks), folder,
                                     size, count]) for rank in range(ranks)]
        return max(worker.wait() != 0 for worker in workers)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        work(int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]), *map(int, sys.argv[5:7]))
    else:
        sys.exit(main(*sys.argv[1:3]))
