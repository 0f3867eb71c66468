#!/bin/bash
# pack-patch.sh OUT: builds what measure_patch.py needs, for a machine without these libraries and
# without a network.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:?usage: pack-patch.sh OUT}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

mkdir -p "$out/lib" "$out/bin" "$out/needed" "$out/bench/patch" "$out/examples/patch" "$out/python/dagpatch"
cmake -S "$source" -B "$build" -G Ninja \
	${CMAKE_C_COMPILER_LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER="$CMAKE_C_COMPILER_LAUNCHER"} >"$build/log"
ninja -C "$build" dagpatch_shared dagtap-bench patch_cuda_suite patch_cuda_table >>"$build/log" || {
	tail -20 "$build/log" >&2
	exit 1
}
cp "$build/lib/libdagpatch.so.0" "$out/lib/libdagpatch.so"
cp "$build/bin/dagtap-bench" "$build"/tests/{patch_cuda_suite,patch_cuda_table} "$out/bin/"
cp "$source"/bench/patch/*.py "$out/bench/patch/"
cp "$source"/examples/patch/*.py "$out/examples/patch/"
cp "$source"/python/dagpatch/src/dagpatch/*.py "$out/python/dagpatch/"
# Their libraries, but for the C library's own.
ldd "$out"/bin/* | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
	grep -vE '/(libc|libm|libdl|libpthread|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$out/needed/"
