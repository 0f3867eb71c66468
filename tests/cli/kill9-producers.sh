#!/bin/bash
# kill9-producers.sh TIMES: kill -9 while many threads ring one doorbell. A launch that returned on any of them is
# on file, whichever thread did its work at the gate, or counted as dropped; none is there that was not begun.
. "$(dirname "$0")/lib.sh"
times=$1
threads=8

sum_of_words() { # FILE FIRST: that 64-bit word and every second one after it
	od -An -v -w8 -t u8 "$1" | awk -v first="$2" 'NR > first && (NR - 1 - first) % 2 == 0 { sum += $1 }
		END { printf "%.0f", sum }'
}

for ((n = 1; n <= times; n++)); do
	page=$work/page
	trace=$work/killed.dagtap
	rm -f "$page" "$trace"
	"$dagtap" record -q --softgpu=kernel_ns=0 --ready 64M -o "$trace" -- \
		"$BUILD_DIR/tests/raw-counted" "$page" $threads 2>"$work/err" &
	recorder=$!
	until [ -s "$page" ] && [ "$(od -An -t u8 -N 8 "$page" | tr -d ' ')" != 0 ]; do
		kill -0 $recorder 2>/dev/null || fail "record ended early: $(cat "$work/err")"
		sleep 0.01
	done
	sleep "0.$(printf %03d $((RANDOM % 200)))"
	kill -9 "$(od -An -t u8 -N 8 "$page" | tr -d ' ')"
	code=0
	wait $recorder || code=$?
	expect "exit code handed through" $code 137
	begun=$(sum_of_words "$page" 1)
	returned=$(sum_of_words "$page" 2)
	kernels=$(json "$trace" summary 'd["totals"]["kernels"]')
	dropped=$(json "$trace" check \
		'sum(sum(s["dropped"].values()) for s in d["sources"] if s["name"] == "hsa.dispatch")')
	echo "run $n: $returned launches returned, $begun begun, $kernels kernels recorded, $dropped dropped"
	[ $((kernels + dropped)) -ge "$returned" ] || fail "lost $((returned - kernels - dropped)) launches"
	[ $((kernels + dropped)) -le "$begun" ] || fail "$((kernels + dropped - begun)) launches too many"
	expect_closed "$trace"
done
