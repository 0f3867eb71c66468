#!/bin/bash
# kill9-producers.sh TIMES: kill -9 while many threads ring one doorbell, at counted moments that
# the seed chooses: at the full rate; while one of the threads is inside a doorbell; while the
# device is held. A launch that returned on any thread is recorded, whichever thread passed its
# packet, or counted as dropped. No launch is recorded that was not begun.
. "$(dirname "$0")/lib.sh"
times=$1
threads=8
page=$work/page
whats=(launches doorbells packets_kernel_dispatch)

sum_of_words() { # FIRST: that 64-bit word of the page and every second one after it
	od -An -v -w8 -t u8 "$page" | awk -v first="$1" 'NR > first && (NR - 1 - first) % 2 == 0 { sum += $1 }
		END { printf "%.0f", sum }'
}

for ((n = 0; n < times; n++)); do
	what=${whats[n % 3]}
	draw_any 65536
	rm -f "$page"
	keep="--ready 64M" kill_at $what $drawn "$BUILD_DIR/tests/raw-counted" "$page" $threads
	begun=$(sum_of_words 1)
	returned=$(sum_of_words 2)
	launches_in "$work/killed.dagtap"
	echo "$what $drawn: $returned launches returned, $begun begun, $kernels kernels recorded, $dropped dropped"
	expect_launches $((kernels + dropped)) "$begun" "$returned"
done
