"""PyTorch's CUDA graphs, adopted, and a vote among the ranks of a process group.

    def step(*pages):                       # makes no tensor that outlives it
        logits.copy_(model(tokens, pages))

    adopted = dagpatch.torch.capture(step, pages)
    adopted.bind_all(other_pages)
    adopted.replay()                        # torch.cuda.CUDAGraph's own replay, at the other pages

The graph stays PyTorch's: its executable graph is patched in place and its own replay() launches
it, so random numbers go on as PyTorch keeps them. Needs a PyTorch whose CUDAGraph has keep_graph
and raw_cuda_graph_exec (2.11 has); ROCm's builds are served by the driver "hip".
"""

from __future__ import annotations

import datetime
import errno
import itertools
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from ._abi import Strategy
from ._library import Mismatch
from .context import Context
from .nodes import Declared
from .recording import Recording

if TYPE_CHECKING:
    import torch

Slots = Union[Mapping[str, Any], Sequence[Any]]

_CAPTURES_MOST = 32

# Of torch.device's index: one context serves all graphs of a device.
_contexts: dict[tuple[str, int], Context] = {}
_lock = threading.Lock()


def default_context() -> Context:
    """The context of the current device for graphs that are adopted without one; made when it is
    first asked for."""
    import torch

    key = ("hip" if torch.version.hip else "cuda", torch.cuda.current_device())
    with _lock:
        if key not in _contexts:
            # Only the driver's calls for single nodes can change an executable graph of somebody
            # else.
            _contexts[key] = Context(key[0], strategy=Strategy.SET_PARAMS)
        return _contexts[key]


class Adopted:
    """A torch.cuda.CUDAGraph whose tensors can be exchanged: what adopt() and capture() return.

    What is bound is kept alive until another tensor was applied in its place. A replay in flight
    may still read the old one: as always in PyTorch that is safe where the old one is used and
    freed on the stream of the replay, otherwise the caller waits or calls Tensor.record_stream. One
    thread at a time.
    """

    def __init__(self, graph: Any, recording: Recording, slots: Slots) -> None:
        self.graph = graph
        self.recording = recording
        self._names = (
            {name: number for number, name in enumerate(slots)}
            if isinstance(slots, Mapping)
            else {}
        )
        # What is wanted, and what the executable graph has.
        self._tensors = self._applied = _tensors(slots)
        self._sizes = [int(tensor.nbytes) for tensor in self._tensors]
        self._exec = graph.raw_cuda_graph_exec()
        self._is_changed = True

    def bind(self, slot: Union[int, str], tensor: Any) -> None:
        """The graph works on this tensor from the next replay on. It is contiguous and at least as
        large as the one that was captured."""
        number = self._names[slot] if isinstance(slot, str) else slot
        _check_layout(tensor)
        self.recording.bind(number, tensor.data_ptr(), tensor.nbytes)
        self._tensors = [*self._tensors]
        self._tensors[number] = tensor
        self._is_changed = True

    def bind_all(self, tensors: Slots) -> None:
        """All slots, in their order or by their names; all or none."""
        if isinstance(tensors, Mapping):
            tensors = [tensors[name] for name in self._names]
        if len(tensors) != len(self._tensors):
            raise ValueError(f"{len(tensors)} tensors for {len(self._tensors)} slots")
        for tensor, size in zip(tensors, self._sizes):
            _check_layout(tensor)
            if tensor.nbytes < size:
                raise ValueError(f"a tensor of {tensor.nbytes} bytes for a slot of {size}")
        self.recording.bind_all([tensor.data_ptr() for tensor in tensors])
        self._tensors = list(tensors)
        self._is_changed = True

    def apply(self) -> None:
        """Brings the executable graph to what is bound. replay() begins with it."""
        self._check_exec()
        self.recording.apply()
        self._applied = self._tensors
        self._is_changed = False

    def replay(self) -> None:
        """apply(), then CUDAGraph.replay() on the current stream."""
        if self._is_changed:
            self.apply()
        else:
            self._check_exec()
        self.graph.replay()

    def _check_exec(self) -> None:
        """A new executable graph has the addresses of the capture."""
        if self.graph.raw_cuda_graph_exec() != self._exec:
            raise RuntimeError(
                "the graph was instantiated again after it was adopted: adopt it again"
            )

    def close(self) -> None:
        """Lets the graph go as it is, with the addresses that were applied last."""
        self.recording.close()

    def __enter__(self) -> "Adopted":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def adopt(
    graph: "torch.cuda.CUDAGraph",
    slots: Slots,
    *,
    other: Optional["torch.cuda.CUDAGraph"] = None,
    other_slots: Slots = (),
    further_graphs: Sequence["torch.cuda.CUDAGraph"] = (),
    declared: Sequence[Declared] = (),
    context: Optional[Context] = None,
) -> Adopted:
    """Makes the tensors SLOTS that GRAPH was captured with (by name, or in an order) exchangeable.

    Which bytes of the graph are their addresses is told by OTHER, the same work captured with
    other_slots and in the memory pool of GRAPH, or is declared. FURTHER_GRAPHS: up to 30 further
    captures, in turn with slots and other_slots, where kernels' parameters have holes that nobody
    fills (PyTorch's reductions). capture() does all that. GRAPH was made with keep_graph=True; the
    others are only read and may be dropped afterwards.

    Raises dagpatch.Mismatch where the captures differ and no slot explains it.
    """
    if not hasattr(graph, "raw_cuda_graph_exec"):
        raise NotImplementedError("this PyTorch has no CUDAGraph.raw_cuda_graph_exec")
    tensors, others = _tensors(slots), _tensors(other_slots)
    for tensor in tensors + others:
        _check_layout(tensor)
    _instantiate(graph)
    names: Iterable[str] = (
        slots if isinstance(slots, Mapping) else (f"tensor {i}" for i in range(len(tensors)))
    )
    recording = Recording(context if context is not None else default_context())
    try:
        for name, tensor in zip(names, tensors):
            # Allocators align to 512; a view may start anywhere that its element may.
            recording.add_slot(name, int(tensor.nbytes), alignment=_alignment(tensor))
        recording.adopt(
            graph.raw_cuda_graph(),
            tensors,
            other_graph=other.raw_cuda_graph() if other is not None else None,
            other_addresses=others,
            further_graphs=[one.raw_cuda_graph() for one in further_graphs],
            declared=declared,
            exec=graph.raw_cuda_graph_exec(),
        )
        recording.finalize()
    except BaseException:
        recording.close()
        raise
    return Adopted(graph, recording, slots)


