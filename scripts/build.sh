#!/bin/bash
# build.sh PRESET JOBS [TARGET...]: configures a preset of CMakePresets.json when that has not been
# done, and builds it. A terminal shows ninja's status line; elsewhere a line is printed for every 5
# percent, and the compiler's messages.
set -eu -o pipefail
cd "$(dirname "$0")/.."
preset=$1
jobs=$2
shift 2

# Reads ninja's output and drops the lines of single steps, "[ 12%] Building ...".
every_5_percent() {
	local line next=5

	while IFS= read -r line || [ -n "$line" ]; do
		if [[ $line =~ ^\[\ *([0-9]+)%\]\  ]]; then
			[ "${BASH_REMATCH[1]}" -ge "$next" ] || continue
			echo "built ${BASH_REMATCH[1]} %"
			next=$((BASH_REMATCH[1] / 5 * 5 + 5))
		elif [ "$line" != 'ninja: no work to do.' ]; then
			printf '%s\n' "$line"
		fi
	done
}

# CMake runs itself again when a list file changes; only the first time is ours.
directory=build
[ "$preset" = default ] || directory=build-$preset
[ -f "$directory/build.ninja" ] || cmake --preset "$preset" --log-level=WARNING
cd "$directory"
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
	ninja -j "$jobs" "$@"
else
	NINJA_STATUS='[%p] ' ninja -j "$jobs" "$@" | every_5_percent
fi
