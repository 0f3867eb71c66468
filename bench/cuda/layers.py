"""A PyTorch model in a CUDA graph: does each replayed kernel show the layer that it was captured
in?"""
import json

import report

REPLAYS = 50


def layer_in(scope):
    """The layer among scopes, root first; emit_nvtx adds to their texts ("layer 3, seq = 7")."""
    texts = [text.split(",")[0] for text in scope.split("/")]
    return next((text for text in texts if text.startswith("layer ")), "")


def layers_of_nodes(rows):
    """The layer that each node was recorded in, by (process, graph, node)."""
    return {(row["process"], row["graph"], row["node"]): layer_in(row["scope"]) for row in rows}


def layer_of(row, nodes):
    return nodes.get((row["process"], row["graph"], row["node"]), "")


def replayed(rows):
    """Work of graph launches by (process, exec), in the order of their first start; each a list of
    launches, each in the order of start."""
    graphs = {}
    for row in rows:
        if row["exec"]:
            graphs.setdefault((row["process"], row["exec"]), {}).setdefault(int(row["replay"]), []).append(row)
    for launches in graphs.values():
        for work in launches.values():
            work.sort(key=lambda row: int(row["start_ns"] or 0))
    first = {key: min(int(work[0]["start_ns"] or 0) for work in launches.values()) for key, launches in graphs.items()}
    return [[launches[replay] for replay in sorted(launches)] for _, launches in
            sorted(graphs.items(), key=lambda item: first[item[0]])]


def compare(expected, graphs, nodes):
    """For each way of naming layers: (way, rows that show the layer they must, rows that there must
    be)."""
    found = []
    for wanted, launches in zip(expected, graphs):
        right = sum(layer_of(row, nodes) == layer for work in launches for row, layer in zip(work, wanted["nodes"]))
        whole = len(launches) == wanted["replays"] and all(len(work) == len(wanted["nodes"]) for work in launches)
        found.append((wanted["way"], right if whole else 0, len(wanted["nodes"]) * wanted["replays"],
                      "" if whole else f"{len(launches)} replays of {sorted({len(work) for work in launches})} rows"))
    return found


def verdict(way, right, wanted, trouble):
    """Without NVTX a record_function is PyTorch's own affair, and nothing can show."""
    must_show = "nvtx" in way
    return report.goal(f"rows that show their layer, {way}", f"{wanted} of {wanted}" if must_show else "-",
                       f"{right} of {wanted}" + (f" ({trouble})" if trouble else ""),
                       right == wanted if must_show else None)


def measure(context):
    path = context.work / "expected.json"
    context.tool.record(context.python("torch_layers.py", path, REPLAYS), context.recording)
    expected = json.loads(path.read_text())
    graphs = replayed(context.tool.rows("activities", context.recording))
    nodes = layers_of_nodes(context.tool.rows("graph_nodes", context.recording))
    fault = context.tool.fault(context.recording)
    goals = [report.goal("graphs replayed", str(len(expected)), str(len(graphs)), len(graphs) == len(expected))]
    goals += [verdict(*one) for one in compare(expected, graphs, nodes)]
    goals.append(report.goal("`dagtap check`", "0", fault or "0", not fault))
    layers = expected[0]["nodes"]
    notes = [f"{len(set(layers))} layers of {', '.join(str(layers.count(name)) for name in sorted(set(layers)))} nodes, as "
             "cudaGraphGetNodes counts them; record_function reaches NVTX only under torch.autograd.profiler.emit_nvtx."]
    return report.part(f"Layers of a PyTorch model in a CUDA graph, {REPLAYS} replays", goals=goals, notes=notes)
