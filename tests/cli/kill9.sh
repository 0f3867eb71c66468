#!/bin/bash
# kill9.sh TIMES: kill -9 at random moments. Each recording loads; it holds at least the launches that had
# returned and no more than had begun; and the ledger closes for what was committed.
. "$(dirname "$0")/lib.sh"
times=$1

page_field() { # FILE INDEX: the N-th 64-bit word of the program's page
	od -An -t u8 -j $((8 * $2)) -N 8 "$1" | tr -d ' '
}

for ((n = 1; n <= times; n++)); do
	page=$work/page
	trace=$work/killed.dagtap
	rm -rf "$page" "$trace"
	"$dagtap" record --softgpu=kernel_ns=2000 -o "$trace" -- "$examples/counted" "$page" 100000000 \
		>"$work/out" 2>&1 &
	recorder=$!
	until [ "$(page_field "$page" 0 2>/dev/null)" ] && [ "$(page_field "$page" 0)" -gt 0 ]; do
		kill -0 $recorder 2>/dev/null || fail "record ended early: $(cat "$work/out")"
		sleep 0.01
	done
	sleep "0.$(printf %03d $((RANDOM % 600)))"
	kill -9 "$(page_field "$page" 0)"
	code=0
	wait $recorder || code=$?
	expect "exit code handed through" $code 137

	begun=$(page_field "$page" 1)
	returned=$(page_field "$page" 2)
	kernels=$(json "$trace" summary 'd["totals"]["kernels"]')
	echo "run $n: $returned launches returned, $begun begun, $kernels kernels recorded"
	[ "$kernels" -ge "$returned" ] ||
		fail "lost $((returned - kernels)) launches: $("$dagtap" check "$trace")"
	[ "$kernels" -le "$begun" ] || fail "$((kernels - begun)) launches too many"
	expect_closed "$trace"
	expect "state" "$(json "$trace" check 'd["state"]')" truncated
done
