#!/bin/bash
# lint.sh BUILD JOBS [FILE...]: clang-tidy with the rules of .clang-tidy, over the files named or all that BUILD
# compiles of src, bench and examples.
set -eu
cd "$(dirname "$0")/.."
build=$1 jobs=$2
shift 2

compiled() {
	sed -n 's|^ *"file": "\(.*\)",*$|\1|p' "$build/compile_commands.json" |
		grep -E "^$PWD/(src|bench|examples)/.*\.c$" | sort -u
}

if [ $# -gt 0 ]; then
	printf '%s\n' "$@"
else
	compiled
fi | xargs -P "$jobs" -n 4 clang-tidy-14 -p "$build" --quiet 2>/dev/null
