#!/bin/bash
# moment.sh PROGRAM N LAUNCHED: a recording that starts or stops at an unusual moment has N of
# the LAUNCHED kernels, and accounts for all of them.
. "$(dirname "$0")/../cli/lib.sh"
program=$1 recorded=$2 launched=$3

keep=--keep-spool record run "kernel_ns=2000," "$BUILD_DIR/tests/intercept-$program" "$recorded"
expect "kernels that reached the device" "$(reached_device run)" "$launched"
expect_closed "$work/run.dagtap"
expect "kernels recorded" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" "$recorded"
