#!/bin/bash
# restarts.sh [--wait] KERNELS PROGRAM ARGS...: a program of KERNELS kernels whose recording is
# stopped and started at any moment does the same as without recordings, and each recording accounts
# for everything that the device did during it. With --wait the first of them begins with a start.
. "$(dirname "$0")/../cli/lib.sh"
wait='' recordings=13
if [ "$1" = --wait ]; then
	wait=--wait recordings=12
	shift
fi
kernels=$1 program=$2
shift 2

# The device may be held while a recording stops: there these waits have to end.
export DAGTAP_TIMERS=limits=never,gate_written=20000000,device_drain=100000000,device_drain_most=200000000
export RESTARTER_KERNELS=$((kernels * 9 / 10)) DAGTAP_READY=8M
LD_PRELOAD="${SANITIZER_RUNTIME:-} $BUILD_DIR/tests/restarter.so" "$dagtap" record $wait --keep-spool \
	--softgpu="kernel_ns=2000,hold_at=packets_kernel_dispatch:$RESTARTER_KERNELS" -o "$work/run.dagtap" -- \
	"$examples/$program" "$@" >"$work/run.out" || fail "$program exited with $?: $(cat "$work/run.out")"
spools=("$work"/run.spool/*.spool)
expect "recordings" ${#spools[@]} $recordings
for spool in "${spools[@]}"; do
	expect_closed "$spool"
done
