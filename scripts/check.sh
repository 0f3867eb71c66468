#!/bin/bash
# check.sh JOBS: every test: the rules about the source, all of ctest, then what the sanitizers can
# see.
set -eu
cd "$(dirname "$0")/.."
jobs=$1

stage() {
	printf '\n== %s (%d s)\n' "$*" "$SECONDS"
}

stage layering, format, headers, language, circles
scripts/check-layering.sh
scripts/check-format.sh
scripts/check-headers.sh
scripts/check-language.py
scripts/check-circles.py build

# Readers that are not ours need a network: make check-conformance, make check-jax-rocm.
stage tests
ctest --preset default -LE 'conformance|jax-rocm' -j "$jobs"

for preset in asan tsan; do
	stage "tests, $preset"
	scripts/build.sh "$preset" "$jobs"
	ctest --preset "$preset" -j "$jobs"
done
stage everything passed
