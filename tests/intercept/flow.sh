#!/bin/bash
# flow.sh N: ten times as many dispatches need no more signals and no more anonymous memory.
. "$SOURCE_DIR/tests/cli/lib.sh"
most_kib=1024 # the C library's arenas and stacks that are touched late
total=$1

signals() {
	python3 -c 'import json, sys
counters = json.load(open(sys.argv[1]))["counters"]
print(counters["signals_created_interrupt"], counters["signals_created_memory"])' "$work/$1".softgpu.*
}

record few "kernel_ns=0," "$BUILD_DIR/tests/intercept-flow" 10000
record many "kernel_ns=0," "$BUILD_DIR/tests/intercept-flow" "$total"
for name in few many; do
	expect_closed "$work/$name.dagtap"
done
expect "signals created for $total dispatches" "$(signals many)" "$(signals few)"
[ -n "${SANITIZER_RUNTIME:-}" ] && exit 0 # its shadow memory is anonymous, too
read -r early late < <(sed -n 's/^anonymous KiB: //p' "$work/many.out" | paste -sd ' ')
echo "anonymous memory: $early KiB after $((total / 10)) dispatches, $late KiB after $total; signals: $(signals many)"
[ $((late - early)) -le $most_kib ] || fail "grew by $((late - early)) KiB"
