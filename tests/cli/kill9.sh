#!/bin/bash
# kill9.sh TIMES: kill -9 at counted moments that the seed chooses: at a system call, from the
# program's start on; at the full launch rate; inside a doorbell; while the device is held. Each
# recording loads. It has all launches that had returned and none that had not begun, and the ledger
# closes. A program that has not used a GPU leaves no recording. Records are counted as dropped if
# the tool got no CPU to prepare chunks; none is dropped while the first chunks suffice.
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
