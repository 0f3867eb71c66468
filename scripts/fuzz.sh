#!/bin/bash
# fuzz.sh SECONDS JOBS: runs each fuzz target for SECONDS, from its corpus in the tree, JOBS targets
# at a time. The output of a target goes to build-fuzz/found/NAME.log, new inputs to
# build-fuzz/found/NAME. Runs all targets, and fails if one crashes, leaks, needs more than 2 GiB,
# or hangs; the input is then build-fuzz/found/NAME/crash-* (leak-*, oom-*).
#
# A hang is an input that takes HANG_SECONDS of the target's own CPU time (fuzz/hang.c), which do
# not pass while other programs have the CPU. libFuzzer's -timeout counts elapsed time, so a busy
# machine could fail a run: it is off.
set -euo pipefail
cd "$(dirname "$0")/.."
usage='usage: fuzz.sh SECONDS JOBS'
export SECONDS_EACH=${1:?$usage} HANG_SECONDS=300
jobs=${2:?$usage}

fuzz() { # TARGET
	local name=${1##*/}
	local found=build-fuzz/found/$name
	mkdir -p "$found"
	ulimit -St $((SECONDS_EACH + HANG_SECONDS))
	if "$1" -max_total_time="$SECONDS_EACH" -timeout=0 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$found/" "$found" "fuzz/corpus/${name#fuzz_}" >"$found.log" 2>&1; then
		echo "$name, $SECONDS_EACH s: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log") inputs"
	else
		echo "$name failed:"
		grep -v '^#[0-9]\|NEW_FUNC' "$found.log" | tail -n 100
		return 1
	fi
}
export -f fuzz

printf '%s\n' build-fuzz/fuzz/fuzz_* | xargs -P "$jobs" -I {} bash -c 'fuzz {}'
