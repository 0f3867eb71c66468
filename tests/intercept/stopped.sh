#!/bin/bash
# stopped.sh WHERE RECORDED: a program that waits for a kernel behind a stopped thread ends; both
# its kernels ran, RECORDED are in the recording, and check says how many passed without a record.
. "$(dirname "$0")/../cli/lib.sh"
where=$1 recorded=$2

record run "kernel_ns=2000," "$BUILD_DIR/tests/intercept-stopped" "$where"
expect "kernels that reached the device" "$(reached_device run)" 2
expect_closed "$work/run.dagtap"
expect "kernels recorded" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" "$recorded"
expect "kernels said to be unrecorded" "$(json "$work/run.dagtap" check \
	'sum(n for s in d["sources"] if s["name"] == "hsa.packet"
	     for why, n in s["dropped"].items() if "unrecorded" in why)')" $((2 - recorded))
expect "lost" "$(json "$work/run.dagtap" check 'd["lost"]')" $((2 - recorded))
