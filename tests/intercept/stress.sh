#!/bin/bash
# stress.sh TIMES [FIRST [threads]]: runs of intercept-stress with seeds from FIRST, each bounded by a timer.
# A run ends by itself or as its seed says; its recording loads, and nothing in it is unexplained.
. "$SOURCE_DIR/tests/cli/lib.sh"
times=$1 first=${2:-1} mode=${3:-}
limit=60 killed=0

descendants() { # PID
	local child
	for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
		echo "$child"
		descendants "$child"
	done
}

# hangs PID: says where each thread below it stands, and ends them.
hangs() {
	local all pid
	all=$(descendants "$1")
	for pid in $all; do
		echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		[ -z "$(command -v gdb)" ] || gdb -p "$pid" -batch -ex "thread apply all bt" 2>&1 || true
	done >&2
	kill -9 "$1" $all || true
}

# bounded COMMAND...: its exit code, or 124 when it did not end in time.
bounded() {
	local run code=0
	"$@" &
	run=$!
	timeout $limit tail --pid=$run -s 0.02 -f /dev/null || code=124
	[ $code -eq 0 ] || hangs $run
	wait $run || code=$((code ? code : $?))
	return $code
}

run_seed() {
	LD_PRELOAD=${SANITIZER_RUNTIME:-} exec "$dagtap" record --softgpu=kernel_ns=2000 \
		-o "$work/run.dagtap" -- "$BUILD_DIR/tests/intercept-stress" "$@" >"$work/out" 2>&1
}

for ((seed = first; seed < first + times; seed++)); do
	rm -rf "$work/run.dagtap" "$work/run.spool" # the latter: a child outlived its killed parent
	code=0
	bounded run_seed $seed $mode || code=$?
	[ $code -ne 124 ] || fail "seed $seed: hangs"
	if [ -z "$mode" ] && [ $((seed % 4)) -eq 2 ] && [ $code -eq 137 ]; then
		killed=$((killed + 1))
	elif [ $code -ne 0 ]; then
		fail "seed $seed: exit code $code: $(cat "$work/out")"
	fi
	"$dagtap" check "$work/run.dagtap" >"$work/check" ||
		fail "seed $seed: check exited with $?: $(cat "$work/check")"
done
echo "$times runs, $killed of them killed"
