#!/bin/bash
# transparent.sh PROGRAM ARGS...: what reaches the device is the same with and without the tool:
# packets by type, barrier bits and doorbells in number, and the packets themselves but for the
# completion signal of a dispatch that had none.
. "$SOURCE_DIR/tests/cli/lib.sh"
program=$BUILD_DIR/$1
shift
options="kernel_ns=500,packets=$work/%s.packets,report=$work/%s.report"

LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" softgpu="${options//%s/bare}" -- "$program" "$@" \
	>"$work/out" || fail "$program exited with $?: $(cat "$work/out")"
launch record "--softgpu=${options//%s/traced}" -o "$work/run.dagtap" -- "$program" "$@" \
	>"$work/out" || fail "$program, traced, exited with $?: $(cat "$work/out")"
expect_closed "$work/run.dagtap"
python3 "$SOURCE_DIR/tests/intercept/same_packets.py" "$work/bare" "$work/traced" || fail "not the same"