def capture(
    work: Callable[..., object],
    slots: Slots,
    *,
    captures: int = 6,
    context: Optional[Context] = None,
    **options: Any,
) -> Adopted:
    """Captures WORK(*tensors) and adopts it. It is called captures + 1 times (captures is 2 to 32
    and even), never run: run it before, so that libraries have loaded what they need, and have it
    leave no tensor behind that it made. If the captures differ where no slot explains it, there
    are twice as many, and again, up to 32: what nobody writes may go with the tensors by chance.

    OPTIONS are those of torch.cuda.graph (stream, pool, capture_error_mode)."""
    import torch

    if captures % 2 or not 2 <= captures <= _CAPTURES_MOST:
        raise ValueError("captures: an even number from 2 to 32")
    tensors = _tensors(slots)
    # In another order: a slot that lies behind another one both times could not be told from that
    # one's end.
    others = [torch.empty_like(tensor) for tensor in reversed(tensors)][::-1]

    def captured(at: Sequence[Any], **more: Any) -> Any:
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph, **{**options, **more}):
            work(*at)
        return graph

    # The pool grows during the first capture; later ones find it as the one before has left it.
    first = captured([tensor.detach() for tensor in tensors])
    # Kernels' structs have holes, in which PyTorch leaves what was on the stack, addresses of
    # tensor objects, too. Each capture has objects of its own, which live until the end.
    objects: list[list[Any]] = []
    graphs: list[Any] = []
    while True:
        made = {}
        for number in range(len(graphs), captures):
            index = _capture_index(number)
            objects.append([tensor.detach() for tensor in (others if index % 2 else tensors)])
            made[index] = captured(objects[-1], pool=first.pool())
        graphs += [made[index] for index in sorted(made)]
        try:
            return adopt(
                graphs[0],
                slots,
                other=graphs[1],
                other_slots=others,
                further_graphs=graphs[2:],
                context=context,
            )
        except Mismatch:
            if captures == _CAPTURES_MOST:
                raise
        captures = min(2 * captures, _CAPTURES_MOST)


