#!/bin/bash
# build-progress.sh: scripts/build.sh, whose output is no terminal here, prints a line for every 5
# percent, nothing when everything is built, and a failure as ninja shows it.
. "$(dirname "$0")/plant.sh"
type -P ninja >/dev/null || exit 77
mkdir -p "$work/scripts" "$work/build"
cp "$SOURCE_DIR/scripts/build.sh" "$work/scripts"

# Nothing is configured where there is a build.ninja: 40 steps.
{
	printf 'rule touch\n  command = touch $out\nrule fail\n  command = echo the message; false\n'
	for step in {1..40}; do
		echo "build made.$step: touch"
	done
	echo "build all: phony made.$(seq -s ' made.' 40)"
	echo 'build failed: fail'
} >"$work/build/build.ninja"

# expect_output TEXT ARGS...
expect_output() {
	local text=$1 output
	shift
	output=$("$work/scripts/build.sh" default 1 "$@")
	[ "$output" = "$text" ] || {
		printf 'printed:\n%s\nexpected:\n%s\n' "$output" "$text"
		exit 1
	}
}

expect_output "$(printf 'built %d %%\n' {5..100..5})" all
expect_output '' all
expect_fault 'the message' "$work/scripts/build.sh" default 1 failed
