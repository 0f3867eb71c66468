#!/bin/bash
# beside.sh first|second: another tool that intercepts queues is loaded before or after dagtap: each
# kernel of a graph is recorded, and belongs to its launch and node.
. "$SOURCE_DIR/tests/cli/lib.sh"
other=$BUILD_DIR/tests/hsa_interposer_tool.so

# dagtap puts itself behind what is there. It opens once.
export HSA_TOOLS_LIB=$other
[ "$1" = first ] || HSA_TOOLS_LIB="$BUILD_DIR/lib/dagtap/libdagtap-inject.so $other"
record run "kernel_ns=2000,doorbell_bound=1," "$examples/graph-bubbles" 200 10
expect "kernels that reached the device" "$(reached_device run)" 2000
expect_closed "$work/run.dagtap"
expect "kernels and kernels of graph nodes" "$(json "$work/run.dagtap" check \
	'[s["joined"] for s in d["sources"] if s["name"] in ("hsa.dispatch", "graph")]')" "[2000, 2000]"
