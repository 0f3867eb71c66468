#!/usr/bin/env python3
"""torch_nccl.py RANKS STEPS [TRACES]: training steps, one process a GPU: batches come on a stream
of their own, gradients are summed by NCCL, events order them. With TRACES, a folder, each process
is under torch.profiler."""
import os
import pathlib
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

from torch_common import profiled, say_done

WIDTH, BATCH, LAYERS, WARM_UP = 512, 256, 4, 3
HOST_WAITS_EVERY = 5


class Trainer:
    def __init__(self, rank):
        torch.manual_seed(rank)
        layers = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())]
        self.model = torch.nn.Sequential(*layers).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.host_batch = torch.randn(BATCH, WIDTH).pin_memory()
        self.batch = torch.empty(BATCH, WIDTH, device="cuda")
        self.copies = torch.cuda.Stream()
        self.ready, self.consumed = torch.cuda.Event(), torch.cuda.Event()
        self.consumed.record()
        self.collectives = 0

    def bring_batch(self):
        self.copies.wait_event(self.consumed)
        with torch.cuda.stream(self.copies):
            self.batch.copy_(self.host_batch, non_blocking=True)
            self.ready.record(self.copies)

    def step(self, number):
        self.bring_batch()
        torch.cuda.current_stream().wait_event(self.ready)
        self.optimizer.zero_grad()
        self.model(self.batch).square().mean().backward()
        self.consumed.record()
        sums = [dist.all_reduce(p.grad, async_op=True) for p in self.model.parameters()]
        self.collectives += len(sums)
        for one in sums:
            one.wait()
        self.optimizer.step()
        if number % HOST_WAITS_EVERY == 0:
            self.ready.synchronize()


def work(rank, ranks, steps, meeting, traces):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{meeting}", rank=rank, world_size=ranks,
                            device_id=torch.device("cuda", rank))
    trainer = Trainer(rank)
    for number in range(WARM_UP):
        trainer.step(number)
    torch.cuda.synchronize()
    with profiled(traces and pathlib.Path(traces) / f"rank{rank}.json", with_waits=True):
        start = time.perf_counter()
        for number in range(steps):
            trainer.step(number)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
    if rank == 0:
        print(f"seconds: {seconds:.6f}\ncollectives: {trainer.collectives}", flush=True)
    dist.destroy_process_group()


def main():
    ranks, steps = int(sys.argv[1]), int(sys.argv[2])
    traces = sys.argv[3] if len(sys.argv) > 3 else None
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # multicast needs more than a lent machine gives
    os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(work, (ranks, steps, str(pathlib.Path(folder) / "meeting"), traces), nprocs=ranks)
    say_done()


if __name__ == "__main__":
    main()
