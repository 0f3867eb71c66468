#!/bin/bash
# NCCL on CUDA, played: what is recorded of two ranks' calls, and what dagtap collectives makes of
# it, calculated again from the CSV of the same file. A program that looks NCCL's functions up in a
# library that it has loaded for itself is recorded as one that is linked with it.
. "$SOURCE_DIR/tests/cli/lib.sh"

export DAGTAP_CUPTI=$BUILD_DIR/tests/libmodel-cupti.so
library=$BUILD_DIR/tests/nccl/libnccl.so.2

for way in linked looked-up; do
	[ "$way" = linked ] || [ "$(uname -m)" = x86_64 ] || continue
	launch record --backend cuda -q -o "$work/$way.dagtap" -- "$BUILD_DIR/tests/nccl-program-$way" "$library" \
		>"$work/$way.out" || fail "record $way exited with $?: $(cat "$work/$way.out")"
	expect_closed "$work/$way.dagtap"
	for table in activities calls; do
		"$dagtap" export -f --format csv --table $table -o "$work/$table.csv" "$work/$way.dagtap" || fail "export"
	done
	"$dagtap" collectives --json "$work/$way.dagtap" >"$work/collectives.json" || fail "collectives: exit $?"
	for table in operations late ranks; do
		"$dagtap" collectives --csv --table $table "$work/$way.dagtap" >"$work/$table.csv" || fail "collectives --csv"
	done
	"$dagtap" collectives "$work/$way.dagtap" >"$work/text" || fail "collectives: exit $?"
	python3 "$(dirname "$0")/nccl_check.py" "$work" "$work/$way.out" || fail "$way: $(cat "$work/collectives.json")"
done

# Without NCCL there is nothing to show.
launch record --backend cuda -q -o "$work/none.dagtap" -- "$BUILD_DIR/tests/cuda-program" 1 >/dev/null || fail "record"
code=0
"$dagtap" collectives "$work/none.dagtap" 2>"$work/err" || code=$?
expect "exit without collectives" $code 1
grep -q "no collective of NCCL or RCCL" "$work/err" || fail "$(cat "$work/err")"
