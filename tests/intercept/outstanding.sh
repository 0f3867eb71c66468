#!/bin/bash
# outstanding.sh N: N dispatches are on the device at once and none has begun. Each is timed, or
# came before a signal was made for it.
. "$SOURCE_DIR/tests/cli/lib.sh"

record run "kernel_ns=2000," "$BUILD_DIR/tests/intercept-outstanding" "$1"
expect "outstanding at once" "$(sed -n 's/^outstanding at once: //p' "$work/run.out")" "$1"
expect "kernels that reached the device" "$(reached_device run)" "$1"
expect_closed "$work/run.dagtap"
expect "kernels in summary" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" "$1"
expect "kernels without times, and without a slot" "$(json "$work/run.dagtap" check \
	'sum(s["untimed"] for s in d["sources"] if s["name"] == "hsa.dispatch") - d["untimed"].get("no free slot", 0)')" 0
