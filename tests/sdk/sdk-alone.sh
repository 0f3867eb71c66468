#!/bin/bash
# sdk-alone.sh HOW PROGRAM ARGS...: a program that nobody has started with `dagtap record` finds
# librocprofiler-sdk.so.1 by LD_LIBRARY_PATH alone, and its profiler gets what the library records,
# and what the software GPU ran. The library leaves no file, unless DAGTAP_SPOOL names a folder.
# HOW: forced (the profiler configures itself), toggled (the same, and it stops and starts all the
# time), found (the library finds it), or registered (by rocprofiler-register, which the program's
# preloaded libhand-over.so calls).
. "$SOURCE_DIR/tests/cli/lib.sh"
how=$1
program=$2
shift 2

preloaded=$BUILD_DIR/tests/sdk/libsdk-client.so
variables=()
case $how in
toggled) variables=(CLIENT_TOGGLES=1000) ;;
found | registered) variables=(CLIENT_WAITS=1) ;;
esac
# Before the profiler: constructors run in the opposite order.
[ "$how" != registered ] || preloaded=$EXAMPLES_DIR/libhand-over.so:$preloaded

# alone OUT VARIABLE...: runs the program.
alone() {
	local out=$1
	shift
	mkdir "$out" "$out/tmp"
	env "$@" "${variables[@]}" TMPDIR="$out/tmp" CLIENT_OUT="$out/client" \
		DAGTAP_SOFTGPU="kernel_ns=1000,work_log=$out/log" LD_PRELOAD="$preloaded" \
		LD_LIBRARY_PATH="$BUILD_DIR/lib/dagtap/sdk:$BUILD_DIR/lib/dagtap/softgpu:$ROCM_LIBRARIES" \
		"$program" "${arguments[@]}" >"$out/out" || fail "$program exited with $?"
	expect "what is left" "$(ls "$out/tmp")" ""
}
arguments=("$@")

mkdir "$work/spools"
alone "$work/kept" DAGTAP_SPOOL="$work/spools"
if [ "$how" = toggled ]; then
	for spool in "$work"/spools/*.spool; do
		"$dagtap" check "$spool" >"$work/check.out" || fail "$(cat "$work/check.out")"
		"$dagtap" export --format csv -o "$spool.csv" "$spool"
	done
	python3 "$SOURCE_DIR/tests/sdk/sdk_toggled.py" "$work/kept/client" "$work"/spools/*.csv
	exit
fi
for table in activities calls scopes; do
	"$dagtap" export --format csv --table $table -o "$work/$table.csv" "$work"/spools/*.spool
done
"$dagtap" check "$work"/spools/*.spool >"$work/check.out" || fail "$(cat "$work/check.out")"
python3 "$SOURCE_DIR/tests/sdk/sdk_rows.py" "$work/kept/client" "$work/activities.csv" "$work/calls.csv" "$work/scopes.csv" \
	"$work"/kept/log.*

alone "$work/unnamed"
# HIP takes memory for its own pools as its threads need it, not the same in each run.
lines() {
	# Requests are also made for packets that another thread has submitted.
	cut -d' ' -f1 "$1/client" | grep -v "delivered\|request\|allocat" | sort | uniq -c
}
expect "lines without a folder" "$(lines "$work/unnamed")" "$(lines "$work/kept")"
# allocations WORD: those of the records (allocation) or of the callbacks (allocated).
allocations() {
	sed -n "s/^$1 //p" "$work/unnamed/client" | sort
}
expect "records of memory without a folder" "$(allocations allocation)" "$(allocations allocated)"
