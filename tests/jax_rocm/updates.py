"""Checks of a recording against the graph watch (graph_watch.c): which node of a graph was changed
to what between two launches, and the operations of communicators. For programs whose graphs are
launched by one thread and have no child graphs, and whose communicators have handles of their own.
Each check fails where nothing was watched."""

import collections
import pathlib

import witness

# Bytes of RCCL's data types, by their numbers.
TYPE_BYTES = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1]


class Watched:
    """What one process did: the kernels of each launch's nodes, how often each node was set, and
    what was reduced. A kernel is its name, None where the watch did not see the function's, and its
    shape."""

    def __init__(self, path):
        self.process = path.suffix[1:]
        self.launches = []  # a launch: its exec, and {place of the node in its graph: kernel}
        self.sets = collections.Counter()  # (exec, place)
        self.reductions = collections.defaultdict(list)  # communicator: bytes
        self.ranks = {}
        self.names = {}  # function: name
        self.graphs = {}  # handle: nodes in the order in which they were added, with their kernels
        self.execs = {}  # handle: number, {node: place}, {place: kernel}
        self.built = []  # by an exec's number: {place: kernel} when it was instantiated
        for line in path.read_text(encoding="ascii").splitlines():
            what, *fields = line.split("\t")
            getattr(self, what.replace("-", "_"))(*fields)

    def function(self, function, name):
        self.names[function] = name

    def kernel(self, kind, function=None, *shape):
        if kind != "kernel":
            return None
        name = self.names.get(function)
        return (name and witness.readable(name), *shape)

    def add(self, graph, node, *what):
        self.graphs.setdefault(graph, []).append((node, self.kernel(*what)))

    def destroy(self, graph):
        self.graphs.pop(graph, None)

    def instantiate(self, handle, graph):
        nodes = self.graphs.get(graph, [])
        places = {node: place for place, (node, _) in enumerate(nodes)}
        kernels = {place: kernel for place, (_, kernel) in enumerate(nodes) if kernel}
        # Handles are used again: an executable graph is known by how many there were before it.
        self.execs[handle] = (len(self.built), places, kernels)
        self.built.append(dict(kernels))

    def set(self, handle, node, *what):
        number, places, kernels = self.execs[handle]
        self.sets[number, places[node]] += 1
        kernel = self.kernel(*what)
        if kernel:
            kernels[places[node]] = kernel

    def launch(self, handle):
        number, _, kernels = self.execs[handle]
        self.launches.append((number, dict(kernels)))

    def communicator(self, comm, rank):
        self.ranks[comm] = rank

    def all_reduce(self, comm, size):
        self.reductions[comm].append(int(size))


def watched(evidence, calls):
    """The processes; those with rows of CALLS must be among them."""
    processes = [Watched(path) for path in sorted(pathlib.Path(evidence.folder).glob("graph_watch.*"))]
    recorded = {row["process"] for row in evidence.api if row["api"] in calls}
    unwatched = recorded - {process.process for process in processes}
    if unwatched:
        raise witness.Difference(f"process {min(unwatched)} was not watched")
    return processes


def some(compared):
    if not compared:
        raise witness.Difference("nothing was watched")
    return compared


def launches_of(evidence, process):
    """Each that was watched, with its row: (exec's number, {place: kernel}, row)."""
    rows = [row for row in evidence.api
            if row["process"] == process.process and row["api"] in witness.GRAPH_LAUNCHES and row["result"] == "0"]
    if len(rows) != len(process.launches):
        raise witness.Difference(
            f"process {process.process}: {len(process.launches)} launches watched, {len(rows)} recorded")
    rows.sort(key=lambda row: int(row["cid"]))
    return [(*launch, row) for launch, row in zip(process.launches, rows)]


