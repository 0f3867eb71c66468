#!/bin/bash
# lint.sh BUILD JOBS [FILE...]: runs clang-tidy with the rules of .clang-tidy over the FILEs, or
# over all files of src, bench and examples that BUILD compiles. BUILD must have been built, because
# some headers are generated. Prints each finding, and fails if there is one, if clang-tidy cannot
# run, or if BUILD compiles no files.
set -euo pipefail
cd "$(dirname "$0")/.."
usage='usage: lint.sh BUILD JOBS [FILE...]'
build=${1:?$usage}
jobs=${2:?$usage}
shift 2

compiled() {
	sed -n 's|^ *"file": "\(.*\)",*$|\1|p' "$build/compile_commands.json" |
		grep -E "^$PWD/(src|bench|examples)/.*\.c$" | sort -u
}

if [ $# -eq 0 ]; then
	files=$(compiled) || {
		echo "lint.sh: $build compiles no files of this tree; scripts/build.sh makes it" >&2
		exit 2
	}
	mapfile -t files <<<"$files"
	set -- "${files[@]}"
fi
# clang-tidy also counts the warnings of system headers, which it does not print.
printf '%s\n' "$@" | xargs -P "$jobs" -n 4 clang-tidy-14 --extra-arg=-Wno-unknown-warning-option -p "$build" --quiet 2>&1 |
	sed -E '/^[0-9]+ warnings? (generated|treated as errors?)\.?$/d'
