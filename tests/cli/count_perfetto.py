"""count_perfetto.py WANT GRAPH FILE: exactly WANT kernels among the GPU stages, GRAPH of them
naming graph, node and replay. Field numbers: protos/perfetto/trace of the perfetto project."""
import sys

from protobuf import fields, message

PACKET, STAGE_EVENT = 1, 53
DURATION, EXTRA_DATA, KERNEL_IID = 2, 6, 19


def extra(stage):
    pairs = (message(item) for item in stage.get(EXTRA_DATA, []))
    return {pair[1][0].decode(): pair.get(2, [b""])[0].decode() for pair in pairs}


want, graph = int(sys.argv[1]), int(sys.argv[2])
with open(sys.argv[3], "rb") as file:
    data = file.read()
kernels = timed = of_graphs = incomplete = 0
for number, packet in fields(data):
    if number != PACKET:
        sys.exit(f"field {number} outside a packet")
    for field, value in fields(packet):
        stage = message(value) if field == STAGE_EVENT else {}
        if KERNEL_IID not in stage:
            continue
        kernels += 1
        timed += DURATION in stage
        named = extra(stage)
        of_graphs += "replay" in named
        incomplete += "replay" in named and not {"graph", "node"} <= named.keys()

problems = []
if kernels != want:
    problems.append(f"{kernels} kernels, not {want}")
if timed != want:
    problems.append(f"{want - timed} kernels without a duration")
if of_graphs != graph:
    problems.append(f"{of_graphs} kernels of replays, not {graph}")
if incomplete:
    problems.append(f"{incomplete} graph kernels without graph or node")
sys.exit("; ".join(problems) or None)
