#!/bin/bash
# fuzz.sh SECONDS|fixed JOBS: runs each fuzz target from its corpus in the tree, JOBS targets at a
# time. The output of a target goes to build-fuzz/found/NAME.log. Runs all targets, and fails if one
# crashes, leaks, needs more than 2 GiB, or hangs; the input is then build-fuzz/found/NAME/crash-*
# (leak-*, oom-*).
#
# SECONDS: for so long, with new random numbers; new inputs stay in build-fuzz/found/NAME.
#
# fixed: the inputs that follow from the corpus and from FUZZ_SEED (1), as many as below. They are
# the same on every machine, so that the code alone decides the result: the corpus is read in the
# order of its names, nothing is read from build-fuzz/found, and comparisons do not guide libFuzzer
# (-use_cmp), because some compare addresses.
#
# A hang is an input that takes HANG_SECONDS of the target's own CPU time (fuzz/hang.c), which do
# not pass while other programs have the CPU. libFuzzer's -timeout counts elapsed time, so a busy
# machine could fail a run: it is off.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
usage='usage: fuzz.sh SECONDS|fixed JOBS'
export AMOUNT=${1:?$usage} HANG_SECONDS=300 FUZZ_SEED=${FUZZ_SEED:-1}
jobs=${2:?$usage}
export SECONDS_EACH=${AMOUNT/fixed/600}

# The inputs of a fixed run, and how long a target runs: up to 60 s, and ten times as long on a slow
# machine.
declare -A inputs=(
	[code_object]=1000000
	[kineto]=150000
	[pack]=60000
	[patch]=80000
	[ranks]=60000
	[rocpd]=8000
	[spool]=100000
	[stats]=60000
	[trace]=30000
	[xspace]=150000
)

# Prints the arguments of libFuzzer that say what NAME runs on, one a line.
amount_of() { # NAME INPUTS
	local corpus=fuzz/corpus/$1
	if [ "$AMOUNT" = fixed ]; then
		printf '%s\n' -runs="$2" -seed="$FUZZ_SEED" -use_cmp=0 \
			-seed_inputs="$(printf '%s\n' "$corpus"/* | paste -sd,)"
	else
		printf '%s\n' -max_total_time="$AMOUNT" "build-fuzz/found/$1" "$corpus"
	fi
}

fuzz() { # NAME INPUTS
	local found=build-fuzz/found/$1 arguments
	mkdir -p "$found"
	mapfile -t arguments < <(amount_of "$@")
	ulimit -St $((SECONDS_EACH + HANG_SECONDS))
	if "build-fuzz/fuzz/fuzz_$1" -timeout=0 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$found/" "${arguments[@]}" >"$found.log" 2>&1; then
		echo "$1, $AMOUNT: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log") inputs"
	else
		echo "$1 failed:"
		grep -v '^#[0-9]\|NEW_FUNC' "$found.log" | tail -n 100
		return 1
	fi
}
export -f amount_of fuzz

for target in build-fuzz/fuzz/fuzz_*; do
	name=${target##*/fuzz_}
	echo "$name ${inputs[$name]}"
done | xargs -P "$jobs" -L 1 bash -c 'fuzz "$@"' fuzz