def kernels_by_node(rows, wanted):
    """{(graph, node): kernels}. Names are left out where WANTED, the same of what was watched, has
    none."""
    nodes = collections.defaultdict(list)
    for row in rows:
        node = row["graph"], row["node"]
        is_unnamed = any(name is None for name, *_ in wanted.get(node, []))
        nodes[node].append((None if is_unnamed else row["name"], *(row[name] for name in witness.SHAPE)))
    return nodes


def check_updates(evidence):
    """Each kernel node of each launch was once the kernel that it was set to last, by name, grid
    and workgroup, and no other node was any."""
    rows = witness.by_key(filter(witness.is_replayed, evidence.activities), "process", "exec", "replay")
    compared = 0
    for process in watched(evidence, witness.GRAPH_LAUNCHES):
        for place, (_, kernels, launch) in enumerate(launches_of(evidence, process)):
            wanted = {(launch["graph"], str(node)): [kernel] for node, kernel in kernels.items()}
            recorded = kernels_by_node(rows.get((process.process, launch["exec"], launch["replay"]), []), wanted)
            wrong = [node for node in recorded.keys() | wanted.keys() if recorded.get(node) != wanted.get(node)]
            if wrong:
                node = min(wrong, key=lambda node: (node not in wanted, node))
                raise witness.Difference(
                    "process {}, launch {}, graph {}, node {}: ".format(process.process, place, *node) +
                    f"set to {wanted.get(node)}, recorded {recorded.get(node)}")
            compared += len(wanted)
    return some(compared)


def check_advice(evidence):
    """`dagtap graph --advise` has the nodes that were set, with the kernel that each was built
    with, and how often."""
    compared = 0
    for process in watched(evidence, witness.GRAPH_LAUNCHES):
        graph_of = {number: launch["graph"] for number, _, launch in launches_of(evidence, process)}
        names = {(graph, str(node)): kernel[0]
                 for number, graph in graph_of.items() for node, kernel in process.built[number].items()}
        was_set, advised = collections.Counter(), collections.Counter()
        for (number, node), count in process.sets.items():
            if number in graph_of:
                was_set[f"process {process.process}, graph {graph_of[number]}, node {node}"] += count
        for graph in evidence.advice["graphs"]:
            if str(graph["pid"]) != process.process:
                continue
            for node in graph["updated_nodes"]:
                where = f"process {process.process}, graph {node['graph']}, node {node['id']}"
                name = names.get((str(node["graph"]), str(node["id"])))
                if name is not None and name != node["name"]:
                    raise witness.Difference(f"{where}: built with {name}, advised as {node['name']}")
                advised[where] += node["updates"]
        witness.expect_same_counts(was_set, advised)
        compared += sum(was_set.values())
    return some(compared)


def reduction(row):
    """The communicator, and (number, rank, bytes); None for a number or rank that the row does not
    tell."""
    told = dict(word.split("=", 1) for word in row["args"].split())
    size = int(told["count"]) * TYPE_BYTES[int(told["datatype"])]
    return told["comm"], (int(told["seq"]) if "seq" in told else None, told.get("rank"), size)


def check_collectives(evidence):
    """Each all-reduce has its communicator, its rank and number there, and its bytes."""
    compared = 0
    for process in watched(evidence, {"ncclAllReduce"}):
        rows = [row for row in evidence.api if row["process"] == process.process and row["api"] == "ncclAllReduce"]
        recorded = collections.defaultdict(list)
        for row in sorted(rows, key=lambda row: int(row["cid"])):
            comm, operation = reduction(row)
            recorded[comm].append(operation)
        wanted = {comm: [(place + 1, process.ranks.get(comm), size) for place, size in enumerate(sizes)]
                  for comm, sizes in process.reductions.items()}
        witness.expect_same_keys(
            f"process {process.process}, communicator",
            {(comm,): 0 for comm in wanted}, {(comm,): 0 for comm in recorded})
        for comm, operations in wanted.items():
            where = f"process {process.process}, communicator {comm}"
            witness.expect_same_sequence(where, operations, recorded[comm])
            compared += len(operations)
    return some(compared)
