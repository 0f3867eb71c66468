#!/bin/bash
# sdk-memory.sh ALLOCATING: a profiler gets each call of HSA that allocates or frees memory, HIP's
# own included, with the sizes and addresses that the program has seen.
. "$(dirname "$0")/topology.sh"
. "$SOURCE_DIR/tests/cli/lib.sh"

launch record --sdk -q "--softgpu=rocr7_tables=1" -o "$work/run.dagtap" -- \
	bash -c 'exec ${RUN_WITH:-env} CLIENT_OUT=$0 LD_PRELOAD="$1:$LD_PRELOAD" "${@:2}"' "$work/client" \
	"$BUILD_DIR/tests/sdk/libsdk-client.so" "$1" "$work/log" >"$work/run.out" || fail "$1 exited with $?"
"$dagtap" export --format csv --table calls -o "$work/calls.csv" "$work/run.dagtap"
python3 "$here/../sdk/sdk_memory.py" "$work/client" "$work/log" "$work/run.out" "$work/calls.csv" $has_agents