def _capture_index(number: int) -> int:
    """The place of a capture among the graphs, which are in turn with the tensors and the others.
    The two of a pair take turns as in the sequence of Thue and Morse, so that what changes at
    regular intervals does not go with the tensors."""
    return number ^ (bin(number // 2).count("1") & 1)


def _instantiate(graph: Any) -> None:
    """An executable graph is there, whoever has made it."""
    try:
        graph.raw_cuda_graph_exec()
    except RuntimeError:
        graph.instantiate()


def _tensors(slots: Slots) -> list[Any]:
    return list(slots.values()) if isinstance(slots, Mapping) else list(slots)


def _check_layout(tensor: Any) -> None:
    if not tensor.is_contiguous():
        raise ValueError("a slot's tensor is contiguous")


def _alignment(tensor: Any) -> int:
    """What the captured address has, at most 256: libraries choose kernels by it."""
    at = int(tensor.data_ptr())
    return min(256, at & -at)


# ---- ranks ----

_numbers = itertools.count()
_LATE, _DIFFER = "late", "differ"


class StoreVote:
    """A vote over a torch.distributed.Store; vote() makes one."""

    def __init__(self, store: Any, rank: int, ranks: int) -> None:
        self._store = store
        self._rank = rank
        self._ranks = ranks
        self._epoch = 0
        self._round = 0
        self._is_broken = False
        self._lock = threading.Lock()

    def __call__(self, values: Sequence[int], timeout_ns: int) -> list[int]:
        """The least of all ranks' values, one by one; a TimeoutError or BrokenPipeError where there
        is no answer."""
        with self._lock:
            if self._is_broken:
                raise BrokenPipeError(errno.EPIPE, "an earlier vote had no answer")
            try:
                decision = self._decide(values, timeout_ns)
            except RuntimeError as failure:  # DistStoreError, DistNetworkError
                self._is_broken = True
                raise BrokenPipeError(errno.EPIPE, f"the store of the vote: {failure}") from failure
            if decision in (_LATE, _DIFFER):
                self._is_broken = True
                if decision == _LATE:
                    raise TimeoutError(errno.ETIMEDOUT, "a rank did not vote in time")
                raise OSError(errno.EPROTO, "the ranks are not at the same vote")
            return [int(value) for value in decision.split()]

    def rejoin(self) -> None:
        """After a vote without an answer, with Cache.rejoin(): all ranks that the store knows are
        at the same place again, which the caller has made sure of, and all call this equally
        often."""
        with self._lock:
            self._epoch += 1
            self._round = 0
            self._is_broken = False

    def _decide(self, values: Sequence[int], timeout_ns: int) -> str:
        """Votes, and returns what all ranks are told. It is written once, by the last rank that
        votes or by the first one that has waited long enough, so no rank goes on where another one
        has given up."""
        place, number = f"{self._epoch}/", self._round
        key = f"{place}decision/{number}"
        self._round += 1
        # Ranks say something new only when the decision before was written: their keys serve again.
        self._store.set(f"{place}values/{self._rank}", " ".join(map(str, values)))
        if self._store.add(f"{place}votes", 1) == self._ranks * (number + 1):
            given = self._store.multi_get([f"{place}values/{i}" for i in range(self._ranks)])
            # All have read the decision before, or they would not be here.
            self._store.delete_key(f"{place}decision/{number - 1}")
            return self._write(key, _least([text.decode().split() for text in given]))
        if timeout_ns:
            try:
                # A timeout of 0 is none.
                milliseconds = max(1, timeout_ns // 1_000_000)
                self._store.wait([key], datetime.timedelta(milliseconds=milliseconds))
            except RuntimeError:
                pass  # too late, or the store is gone: the next call tells
        return self._write(key, _LATE)

    def _write(self, key: str, decision: str) -> str:
        """The decision that is there, which is this one if there was none."""
        found: bytes = self._store.compare_set(key, "", decision)
        return found.decode()


def _least(given: Sequence[Sequence[str]]) -> str:
    if len({len(values) for values in given}) != 1:
        return _DIFFER
    return " ".join(str(min(map(int, column))) for column in zip(*given))


def vote(group: Any = None, *, name: Optional[str] = None) -> StoreVote:
    """A vote among the ranks of GROUP (None: all), for Cache(vote=...).

    It goes through the group's store, beside the group's own collectives, so any backend will do
    and it disturbs no communicator. All ranks make their votes in the same order, or give them a
    name. Cost: four round trips to the store for each vote, five for the last rank. A rank that
    does not come in time makes all others fail, by TimeoutError, at this vote, and at every later
    one until rejoin().
    """
    import torch.distributed as distributed

    group = group if group is not None else distributed.group.WORLD
    if hasattr(group, "get_group_store"):
        store = group.get_group_store()
    else:
        store = distributed.distributed_c10d._get_process_group_store(group)
    # A connection of our own: a wait would hold up those who share it.
    store = store.clone() if hasattr(store, "clone") else store
    number = name if name is not None else str(next(_numbers))
    return StoreVote(
        distributed.PrefixStore(f"dagpatch_vote/{number}", store),
        distributed.get_rank(group),
        distributed.get_world_size(group),
    )
