#!/bin/bash
# exact.sh WANT SOFTGPU-OPTIONS PROGRAM ARGS...: WANT kernels by the program, by the device and in
# the recording; the ledger closes; and every kernel has its times.
. "$SOURCE_DIR/tests/cli/lib.sh"
want=$1 options=$2 program=$3
shift 3

record run "$options," "$examples/$program" "$@"
expect "the program's own count" "$(launched run)" "$want"
expect "kernels that reached the device" "$(reached_device run)" "$want"
expect_closed "$work/run.dagtap"
expect "kernels in summary" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" "$want"
expect "kernels without times" "$(json "$work/run.dagtap" check \
	'sum(s["untimed"] for s in d["sources"] if s["name"] == "hsa.dispatch")')" 0
