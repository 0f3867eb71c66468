#!/bin/bash
# stress.sh TIMES [FIRST [threads]]: runs of intercept-stress with seeds from FIRST, each bounded by a timer.
# A run ends by itself or as its seed says; its recording loads, and nothing in it is unexplained.
. "$SOURCE_DIR/tests/cli/lib.sh"
times=$1 first=${2:-1} mode=${3:-}
limit=60 killed=0

for ((seed = first; seed < first + times; seed++)); do
	rm -rf "$work/run.dagtap" "$work/run.spool" # the latter: a child outlived its killed parent
	code=0
	LD_PRELOAD=${SANITIZER_RUNTIME:-} timeout -k 5 $limit "$dagtap" record --softgpu=kernel_ns=2000 \
		-o "$work/run.dagtap" -- "$BUILD_DIR/tests/intercept-stress" $seed $mode >"$work/out" 2>&1 || code=$?
	[ $code -ne 124 ] || fail "seed $seed: hangs"
	if [ -z "$mode" ] && [ $((seed % 4)) -eq 2 ] && [ $code -eq 137 ]; then
		killed=$((killed + 1))
	elif [ $code -ne 0 ]; then
		fail "seed $seed: exit code $code: $(cat "$work/out")"
	fi
	"$dagtap" check "$work/run.dagtap" >"$work/check" ||
		fail "seed $seed: check exited with $?: $(cat "$work/check")"
done
echo "$times runs, $killed of them killed"
