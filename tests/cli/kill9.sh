#!/bin/bash
# kill9.sh TIMES: kill -9 at moments that are counted (killed.c) and drawn by the seed: at the full launch rate, and of
# every four once at a system call from the program's start on. Each recording loads; it holds at least the launches that
# had returned and no more than had begun; and the ledger closes for what was committed. A program that came to no GPU
# leaves no recording. What found no room, where the tool got no CPU to make it, is counted: of as few launches as there
# is room for from the start, nothing.
. "$(dirname "$0")/lib.sh"
times=$1
page=$work/page trace=$work/killed.dagtap
room=20000 # launches, in 32 MiB

page_field() { # INDEX: the N-th 64-bit word of the program's page, 0 while there is none
	local word
	word=$(od -An -t u8 -j $((8 * $1)) -N 8 "$page" 2>/dev/null | tr -d ' ') || true
	echo "${word:-0}"
}

kill_at() { # WHAT NUMBER
	local code=0
	rm -rf "$page" "$trace"
	"$dagtap" record --softgpu=kernel_ns=0 -o "$trace" -- \
		"$BUILD_DIR/tests/killed" "$1" "$2" "$examples/counted" "$page" 100000000 >"$work/out" 2>&1 || code=$?
	expect "exit code handed through ($(cat "$work/out"))" $code 137
}

unused=0
for ((n = 1; n <= times; n++)); do
	if [ $((n % 4)) -eq 0 ]; then
		draw 6000
		moment="calls $((drawn + 1))"
	else
		draw_any 65536
		moment="launches $drawn"
	fi
	kill_at $moment

	begun=$(page_field 1)
	returned=$(page_field 2)
	if [ ! -e "$trace" ]; then
		expect "launches without a recording" "$begun" 0
		unused=$((unused + 1))
		continue
	fi
	launches_in "$trace"
	echo "$moment: $returned launches returned, $begun begun, $kernels kernels recorded, $dropped dropped"
	expect_launches $((kernels + dropped)) "$begun" "$returned"
	[ "$dropped" -eq 0 ] || [ "$begun" -gt $room ] || fail "dropped $dropped where there was room"
	expect "state" "$state" truncated
done
echo "$unused of $times were killed before they used a GPU"
