#!/bin/bash
# sdk-rccl.sh: a profiler in a program that calls made-up libraries of HIP and RCCL by their symbols
# and by their tables gets RCCL's calls: as many as the program makes, and what dagtap records.
. "$SOURCE_DIR/tests/cli/lib.sh"

launch record --sdk --calls all -q -o "$work/run.dagtap" -- bash -c \
	'CLIENT_OUT=$0 LD_PRELOAD="$1:$LD_PRELOAD" exec "${@:2}"' "$work/client" "$BUILD_DIR/tests/sdk/libsdk-client.so" \
	"$BUILD_DIR/tests/tables-caller" rccl >"$work/run.out" 2>&1 || fail "the program: $(cat "$work/run.out")"
"$dagtap" export --format csv --table calls -o "$work/calls.csv" "$work/run.dagtap"
python3 "$here/../sdk/sdk_rccl.py" "$work/client" "$work/calls.csv" ncclGroupStart=1 ncclAllReduce=7 ncclGetErrorString=1 ncclCommDestroy=1
