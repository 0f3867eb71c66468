#!/bin/bash
# jax-recorded-programs.sh COUNTER PROGRAM ARGS...: what dagtap records of PROGRAM is what the
# software GPU's work log and the call counter saw. All calls are recorded, since they are compared
# with all.
. "$SOURCE_DIR/tests/cli/lib.sh"
counter=$1 program=$2
shift 2

cd "$work"
mkdir seen
DAGTAP_CALLS=all LD_AUDIT=$counter CALL_COUNTS=$work/seen/calls record run "kernel_ns=1000,work_log=$work/seen/work_log," \
	"$examples/$program" "$@"
python3 "$SOURCE_DIR/tests/jax_rocm/witness.py" export "$dagtap" run.dagtap seen
python3 "$SOURCE_DIR/tests/jax_rocm/witness.py" check seen || fail "witnesses of $program $*"
