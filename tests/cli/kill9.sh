#!/bin/bash
# kill9.sh TIMES: kill -9 at moments that are counted, and drawn by the seed: at a system call, from
# the program's start on; at the full launch rate; in the middle of a doorbell; while the device
# stands. Each recording loads; it holds at least the launches that had returned and no more than
# had begun; and the ledger closes for what was committed. A program that came to no GPU leaves no
# recording. What found no room, where the tool got no CPU to make it, is counted: of as few
# launches as there is room for from the start, nothing.
. "$(dirname "$0")/lib.sh"
times=$1
page=$work/page trace=$work/killed.dagtap
room=20000 # launches, in 32 MiB
whats=(calls launches doorbells packets_kernel_dispatch)

unused=0
for ((n = 0; n < times; n++)); do
	what=${whats[n % 4]}
	if [ $what = calls ]; then
		draw 6000
	else
		draw_any 65536
	fi
	rm -f "$page"
	kill_at $what $((drawn + 1)) "$examples/counted" "$page" 100000000

	read -r _ begun returned < <(od -An -w24 -t u8 "$page" 2>/dev/null) || begun=0 returned=0
	if [ ! -e "$trace" ]; then
		expect "launches without a recording" "$begun" 0
		unused=$((unused + 1))
		continue
	fi
	launches_in "$trace"
	echo "$what $((drawn + 1)): $returned launches returned, $begun begun, $kernels kernels recorded, $dropped dropped"
	expect_launches $((kernels + dropped)) "$begun" "$returned"
	[ "$dropped" -eq 0 ] || [ "$begun" -gt $room ] || fail "dropped $dropped where there was room"
	expect "state" "$state" truncated
done
echo "$unused of $times were killed before they used a GPU"
