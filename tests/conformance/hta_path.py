#!/usr/bin/env python3
"""HolisticTraceAnalysis on one Kineto file: what it joined, and its critical path. One JSON object.

    hta_path.py FOLDER      the folder holds the file
"""

import collections
import contextlib
import json
import os
import sys
import warnings

# Times as they are, rather than in whole microseconds.
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.simplefilter("ignore")

from hta.analyzers.critical_path_analysis import CPEdgeType  # noqa: E402
from hta.common.trace_call_graph import CallGraph  # noqa: E402
from hta.trace_analysis import TraceAnalysis  # noqa: E402


def describe(graph, rows, edge, on_path):
    """The two events of an edge: name and stream, -1 on the host."""
    ends = [graph.node_list[node].ev_idx for node in (edge.begin, edge.end)]
    return {"events": [[graph._get_node_name(event), int(rows.stream.loc[event])]
                       for event in ends], "on_path": on_path}


def count_operators(analysis, rows, names, kernels):
    """How many kernels each operator has; None: those without one. By HTA's own call stacks."""
    CallGraph(analysis.t)

    def operator(row):
        while row in rows.index and names[rows.cat[row]] != "cpu_op":
            row = rows.parent[row]
        return row if row in rows.index else None

    found = [operator(row) for row in kernels.index]
    return (collections.Counter(row if row is None else names[rows.name[row]] for row in found),
            sum(row is not None and "[" in str(rows.input_dims[row]) for row in found))


def analyse(folder):
    analysis = TraceAnalysis(trace_dir=folder, include_last_profiler_step=True)
    ranks = list(analysis.t.traces)
    rows = analysis.t.get_trace(ranks[0])
    names = analysis.t.symbol_table.get_sym_table()
    kernels = rows[rows["cat"].map(lambda number: names[number]) == "kernel"]
    graph, is_found = analysis.critical_path_analysis(rank=ranks[0], annotation="",
                                                      instance_id=None)
    operators, with_shapes = count_operators(analysis, rows, names, kernels)
    edges = [graph.edges[ends]["object"] for ends in graph.edges]
    path = graph.critical_path_edges_set
    return {
        "ranks": ranks,
        "is_found": bool(is_found),
        "kernels": len(kernels),
        "launched_kernels": int((kernels["index_correlation"] > 0).sum()),
        "iterations": {int(step): len(group)
                       for step, group in (kernels.groupby("iteration")
                                           if "iteration" in kernels else ())},
        "operators": [[name, count] for name, count in operators.items()],
        "kernels_with_shapes": with_shapes,
        "edges": collections.Counter(edge.type.name for edge in edges),
        "waits": [describe(graph, rows, edge, edge in path) for edge in edges
                  if edge.type == CPEdgeType.SYNC_DEPENDENCY],
    }


if __name__ == "__main__":
    # It prints as it goes.
    with contextlib.redirect_stdout(sys.stderr):
        found = analyse(sys.argv[1])
    print(json.dumps(found))
