"""PyTorch: module and operator names on the GPU's work, and recording by torch.profiler's schedule.

    dagtap.torch.annotate(model)

    with dagtap.torch.profile(
        schedule=torch.profiler.schedule(wait=1, warmup=1, active=3),
        on_trace_ready=dagtap.torch.trace_handler("traces"),
    ) as profiler:
        for batch in batches:
            train(batch)
            profiler.step()

Works in processes that `dagtap record --wait -- python PROGRAM` starts; in others annotate() does
nothing and profile() warns once. annotate(), observe() and operators() need PyTorch 2.1; the module
itself imports none. What they record, list_kernels() reads.
"""

from __future__ import annotations

import json
import os
import socket
import time
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Type, Union

from . import _annotate
from ._annotate import scope, step
from ._errors import Error
from ._recording import Recording
from ._session import Range, record
from ._torch_kernels import Kernel, list_forward_scopes, list_kernels

if TYPE_CHECKING:
    import torch

__all__ = [
    "Annotation",
    "Kernel",
    "annotate",
    "list_forward_scopes",
    "list_kernels",
    "observe",
    "operators",
    "profile",
    "trace_handler",
]


def _list_shapes(values: Any) -> Iterator[list[int]]:
    """The shapes of the tensors in arguments, also of those in lists; [] for anything else, as
    Kineto has it."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _list_shapes(value)
        else:
            yield list(getattr(value, "shape", ()))


def _describe(values: Any) -> str:
    return str(list(_list_shapes(values)))


# As PyTorch's profiler writes types of tensors: the names that they have in its C++.
_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
}


def _describe_inputs(values: Any) -> dict[str, str]:
    """Shapes, strides, types and, of what is no tensor, values of an operator's arguments, in lists
    of the same length."""
    dims, strides, types, concrete = zip(*_list_inputs(values)) if values else ((), (), (), ())
    return {
        "input_dims": str(list(dims)),
        "input_strides": str(list(strides)),
        "input_types": json.dumps(types),
        "concrete_inputs": json.dumps(concrete),
    }


def _list_inputs(values: Any) -> Iterator[tuple[list[int], list[int], str, str]]:
    for value in values:
        if hasattr(value, "shape"):
            kind = str(getattr(value, "dtype", "")).rpartition(".")[2]
            yield list(value.shape), _strides(value), _TYPES.get(kind, kind), ""
        elif isinstance(value, (list, tuple)) and any(hasattr(part, "shape") for part in value):
            yield from _list_inputs(value)
        elif isinstance(value, (list, tuple)):
            yield [], [], "ScalarList", str(list(value))
        else:
            yield [], [], "" if value is None else "Scalar", "" if value is None else str(value)


def _strides(tensor: Any) -> list[int]:
    try:
        return list(tensor.stride())
    except RuntimeError:  # sparse
        return []


class Annotation:
    """The hooks that annotate() has put into a model. remove() takes them out; a context manager
    does it at its end."""

    __module__ = "dagtap.torch"

    def __init__(self) -> None:
        self._hooks: list[Any] = []

    def remove(self) -> None:
        """Takes the hooks out. Not while the model runs: scopes would stay open."""
        while self._hooks:
            self._hooks.pop().remove()

    def __enter__(self) -> "Annotation":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.remove()

    def _add(self, module: "torch.nn.Module", name: str, attributes: dict[str, str]) -> None:
        from torch.compiler import is_compiling

        def before(_: Any, arguments: Any, more: Any) -> None:
            if not is_compiling():
                dims = _describe([*arguments, *more.values()])
                scope(name, input_dims=dims, **attributes).__enter__()

        def after(*_: Any) -> None:
            if not is_compiling():
                _annotate.library().dagtap_scope_pop()

        # Also after an exception: a scope that stays open would hold all that follows.
        self._hooks += [
            module.register_forward_pre_hook(before, with_kwargs=True),
            module.register_forward_hook(after, always_call=True),
        ]


def annotate(model: "torch.nn.Module", name: str = "") -> Annotation:
    """Opens a scope around the forward of MODEL and of each module in it.

    A scope has the module's name as seen from the module around it ("layers.0", and inside of it
    "attention"), that of MODEL is NAME or its class. Attributes: module, the class; path, the name
    as seen from MODEL; input_dims, the shapes of the arguments, as Kineto writes them. While a
    graph is captured the scopes are open, too: the nodes keep them, and so each replay's kernels
    have them, at no cost when they run.

    Backward has no scopes of modules. What torch.compile compiles has none inside; annotate what is
    around it. Threading: as scopes; modules may run on several threads. Cost: two hooks a module
    and call, some us; nothing in a process that cannot be recorded, where the model stays as it is.
    """
    annotation = Annotation()
    if _annotate.library() is None:
        return annotation
    modules = dict(model.named_modules())
    called = {path for path, module in modules.items() if _has_forward(module)}
    for path in called:
        around = path.rpartition(".")[0]
        # A ModuleList has no forward, and so no scope that its elements could be seen from.
        while around and around not in called:
            around = around.rpartition(".")[0]
        seen = path[len(around) + 1 :] if around else path
        kind = type(modules[path]).__name__
        annotation._add(modules[path], seen or name or kind, {"module": kind, "path": path})
    return annotation


def _has_forward(module: "torch.nn.Module") -> bool:
    return getattr(module.forward, "__name__", "") != "_forward_unimplemented"


def operators() -> Any:
    """A context manager in which each operator of PyTorch's (aten::mm) has a scope of its own, with
    input_dims, input_strides, input_types and concrete_inputs, as PyTorch's profiler has them; of
    backward, too. Slow, some tens of us an operator: for a warm-up or for the capture of a graph,
    whose replays then have the operators at no cost. Does nothing in a process that cannot be
    recorded."""
    import contextlib

    if _annotate.library() is None:
        return contextlib.nullcontext()
    from torch.utils._python_dispatch import TorchDispatchMode

    class Operators(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            more = kwargs or {}
            name = function._schema.name
            with scope(name, **_describe_inputs([*args, *more.values()])):
                return function(*args, **more)

    return Operators()


class observe:
    """A context manager in which each operator of PyTorch's has a scope of its own (aten::mm), and
    each record_function(): also those of backward, on autograd's threads. Attributes: seq, op_id,
    sizes, input_op_ids, as torch.autograd.profiler.emit_nvtx writes them.

        with dagtap.torch.observe(), torch.cuda.graph(graph):
            loss = model(batch).sum()
            loss.backward()

    It is the observer of PyTorch's own, in C++, that emit_nvtx sets; but it does not wait for the
    GPU, so that it may begin while a graph is captured, and needs no GPU. RECORD_SHAPES: with
    sizes.
    A PyTorch that was built without CUDA and ROCm has no such observer; operators() takes its place
    there, without record_function() and seq. Not inside of another profiler of PyTorch's
    (RuntimeError of torch). Does nothing in a process that cannot be recorded.

    Threading: what the calling thread does, and backward for it. Cost: some us an operator.
    """

    __module__ = "dagtap.torch"

    def __init__(self, record_shapes: bool = True) -> None:
        self._record_shapes = record_shapes
        self._instead: Any = None

    def __enter__(self) -> "observe":
        if _annotate.library() is None:
            return self
        import torch

        if torch.version.cuda is None and torch.version.hip is None:
            self._instead = operators()
            self._instead.__enter__()
            return self
        from torch._C._profiler import _ExperimentalConfig
        from torch.autograd import ProfilerConfig, ProfilerState, _enable_profiler

        # As emit_nvtx: no memory, stacks, FLOP, modules.
        flags = (self._record_shapes, False, False, False, False)
        _enable_profiler(ProfilerConfig(ProfilerState.NVTX, *flags, _ExperimentalConfig()), set())
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if _annotate.library() is None:
            return
        if self._instead is not None:
            self._instead.__exit__(kind, error, trace)
            self._instead = None
            return
        from torch.autograd import _disable_profiler

        _disable_profiler()


class profile:
    """Records as torch.profiler.profile does, by a schedule of steps.

    SCHEDULE(number) says what to do in a step: an action of torch.profiler.schedule, by whose name
    it is known (NONE, WARMUP, RECORD, RECORD_AND_SAVE); without one, everything is recorded.
    ON_TRACE_READY(profiler) is called when a part is recorded, after RECORD_AND_SAVE and at the
    end; recording() gives the part to it. RECORD that is followed by neither warns, and its part is
    in the recording alone. Nothing is recorded and nothing has to be prepared in WARMUP.
    With a schedule each step is a scope of the kind step, "ProfilerStep".

    Threading: start, step and stop belong to one thread, the recorded part has the whole process.
    Cost: as dagtap.record: a part's begin takes some ms, its end waits for the GPU's work.
    """

    __module__ = "dagtap.torch"

    def __init__(
        self,
        *,
        schedule: Optional[Callable[[int], Any]] = None,
        on_trace_ready: Optional[Callable[["profile"], Any]] = None,
    ) -> None:
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self._record = record()
        self._range: Optional[Range] = None
        self._step: Optional[step] = None
        self._action = "NONE"
        self._is_open = False
        self.step_num = 0

    def start(self) -> None:
        """Begins with step 0."""
        self._action = self._find_action()
        if self._action.startswith("RECORD"):
            self._open()
        self._open_step()

    def step(self) -> None:
        """Ends a step and begins the next one."""
        self._close_step()
        before, self.step_num = self._action, self.step_num + 1
        self._action = self._find_action()
        is_wanted = self._action.startswith("RECORD")
        if self._is_open and (before == "RECORD_AND_SAVE" or not is_wanted):
            self._close(before)
        if is_wanted and not self._is_open:
            self._open()
        self._open_step()

    def stop(self) -> None:
        """Ends the last step, and the part that is recorded."""
        self._close_step()
        if self._is_open:
            self._close("RECORD_AND_SAVE")
        self._action = "NONE"

    def recording(self) -> Recording:
        """The part that was recorded last. Error if there is none."""
        if self._range is None:
            raise Error("dagtap.torch.profile: no part was recorded yet")
        return self._range.open()

    def export_chrome_trace(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the part as a trace of PyTorch's profiler; a PATH that ends in .gz is compressed,
        and replaced if it exists."""
        self.recording().export("kineto", path, replace=True)

    def _find_action(self) -> str:
        if self._schedule is None:
            return "RECORD"
        action = self._schedule(self.step_num)
        name: str = getattr(action, "name", str(action))
        if name not in ("NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"):
            raise ValueError(f"the schedule gives {action!r} for step {self.step_num}")
        return name

    def _open(self) -> None:
        self._range = self._record.__enter__()
        self._is_open = True

    def _close(self, last: str) -> None:
        self._record.__exit__(None, None, None)
        self._is_open = False
        if last != "RECORD_AND_SAVE":
            warnings.warn(f"the schedule has {last} before {self._action}", stacklevel=3)
        elif self._range is not None and self._range.is_recording and self._on_trace_ready:
            self._on_trace_ready(self)

    def _open_step(self) -> None:
        if self._schedule is not None:
            self._step = step("ProfilerStep", self.step_num)
            self._step.__enter__()

    def _close_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()


def trace_handler(
    folder: Union[str, "os.PathLike[str]"],
    worker_name: Optional[str] = None,
    use_gzip: bool = False,
) -> Callable[[profile], None]:
    """What torch.profiler.tensorboard_trace_handler is: an on_trace_ready that writes each part to
    FOLDER/WORKER_NAME.TIME.pt.trace.json, which HTA and TensorBoard look for. WORKER_NAME: host and
    process number by default."""

    def handle(profiler: profile) -> None:
        os.makedirs(folder, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        end = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        name = f"{worker}.{time.time_ns()}{end}"
        profiler.export_chrome_trace(os.path.join(os.fspath(folder), name))

    return handle
