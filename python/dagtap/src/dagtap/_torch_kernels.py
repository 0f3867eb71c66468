"""Which operator of PyTorch's, and which module, each kernel of a recording belongs to."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional

from ._recording import Recording

# The range of the engine around the operators of one node of backward.
_BACKWARD = "autograd::engine::evaluate_function: "
# Parents in a damaged recording may be a circle.
_DEPTH_MOST = 1024


class Kernel(NamedTuple):
    """A kernel, or copy or memset, and what its scopes say of it; None: they do not."""

    name: str
    kind: str  # "kernel", "copy" or "memset"
    duration_ns: Optional[int]
    is_replayed: bool  # a node of a graph: operator and module are of its capture
    is_backward: bool
    operator: Optional[str]  # the innermost one, "aten::mm"
    input_dims: Optional[str]  # its shapes, as in "[[4, 16], [16, 16]]"
    module: Optional[str]  # the path in the model; of backward, that of the operator of forward


class _Scopes:
    """The scopes of a recording by their ids, with their attributes."""

    def __init__(self, recording: Recording) -> None:
        self.rows = {row["scope_id"]: row for row in recording["scopes"]}
        self.attributes: dict[int, dict[str, Any]] = {}
        for row in recording["scope_attributes"]:
            value = next((row[kind] for kind in ("int64", "text") if row[kind] is not None), None)
            self.attributes.setdefault(row["scope_id"], {})[row["key"]] = value

    def text(self, scope: int) -> str:
        text: str = self.rows[scope]["text"] or ""
        return text

    def get(self, scope: int, key: str) -> Any:
        return self.attributes.get(scope, {}).get(key)

    def around(self, scope: Optional[int]) -> Iterator[int]:
        """The scope and its parents, the innermost first."""
        for _ in range(_DEPTH_MOST):
            if scope is None or scope not in self.rows:
                return
            yield scope
            scope = self.rows[scope]["parent_id"]

    def link(self) -> dict[int, int]:
        """For each operator that a node of backward runs, and the engine's range around it, the
        operator of forward that made the node.

        Both have the same number (seq). Operators inside each other begin with the same one; the
        innermost makes the node, and begins last. That is how PyTorch's profiler links them."""
        forward: dict[tuple[int, int], int] = {}
        backward: dict[int, tuple[int, int]] = {}
        by_time = sorted(self.rows.values(), key=lambda row: row["begin_ns"] or 0)
        for row in by_time:
            seq = self.get(row["scope_id"], "seq")
            if seq is None:
                continue
            is_backward = any(self._is_node(scope) for scope in self.around(row["parent_id"]))
            number = (row["process"], seq)
            if not is_backward:
                forward[number] = row["scope_id"]
            elif row["parent_id"] in self.rows and self._is_node(row["parent_id"]):
                # The engine itself sums gradients, beside the node's operator.
                backward[row["scope_id"]] = backward[row["parent_id"]] = number
        return {scope: forward[seq] for scope, seq in backward.items() if seq in forward}

    def _is_node(self, scope: int) -> bool:
        return self.text(scope).startswith(_BACKWARD)


def list_forward_scopes(recording: Recording) -> dict[int, int]:
    """For each scope of an operator that a node of backward runs ("AddmmBackward0"), and for the
    engine's scope around it, by scope_id: the scope of the operator of forward that made the node
    ("aten::addmm"), which has the same number (seq). Needs observe() or emit_nvtx. Numbers are of a
    thread in PyTorch, and not told apart here: forward of several threads may be confused."""
    return _Scopes(recording).link()


def list_kernels(recording: Recording) -> list[Kernel]:
    """The kernels, copies and memsets of RECORDING with operator, shapes and module.

    Operators are scopes of observe(), operators() or emit_nvtx; modules those of annotate(). A
    kernel of backward has the module of the operator of forward that it is the derivative of, if
    observe() or emit_nvtx was on in both. Cost: some us a kernel and scope."""
    scopes = _Scopes(recording)
    links = scopes.link()
    known: dict[Optional[int], tuple[bool, Any, Any, Any]] = {}
    wanted = recording["activities"].select("name", "kind", "duration_ns", "graph", "scope_id")
    found = []
    for row in wanted:
        scope = row["scope_id"]
        if scope not in known:
            known[scope] = _describe(scopes, links, scope)
        is_backward, operator, dims, module = known[scope]
        is_replayed = row["graph"] is not None
        head = (row["name"] or "", row["kind"] or "", row["duration_ns"])
        found.append(Kernel(*head, is_replayed, is_backward, operator, dims, module))
    return found


def _describe(
    scopes: _Scopes, links: dict[int, int], scope: Optional[int]
) -> tuple[bool, Optional[str], Optional[str], Optional[str]]:
    around = list(scopes.around(scope))
    is_backward = any(scopes._is_node(inside) for inside in around)
    operator = dims = None
    for inside in around:
        shapes = scopes.get(inside, "sizes") or scopes.get(inside, "input_dims")
        if shapes is not None and scopes.get(inside, "module") is None:
            operator, dims = scopes.text(inside).partition(", ")[0], shapes
            break
    # The thread of backward has no modules open; those of forward may be around its caller.
    made = next((links[inside] for inside in around if inside in links), None)
    outer = list(scopes.around(made)) if is_backward else around
    module = next((scopes.get(at, "path") for at in outer if scopes.get(at, "module")), None)
    return is_backward, operator, dims, module
