#!/usr/bin/env python3
"""Other people's work captured, relocated and rebound by dagpatch, results compared: cuBLAS,
Triton, a PyTorch training step, and with --two-gpus NCCL. Prints a line each; exits with 1 if one
is wrong."""
import argparse
import ctypes
import errno
import os
import pathlib
import socket
import struct
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "examples" / "patch")]

import torch

import dagpatch
import torch_rebind

SIZE = 256
TIMES = 20
STEPS = 200


def stream_of(torch_stream=None):
    return (torch_stream or torch.cuda.current_stream()).cuda_stream


def random(*shape):
    return torch.randn(*shape, device="cuda")


def bind_all(recording, tensors):
    for slot, tensor in enumerate(tensors):
        recording.bind(slot, tensor)


def rebound(record, make, expect, strategy, tolerance=0.0):
    """RECORD(stream, addresses) is captured once, then run on ever new tensors from MAKE."""
    context = dagpatch.Context("cuda", strategy=strategy)
    recording = dagpatch.Recording(context)
    tensors = make()
    recording.add_captured(record, [recording.add_slot(str(i), t.nbytes) for i, t in enumerate(tensors)])
    recording.finalize()
    kept, worst = [], 0.0
    for _ in range(TIMES):
        tensors = make()
        kept.append(tensors)  # so that the next ones are elsewhere
        bind_all(recording, tensors)
        recording.launch(stream_of())
        want = expect(*tensors)
        worst = max(worst, ((tensors[-1] - want).abs().max() / want.abs().max()).item())
    relocations = recording.stats().relocation_count
    recording.close()
    context.close()
    return worst <= tolerance, f"{relocations} relocations, {TIMES} rebinds, worst relative difference {worst:.1e}"


def cublas(strategy):
    library = ctypes.CDLL("libcublas.so.13")
    handle, one, zero = ctypes.c_void_p(), ctypes.c_float(1), ctypes.c_float(0)
    workspace = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
    assert library.cublasCreate_v2(ctypes.byref(handle)) == 0

    def record(stream, at):
        assert library.cublasSetStream_v2(handle, ctypes.c_void_p(stream)) == 0
        assert library.cublasSetWorkspace_v2(handle, ctypes.c_void_p(workspace.data_ptr()),
                                             ctypes.c_size_t(workspace.nbytes)) == 0
        # Column by column b * a is what row by row is a * b.
        assert library.cublasSgemm_v2(handle, 0, 0, SIZE, SIZE, SIZE, ctypes.byref(one), ctypes.c_void_p(at[1]),
                                      SIZE, ctypes.c_void_p(at[0]), SIZE, ctypes.byref(zero),
                                      ctypes.c_void_p(at[2]), SIZE) == 0

    # Once outside a capture: cuBLAS loads its kernels.
    scratch = [random(SIZE, SIZE) for _ in range(3)]
    record(stream_of(), [t.data_ptr() for t in scratch])
    torch.cuda.synchronize()
    torch.backends.cuda.matmul.allow_tf32 = False
    return rebound(record, lambda: [random(SIZE, SIZE) for _ in range(3)], lambda a, b, c: a @ b, strategy, 1e-5)


class At:
    """What Triton takes for a tensor."""
    def __init__(self, address):
        self.address, self.dtype = address, torch.float32

    def data_ptr(self):
        return self.address


def triton(strategy):
    from triton_kernel import saxpy

    def record(stream, at):
        with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
            saxpy[(SIZE,)](At(at[0]), At(at[1]), 3.0, SIZE * SIZE, BLOCK=SIZE)

    scratch = [random(SIZE, SIZE) for _ in range(2)]
    record(stream_of(), [t.data_ptr() for t in scratch])
    torch.cuda.synchronize()
    return rebound(record, lambda: [random(SIZE, SIZE), torch.empty(SIZE, SIZE, device="cuda")],
                   lambda x, y: x * 3.0 + 1.0, strategy, 1e-6)


