#!/bin/bash
# sdk-hang.sh PROGRAM: a kernel that never ends does not hold up the end of a program with a
# profiler. The test sets the limit sdk_exit to 0. PROGRAM is intercept-faulted-hip: its third
# kernel of five hangs, and it exits with 7.
. "$SOURCE_DIR/tests/cli/lib.sh"

got=0
launch record --sdk -q "--softgpu=kernel_ns=2000" -o "$work/run.dagtap" -- \
	bash -c 'CLIENT_ENDS=1 CLIENT_OUT=$0 LD_PRELOAD="$1:$LD_PRELOAD" exec "${@:2}"' "$work/client" \
	"$BUILD_DIR/tests/sdk/libsdk-client.so" "$1" hang >"$work/run.out" || got=$?
expect "exit code" "$got" 7
expect "the tool's flush" "$(grep ^flushed "$work/client")" "flushed ROCPROFILER_STATUS_ERROR_BUFFER_BUSY"
expect "the tool's end" "$(tail -n 1 "$work/client")" finished
