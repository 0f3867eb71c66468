#!/bin/bash
# check-rocm7.sh JOBS [FOLDER]: tests/rocm7, with the build in build/ and the userland that rocm7.sh unpacks in FOLDER
# (build/rocm7). Exit status 77, with the reason: that userland cannot be had here.
set -eu
cd "$(dirname "$0")/.."
jobs=$1
mkdir -p "${2:-build/rocm7}"
folder=$(cd "${2:-build/rocm7}" && pwd)

scripts/rocm7.sh "$folder"
cmake -S tests/rocm7 -B build/rocm7-tests -G Ninja "-DROCM7=$folder" "-DDAGTAP_BUILD=$PWD/build" >/dev/null
ninja -C build/rocm7-tests
ctest --test-dir build/rocm7-tests --output-on-failure -j "$jobs"