class Trainer:
    """A step leaves no tensor behind: gradients and the loss have memory of their own."""
    def __init__(self):
        torch.manual_seed(1)
        sizes = [256, 512, 512, 10]
        layers = [m for a, b in zip(sizes, sizes[1:]) for m in (torch.nn.Linear(a, b), torch.nn.Tanh())]
        self.model = torch.nn.Sequential(*layers[:-1]).cuda()
        self.loss = torch.zeros((), device="cuda")
        for parameter in self.model.parameters():
            parameter.grad = torch.zeros_like(parameter)

    def step(self, inputs, targets):
        for parameter in self.model.parameters():
            parameter.grad.zero_()
        loss = torch.nn.functional.mse_loss(self.model(inputs), targets)
        loss.backward()
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.sub_(parameter.grad, alpha=0.05)
            self.loss.copy_(loss)


def warmed(batches):
    trainer = Trainer()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for batch in batches[:3]:
            trainer.step(*batch)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    return trainer


def training(strategy):
    torch.manual_seed(2)
    batches = [(random(128, 256), random(128, 10)) for _ in range(STEPS)]
    again, losses = warmed(batches), []
    began = time.perf_counter()
    for batch in batches:
        graph = torch_rebind.capture(lambda: again.step(*batch))
        graph.replay()
        losses.append(again.loss.clone())
    torch.cuda.synchronize()
    recorded_s = time.perf_counter() - began

    trainer = warmed(batches)
    recording, kept = torch_rebind.rebindable(trainer.step, batches[0], strategy)
    same, stream = [], stream_of()
    began = time.perf_counter()
    for batch in batches:
        bind_all(recording, batch)
        recording.launch(stream)
        same.append(trainer.loss.clone())
    torch.cuda.synchronize()
    rebound_s = time.perf_counter() - began
    equal = sum(torch.equal(a, b) for a, b in zip(losses, same))
    falls = losses[-1].item() < losses[0].item()
    text = (f"{equal} of {STEPS} losses identical, from {losses[0].item():.4f} to {losses[-1].item():.4f}; "
            f"re-recorded {recorded_s / STEPS * 1e3:.2f} ms a step, rebound {rebound_s / STEPS * 1e3:.2f}")
    return equal == STEPS and falls, text


# ---- two GPUs, a process each ----

class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 128)]


