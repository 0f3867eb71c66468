#!/bin/bash
# restarts.sh SEED PROGRAM ARGS...: a program whose recording is stopped and started at any moment does what it
# would do without, and each of the recordings accounts for all that the device did while it was made.
. "$(dirname "$0")/../cli/lib.sh"
seed=$1 program=$2
shift 2

export RESTARTER_SEED=$seed DAGTAP_READY=8M
LD_PRELOAD="${SANITIZER_RUNTIME:-} $BUILD_DIR/tests/restarter.so" \
	"$dagtap" record --keep-spool --softgpu=kernel_ns=2000 -o "$work/run.dagtap" -- \
	"$examples/$program" "$@" >"$work/run.out" || fail "$program exited with $?: $(cat "$work/run.out")"
spools=("$work"/run.spool/*.spool)
[ "${#spools[@]}" -gt 1 ] || fail "only ${#spools[@]} recordings"
for spool in "${spools[@]}"; do
	expect_closed "$spool"
done
