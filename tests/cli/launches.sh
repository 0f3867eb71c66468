#!/bin/bash
# launches.sh PROGRAM: launches by every function that launches a kernel
# (tests/capture_hip/launches.c). The ledger expects as many activities as the program launched and
# the device received; none for an empty launch, a captured launch or a disabled node.
. "$(dirname "$0")/lib.sh"
program=$1

for mode in plain empty captured many switched; do
	record $mode "gpus=2," "$program" $mode
	file=$work/$mode.dagtap
	want=$(reached_device $mode)
	[ $mode = captured ] || expect "$mode: kernels that reached the device" "$want" "$(launched $mode)"
	expect_closed "$file"
	[ $mode = switched ] && name=graph || name=hip.launch
	line=$(json "$file" check '[[s["expected"], s["received"]] for s in d["sources"] if s["name"] == "'$name'"]')
	expect "$mode: launches in the ledger" "$line" "[[$want, $want]]"
done
