#!/bin/bash
# kill9.sh TIMES: kill -9 at random moments at the full launch rate, every fourth counted from the program's start
# and not from its first launch. Each recording loads; it holds at least the launches that had returned and no
# more than had begun; and the ledger closes for what was committed. A program that came to no GPU leaves no
# recording. Where the tool got no CPU to make room at this rate, what found none is counted; not in all of them.
. "$(dirname "$0")/lib.sh"
times=$1

page_field() { # FILE INDEX: the N-th 64-bit word of the program's page, 0 while there is none
	local word
	word=$(od -An -t u8 -j $((8 * $2)) -N 8 "$1" 2>/dev/null | tr -d ' ') || true
	echo "${word:-0}"
}

# The recorder's child, once it is the program.
program_of() { # RECORDER
	local pid
	while kill -0 "$1" 2>/dev/null; do
		for pid in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
			if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = counted ]; then
				echo "$pid"
				return
			fi
		done
	done
	fail "record ended early: $(cat "$work/out")"
}

# Returns when the program is about to make its first launch.
wait_for_launches() { # PAGE PROGRAM
	until [ "$(page_field "$1" 0)" -gt 0 ]; do
		kill -0 "$2" 2>/dev/null || fail "the program ended early: $(cat "$work/out")"
		sleep 0.01
	done
}

kill_one() { # PAGE TRACE WHEN(early, late)
	local recorder program code=0
	"$dagtap" record --softgpu=kernel_ns=0 -o "$2" -- "$examples/counted" "$1" 100000000 \
		>"$work/out" 2>&1 &
	recorder=$!
	program=$(program_of $recorder)
	[ "$3" = early ] || wait_for_launches "$1" "$program"
	sleep "0.$(printf %03d $((RANDOM % 500)))"
	kill -9 "$program"
	wait $recorder || code=$?
	expect "exit code handed through" $code 137
}

unused=0 whole=0
for ((n = 1; n <= times; n++)); do
	page=$work/page
	trace=$work/killed.dagtap
	rm -rf "$page" "$trace"
	kill_one "$page" "$trace" "$([ $((n % 4)) = 0 ] && echo early || echo late)"

	begun=$(page_field "$page" 1)
	returned=$(page_field "$page" 2)
	if [ ! -e "$trace" ]; then
		expect "launches without a recording" "$begun" 0
		unused=$((unused + 1))
		continue
	fi
	kernels=$(json "$trace" summary 'd["totals"]["kernels"]')
	dropped=$(json "$trace" check \
		'sum(s["dropped"].get("no free chunk", 0) for s in d["sources"] if s["name"] == "hsa.dispatch")')
	echo "run $n: $returned launches returned, $begun begun, $kernels kernels recorded, $dropped dropped"
	[ $((kernels + dropped)) -ge "$returned" ] ||
		fail "lost $((returned - kernels - dropped)) launches: $("$dagtap" check "$trace")"
	[ $((kernels + dropped)) -le "$begun" ] || fail "$((kernels + dropped - begun)) launches too many"
	[ "$dropped" -gt 0 ] || whole=$((whole + 1))
	expect_closed "$trace"
	expect "state" "$(json "$trace" check 'd["state"]')" truncated
done
[ $whole -gt 0 ] || fail "each time the tool was too slow for the program"
echo "$unused of $times were killed before they used a GPU"
