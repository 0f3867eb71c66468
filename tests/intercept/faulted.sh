#!/bin/bash
# faulted.sh HOW EXIT-CODE MESSAGE PROGRAM [described]: what the recording says of PROGRAM HOW,
# whose third of five kernels does not end.
. "$(dirname "$0")/../cli/lib.sh"
how=$1 code=$2 message=$3 program=$4
shift 4

got=0
launch record -q "--softgpu=kernel_ns=2000${1:+,rocr7_tables=2}" -o "$work/run.dagtap" -- ${RUN_WITH:-} \
	"$program" "$how" "$@" >"$work/out" 2>&1 || got=$?
expect "exit code ($(cat "$work/out"))" "$got" "$code"
expect_closed "$work/run.dagtap"
expect "kernels recorded" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" 5
expect "not timed" "$(json "$work/run.dagtap" check 'sorted(d["untimed"].items())')" \
	"[('in its queue at the end, not taken by the device', 2), ('taken by the device, its end was not seen', 1)]"
"$dagtap" check "$work/run.dagtap" >"$work/check"
grep -q "on the device, its end was not seen: ticket.*, packet 2 of queue 1" "$work/check" || fail "not named: $(cat "$work/check")"
grep -q "$message" "$work/check" || fail "no \"$message\": $(cat "$work/check")"
