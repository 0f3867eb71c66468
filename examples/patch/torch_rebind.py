#!/usr/bin/env python3
"""Replays a PyTorch CUDA graph on inputs where they are, instead of copying each into a static
buffer.

    pip install ./python/dagpatch
    torch_rebind.py

The graph is captured in one memory pool on two inputs: what is allocated in between has the same
addresses both times, so the bytes that differ are the input's. Captured again and again, it is told
which bytes differ anyway: some kernels' parameters have holes that nobody fills.
dagpatch.torch.capture does the same and keeps the graph PyTorch's; here the recording copies the
graph, so that any strategy can be used."""
import torch

import dagpatch

BATCH, WIDTH, STEPS = 512, 4096, 50
CAPTURES = 6


def capture(work, pool=None):
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph, pool=pool):
        work()
    return graph


def rebindable(work, tensors, strategy=dagpatch.Strategy.AUTO):
    """A recording whose slots are the memory of TENSORS, and what must stay alive with it.
    WORK(*tensors) leaves no tensor behind that it made."""
    # In another order: a slot that lay behind another one both times could not be told from its
    # end.
    others = [torch.empty_like(t) for t in reversed(tensors)][::-1]
    # The pool grows during the first capture; later ones find it as the one before has left it.
    kept = [capture(lambda: work(*tensors))]
    graphs = [capture(lambda: work(*at), kept[0].pool()) for at in (tensors, others) * (CAPTURES // 2)]
    recording = dagpatch.Recording(dagpatch.Context("cuda", strategy=strategy))
    for number, tensor in enumerate(tensors):
        recording.add_slot(f"tensor {number}", tensor.nbytes)
    handles = [graph.raw_cuda_graph() for graph in graphs]
    recording.adopt(handles[0], tensors, other_graph=handles[1], other_addresses=others, further_graphs=handles[2:])
    recording.finalize()
    return recording, kept + graphs


def time_ms(work):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / STEPS


def main():
    torch.manual_seed(0)
    layer = torch.nn.Linear(WIDTH, 64).cuda().requires_grad_(False)
    result = torch.empty(BATCH, 64, device="cuda")
    inputs = [torch.randn(BATCH, WIDTH, device="cuda") for _ in range(STEPS)]
    static = inputs[0].clone()

    def work(tensor):
        result.copy_(layer(tensor).relu())

    for tensor in inputs[:3]:
        work(tensor)
    recording, kept = rebindable(work, [static])
    plain = capture(lambda: work(static))
    stream = torch.cuda.current_stream().cuda_stream
    for tensor in inputs:
        recording.bind(0, tensor)
        recording.launch(stream)
        rebound = result.clone()
        static.copy_(tensor)
        plain.replay()
        assert torch.equal(rebound, result)

    def copied():
        for tensor in inputs:
            static.copy_(tensor)
            plain.replay()

    def moved():
        for tensor in inputs:
            recording.bind(0, tensor)
            recording.launch(stream)

    print(f"{STEPS} inputs of {static.nbytes / 1e6:.1f} MB, results equal; "
          f"copied {time_ms(copied):.4f} ms a step, rebound {time_ms(moved):.4f} ms a step")


if __name__ == "__main__":
    main()
