#!/bin/bash
# sdk-programs.sh HOW PROGRAM ARGS...: a profiler on librocprofiler-sdk.so.1 in a HIP program gets
# what dagtap records and what the software GPU ran. HOW: forced (it configures itself), behind
# (the same, behind dagtap's libraries), found (the library finds it), or named (by a variable).
. "$SOURCE_DIR/tests/cli/lib.sh"
how=$1
program=$2
shift 2

client=$BUILD_DIR/tests/sdk/libsdk-client.so
case $how in
forced) variables='LD_PRELOAD="$1:$LD_PRELOAD"' ;;
behind) variables='LD_PRELOAD="$LD_PRELOAD:$1"' ;;
found) variables='CLIENT_WAITS=1 LD_PRELOAD="$LD_PRELOAD:$1"' ;;
named) variables='CLIENT_WAITS=1 ROCP_TOOL_LIBRARIES="/nowhere/libtool.so:$1"' ;;
esac

# The profiler in the program alone, not in dagtap.
launch record --sdk --calls all -q "--softgpu=kernel_ns=1000,work_log=$work/log" -o "$work/run.dagtap" -- \
	bash -c "CLIENT_OUT=\$0 $variables"' exec "${@:2}"' "$work/client" "$client" "$BUILD_DIR/$program" "$@" >"$work/run.out" || fail "$program exited with $?"
"$dagtap" export --format csv -o "$work/activities.csv" "$work/run.dagtap"
"$dagtap" export --format csv --table calls -o "$work/calls.csv" "$work/run.dagtap"
"$dagtap" export --format csv --table scopes -o "$work/scopes.csv" "$work/run.dagtap"
python3 "$here/../sdk/sdk_rows.py" "$work/client" "$work/activities.csv" "$work/calls.csv" "$work/scopes.csv" "$work"/log.*
