#!/bin/bash
# fuzz.sh SECONDS: runs each fuzz target for so long, from its corpus in the tree. New inputs go into
# the build folder; a crash is left there too and ends the run.
set -eu
cd "$(dirname "$0")/.."
seconds=$1

for target in build-fuzz/fuzz/fuzz_*; do
	[ -x "$target" ] && [ -f "$target" ] || continue
	name=$(basename "$target")
	found=build-fuzz/found/$name
	mkdir -p "$found"
	echo "== $name, $seconds s"
	"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$found/" "$found" "fuzz/corpus/${name#fuzz_}"
done
