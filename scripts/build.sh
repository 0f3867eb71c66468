#!/bin/bash
# build.sh PRESET JOBS [TARGET...]: configures a preset of CMakePresets.json when that has not been
# done, and builds it.
set -eu
cd "$(dirname "$0")/.."
preset=$1
jobs=$2
shift 2

# CMake runs itself again when a list file changes; only the first time is ours.
directory=build
[ "$preset" = default ] || directory=build-$preset
[ -f "$directory/build.ninja" ] || cmake --preset "$preset" --log-level=WARNING
ninja -C "$directory" -j "$jobs" --quiet "$@"
