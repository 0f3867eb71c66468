#!/bin/bash
# launches.sh PROGRAM: launches by every function that launches a kernel (tests/capture_hip/launches.c). What the ledger
# says they owe is what the program launched and what reached the device; nothing of a launch of nothing, or of one that
# was captured.
. "$(dirname "$0")/lib.sh"
program=$1

for mode in plain empty captured many; do
	record $mode "gpus=2," "$program" $mode
	file=$work/$mode.dagtap
	want=$(reached_device $mode)
	[ $mode = captured ] || expect "$mode: kernels that reached the device" "$want" "$(launched $mode)"
	expect_closed "$file"
	line=$(json "$file" check '[[s["expected"], s["received"]] for s in d["sources"] if s["name"] == "hip.launch"]')
	expect "$mode: launches in the ledger" "$line" "[[$want, $want]]"
done
