#!/bin/bash
# kill9-producers.sh TIMES: kill -9 while many threads ring one doorbell, at counted moments (killed.c) drawn by the seed.
# A launch that returned on any of them is on file, whichever thread did its work at the gate, or counted as dropped;
# none is there that was not begun.
. "$(dirname "$0")/lib.sh"
times=$1
threads=8
page=$work/page trace=$work/killed.dagtap

sum_of_words() { # FIRST: that 64-bit word of the page and every second one after it
	od -An -v -w8 -t u8 "$page" | awk -v first="$1" 'NR > first && (NR - 1 - first) % 2 == 0 { sum += $1 }
		END { printf "%.0f", sum }'
}

for ((n = 1; n <= times; n++)); do
	rm -f "$page" "$trace"
	draw_any 65536
	code=0
	"$dagtap" record -q --softgpu=kernel_ns=0 --ready 64M -o "$trace" -- \
		"$BUILD_DIR/tests/killed" launches $drawn "$BUILD_DIR/tests/raw-counted" "$page" $threads 2>"$work/err" || code=$?
	expect "exit code handed through ($(cat "$work/err"))" $code 137
	begun=$(sum_of_words 1)
	returned=$(sum_of_words 2)
	launches_in "$trace"
	echo "$drawn launches: $returned returned, $begun begun, $kernels kernels recorded, $dropped dropped"
	expect_launches $((kernels + dropped)) "$begun" "$returned"
done
