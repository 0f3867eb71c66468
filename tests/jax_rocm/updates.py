"""Checks of a recording against the graph watch (graph_watch.c): which node of a graph was changed to what between two
launches, and the operations of communicators. For programs whose graphs are launched by one thread."""

import collections
import pathlib

import witness

# Bytes of RCCL's data types, by their numbers.
TYPE_BYTES = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1]


class Watched:
    """What one process did: the shapes of each launch's kernel nodes, how often each was set, and what was reduced."""

    def __init__(self, path):
        self.process = path.suffix[1:]
        self.launches = []  # a launch: its exec, and {place of the node in its graph: shape} of kernels
        self.sets = collections.Counter()  # (exec, place)
        self.reductions = collections.defaultdict(list)  # communicator: bytes
        self.ranks = {}
        self.graphs = {}  # handle: nodes in the order in which they were added, with their shapes
        self.execs = {}  # handle: {node: place}, {place: shape}
        for line in path.read_text(encoding="ascii").splitlines():
            what, *fields = line.split("\t")
            getattr(self, what.replace("-", "_"))(*fields)

    def add(self, graph, node, kind, *shape):
        self.graphs.setdefault(graph, []).append((node, shape if kind == "kernel" else None))

    def destroy(self, graph):
        self.graphs.pop(graph, None)

    def instantiate(self, handle, graph):
        nodes = self.graphs.get(graph, [])
        places = {node: place for place, (node, _) in enumerate(nodes)}
        shapes = {place: shape for place, (_, shape) in enumerate(nodes) if shape}
        # Handles are used again: an executable graph is known by how many there were before it.
        self.execs[handle] = (len(self.execs), places, shapes)

    def set(self, handle, node, kind, *shape):
        number, places, shapes = self.execs[handle]
        self.sets[number, places[node]] += 1
        if kind == "kernel":
            shapes[places[node]] = shape

    def launch(self, handle):
        number, _, shapes = self.execs[handle]
        self.launches.append((number, dict(shapes)))

    def communicator(self, comm, rank):
        self.ranks[comm] = rank

    def all_reduce(self, comm, size):
        self.reductions[comm].append(int(size))


def watched(evidence):
    return [Watched(path) for path in sorted(pathlib.Path(evidence.folder).glob("graph_watch.*"))]


def launches_of(evidence, process):
    """In their order."""
    rows = [row for row in evidence.api if row["process"] == process and row["api"] in witness.GRAPH_LAUNCHES]
    return sorted(rows, key=lambda row: int(row["cid"]))


def check_updates(evidence):
    """Each node of each launch had the grid and workgroup that it was set to last, and no other node has them."""
    rows = witness.by_key(filter(witness.is_replayed, evidence.activities), "process", "exec", "replay")
    compared = 0
    for process in watched(evidence):
        launches = launches_of(evidence, process.process)
        if len(launches) != len(process.launches):
            raise witness.Difference(f"{len(process.launches)} launches watched, {len(launches)} recorded")
        for place, (launch, (_, shapes)) in enumerate(zip(launches, process.launches)):
            ran = rows.get((process.process, launch["exec"], launch["replay"]), [])
            recorded = {int(row["node"]): tuple(row[name] for name in witness.SHAPE) for row in ran}
            if recorded != shapes:
                wrong = min(node for node in recorded.keys() | shapes.keys()
                            if recorded.get(node) != shapes.get(node))
                raise witness.Difference(
                    f"launch {place}, node {wrong}: set to {shapes.get(wrong)}, recorded {recorded.get(wrong)}")
            compared += len(ran)
    return compared


def check_advice(evidence):
    """`dagtap graph --advise` names the nodes that were set, and how often."""
    compared = 0
    for process in watched(evidence):
        launches = launches_of(evidence, process.process)
        graph_of = {number: launch["graph"] for (number, _), launch in zip(process.launches, launches)}
        was_set = collections.Counter()
        for (number, place), count in process.sets.items():
            if number in graph_of:
                was_set[f"graph {graph_of[number]}, node {place}"] += count
        advised = collections.Counter()
        for graph in evidence.advice["graphs"]:
            if str(graph["pid"]) == process.process:
                for node in graph["updated_nodes"]:
                    advised[f"graph {node['graph']}, node {node['id']}"] += node["updates"]
        witness.expect_same_counts(was_set, advised)
        compared += sum(was_set.values())
    return compared


def check_collectives(evidence):
    """Each all-reduce has its communicator, its rank and number there, and its bytes."""
    compared = 0
    for process in watched(evidence):
        recorded = collections.defaultdict(list)
        for row in evidence.api:
            if row["process"] == process.process and row["api"] == "ncclAllReduce":
                told = dict(word.split("=", 1) for word in row["args"].split())
                size = int(told["count"]) * TYPE_BYTES[int(told["datatype"])]
                recorded[told["comm"]].append((int(told["seq"]), told["rank"], size))
        wanted = {comm: [(place + 1, process.ranks[comm], size) for place, size in enumerate(sizes)]
                  for comm, sizes in process.reductions.items()}
        witness.expect_same_keys("communicator", {(comm,): 0 for comm in wanted}, {(comm,): 0 for comm in recorded})
        for comm, operations in wanted.items():
            witness.expect_same_sequence(f"communicator {comm}", operations, sorted(recorded[comm]))
            compared += len(operations)
    return compared