def nccl_rank(rank, line, strategy):
    """One rank; LINE is a socket to the other."""
    torch.cuda.set_device(rank)
    torch.zeros(1, device="cuda")
    nccl = ctypes.CDLL(next((str(p) for p in pathlib.Path(torch.__file__).parent.parent.glob("nvidia/nccl/lib/libnccl.so.2")),
                            "libnccl.so.2"))
    identity, communicator = UniqueId(), ctypes.c_void_p()
    if rank == 0:
        assert nccl.ncclGetUniqueId(ctypes.byref(identity)) == 0
        line.sendall(bytes(identity))
    else:
        received = b""
        while len(received) < 128:
            received += line.recv(128 - len(received))
        identity = UniqueId.from_buffer_copy(received)
    assert nccl.ncclCommInitRank(ctypes.byref(communicator), 2, identity, rank) == 0
    count, float32, total = 1 << 18, 7, 0

    fails = False

    def record(stream, at):
        if fails:
            raise RuntimeError("this rank's capture fails, as it has to")
        assert nccl.ncclAllReduce(ctypes.c_void_p(at[0]), ctypes.c_void_p(at[1]), ctypes.c_size_t(count), float32,
                                  total, communicator, ctypes.c_void_p(stream)) == 0

    def vote(values, timeout_ns):
        line.settimeout(timeout_ns / 1e9)
        format, received = f"{len(values)}q", b""
        line.sendall(struct.pack(format, *values))
        while len(received) < struct.calcsize(format):
            more = line.recv(struct.calcsize(format) - len(received))
            if not more:
                raise BrokenPipeError(errno.EPIPE, "the other rank has gone")
            received += more
        return [min(pair) for pair in zip(values, struct.unpack(format, received))]

    def make():
        return [torch.full((count,), float(rank + 1), device="cuda"), torch.zeros(count, device="cuda")]

    def run(recording, tensors, factor):
        tensors[0].mul_(factor)
        bind_all(recording, tensors)
        recording.launch(stream_of())
        torch.cuda.synchronize()
        return bool((tensors[1] == 3.0 * factor).all())

    context = dagpatch.Context("cuda", strategy=strategy)
    wrong, kept = 0, []
    record(stream_of(), [t.data_ptr() for t in make()])
    torch.cuda.synchronize()

    patched = dagpatch.Recording(context)
    patched.add_captured(record, [patched.add_slot(n, count * 4) for n in ("send", "receive")])
    patched.finalize()
    for i in range(TIMES):
        kept.append(make())
        wrong += not run(patched, kept[-1], float(i + 1))

    # The same without patching: captured anew unless both ranks have it. One rank sees a new
    # address where the other sees an old one, and both capture.
    cache = dagpatch.Cache(context, vote=vote, vote_timeout_ns=5_000_000_000)
    collective = dagpatch.Collective(communicator.value, 0, float32, count, True)
    cached = dagpatch.Recording(context)
    cached.add_captured(record, [cached.add_slot(n, count * 4) for n in ("send", "receive")], recapture=True,
                        collective=collective, cache=cache)
    cached.finalize()
    ways = [(0, 0), (1, 1), (0, 0), (1, 2), (1, 2), (3, 1)]
    for i, way in enumerate(ways):
        tensors = kept[way[rank]]
        tensors[0].fill_(float(rank + 1))
        wrong += not run(cached, tensors, float(i + 2))
    # Either rank in turn fails its capture: neither launches, both keep what they have, and go on
    # together.
    last, refused = kept[ways[-1][rank]], 0
    for failing in (0, 1):
        fresh = make()
        for tensor in (last, fresh):
            tensor[0].fill_(float(rank + 1))
        fails = rank == failing
        try:
            run(cached, fresh, 1.0)
        except (RuntimeError, dagpatch.Error) as failure:
            refused += ("this rank's capture fails" if fails else "another rank failed after") in str(failure)
        fails = False
        torch.cuda.synchronize()
        wrong += bool(fresh[1].any())
        cached.revert()
        last[1].zero_()
        cached.launch(stream_of())
        torch.cuda.synchronize()
        wrong += not bool((last[1] == 3.0).all())
        wrong += not run(cached, fresh, 1.0)
        kept.append(fresh)
        last = fresh
    wrong += refused != 2
    stats, relocations = cache.stats(), patched.stats().relocation_count
    context.close()
    nccl.ncclCommDestroy(communicator)
    return wrong == 0, (f"{relocations} relocations, {TIMES} rebinds and {len(ways)} cached launches, {refused} of 2 failed "
                        f"captures kept from both ranks, wrong {wrong}; "
                        f"votes {stats.votes}, hits {stats.hits}, misses {stats.misses}")


def nccl(strategy):
    # A registered buffer's nodes must not be patched; NVLink multicast stays off on shared
    # machines.
    os.environ.update(NCCL_GRAPH_REGISTER="0", NCCL_NVLS_ENABLE="0")
    lines = socket.socketpair()
    child = os.fork()
    rank = 1 if child == 0 else 0
    lines[1 - rank].close()
    good, text = nccl_rank(rank, lines[rank], strategy)
    if child == 0:
        if not good:
            print("rank 1:", text, flush=True)
        os._exit(not good)
    _, status = os.waitpid(child, 0)
    return good and status == 0, text


WORK = {"cublas": cublas, "triton": triton, "training": training}


def report(name, strategy):
    """Whether it went well."""
    try:
        good, text = WORK[name](strategy)
    except Exception as failure:
        good, text = False, f"{type(failure).__name__}: {failure}"
    way = "table" if strategy == dagpatch.Strategy.DEVICE_TABLE else "set params"
    print(f"{name:10} {way:10} {'ok   ' if good else 'WRONG'} {text}", flush=True)
    return good


def report_apart(name, strategy):
    """In a process of its own: CUDA does not survive the fork of NCCL's two."""
    child = os.fork()
    if child == 0:
        os._exit(not report(name, strategy))
    return os.waitpid(child, 0)[1] == 0


WORK = {"cublas": cublas, "triton": triton, "training": training, "nccl": nccl}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--two-gpus", action="store_true", help="NCCL instead of the others")
    arguments = parser.parse_args()
    names = ["nccl"] if arguments.two_gpus else ["cublas", "triton", "training"]
    call = report_apart if arguments.two_gpus else report
    results = [call(name, strategy) for name in names
               for strategy in (dagpatch.Strategy.SET_PARAMS, dagpatch.Strategy.DEVICE_TABLE)]
    sys.exit(not all(results))


main()
