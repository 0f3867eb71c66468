#!/bin/bash
# stress.sh TIMES [threads]: runs of intercept-stress with seeds from that of the test. A run ends
# as its seed says; its recording loads, and nothing in it is unexplained. One that hangs is the
# last seed that was printed.
. "$SOURCE_DIR/tests/cli/lib.sh"
times=$1 mode=${2:-}
first=$((${DAGTAP_TEST_SEED:-1} % 1000000))

for ((seed = first; seed < first + times; seed++)); do
	echo "seed $seed"
	rm -rf "$work/run.dagtap" "$work/run.spool" # the latter: a child outlived its killed parent
	code=0 want=0
	[ -n "$mode" ] || [ $((seed % 4)) -ne 2 ] || want=137
	launch record --softgpu=kernel_ns=2000 -o "$work/run.dagtap" -- \
		"$BUILD_DIR/tests/intercept-stress" $seed $mode >"$work/out" 2>&1 || code=$?
	[ $code -eq $want ] || fail "seed $seed: exit code $code, not $want: $(cat "$work/out")"
	"$dagtap" check "$work/run.dagtap" >"$work/check" ||
		fail "seed $seed: check exited with $?: $(cat "$work/check")"
done
