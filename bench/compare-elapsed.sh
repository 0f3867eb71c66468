#!/bin/bash
# compare-elapsed.sh [PAIRS]: what recording costs a program by its own measure. Runs
# examples/elapsed PAIRS times untraced and traced, in turn, and prints the medians of its
# hipEventElapsedTime and their ratio.
set -eu
cd "$(dirname "$0")/.."
pairs=${1:-30}
build=${BUILD_DIR:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

median_ms() {
	"$@" | sed -n 's/^median ms: //p'
}

median() {
	sort -n "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

for ((pair = 0; pair < pairs; pair++)); do
	median_ms "$build/bin/dagtap" softgpu -- "$build/examples/elapsed" 200 20 >>"$work/bare"
	rm -rf "$work/traced.dagtap"
	median_ms "$build/bin/dagtap" record --softgpu --quiet -o "$work/traced.dagtap" -- "$build/examples/elapsed" 200 20 \
		>>"$work/traced"
done
bare=$(median "$work/bare")
traced=$(median "$work/traced")
awk -v bare="$bare" -v traced="$traced" -v pairs="$pairs" 'BEGIN {
	printf "untraced %.4f ms, traced %.4f ms, ratio %.4f over %d pairs\n", bare, traced, traced / bare, pairs }'
