#!/bin/bash
# sdk-scratch.sh RAW-DRIVER: a profiler is told of the scratch memory of a program's queues. Two
# queues, each with 10 packets: each gets it with its first packet and loses it at its end.
. "$(dirname "$0")/topology.sh"
. "$SOURCE_DIR/tests/cli/lib.sh"

launch record --sdk -q "--softgpu=rocr7_tables=1" -o "$work/run.dagtap" -- \
	bash -c 'CLIENT_OUT=$0 LD_PRELOAD="$1:$LD_PRELOAD" exec "${@:2}"' "$work/client" \
	"$BUILD_DIR/tests/sdk/libsdk-client.so" "$1" --queues 2 --producers 2 --packets 20 --batch 10 --scratch 256 \
	>"$work/run.out" || fail "$1 exited with $?"
# Words: operation, bytes of the records; operation, event, dispatch, bytes, slots of the callbacks'
# second phase.
bytes=$((104 * 32 * 64 * 256)) # of the software GPU's gfx90a
expect "records" "$(sed -n 's/^scratch .* op \([0-9]*\) .* flags 0 bytes \([0-9]*\)$/\1 \2/p' "$work/client" | sort | paste -sd,)" \
	"1 $bytes,1 $bytes,2 0,2 0"
expect "callbacks" "$(sed -n 's/^scratched .* op \([0-9]*\) event \([0-9]*\) .* dispatch \([0-9]*\) bytes \([0-9]*\) slots \([0-9]*\)$/\1 \2 \3 \4 \5/p' "$work/client" | sort | paste -sd,)" \
	"1 1 0 0 0,1 1 0 0 0,1 2 0 $bytes 3328,1 2 0 $bytes 3328,2 3 0 0 0,2 3 0 0 0,2 4 0 0 0,2 4 0 0 0"
# Node 1 of the driver is the GPU, and agent 2.
[ $has_agents -eq 0 ] || expect "agents" "$(sed -n 's/^scratch .* agent \([0-9]*\) .*/\1/p' "$work/client" | sort -u)" 2
expect "queues" "$(sed -n 's/^scratch .* queue \([0-9]*\) .*/\1/p' "$work/client" | sort | uniq -c | awk '{print $1}' | paste -sd,)" "2,2"
