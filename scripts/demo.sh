#!/bin/bash
# Records 20 replays of a graph of 2000 kernels on the software GPU, and shows what came of it.
set -eu
cd "$(dirname "$0")/.."
trace=build/demo.dagtap

step() {
	printf '\n$ %s\n' "$*"
	"$@"
}

rm -rf "$trace"
step build/bin/dagtap record --softgpu -o "$trace" -- build/examples/graph-bubbles 2000 20
step build/bin/dagtap summary "$trace"
step build/bin/dagtap check "$trace"
cat <<END

Next:
  build/bin/dagtap graph $trace                  every node of the graph, over all replays
  build/bin/dagtap export --format perfetto -o build/demo.pftrace $trace
                                                 open it at https://ui.perfetto.dev
  build/bin/dagtap record --softgpu -o build/other.dagtap -- build/examples/graph-forkjoin 8 8 50
                                                 (more programs in build/examples; no --softgpu with a GPU)
END
