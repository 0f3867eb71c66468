#!/bin/bash
# pack-cuda.sh OUT: builds what measure_cuda.py needs, for a machine without these libraries and
# without a network. It has a C++ compiler.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:?usage: pack-cuda.sh OUT}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

mkdir -p "$out/tree/bin" "$out/tree/lib" "$out/tree/bench" "$out/tree/tests"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_PROJECT_dagtap_INCLUDE="$source/bench/cuda/static.cmake" \
	${CMAKE_C_COMPILER_LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER="$CMAKE_C_COMPILER_LAUNCHER"} >"$build/log"
ninja -C "$build" bin/dagtap dagtap_inject dagtap_annotate cuda-floor cuda-program >>"$build/log" || {
	tail -20 "$build/log" >&2
	exit 1
}
cp "$build/bin/dagtap" "$out/tree/bin/"
cp -r "$build/lib/dagtap" "$out/tree/lib/"
cp -L "$build"/lib/libdagtap.so{,.0} "$out/tree/lib/"
cp "$build/bench/libcuda-floor.so" "$out/tree/bench/"
cp "$build/tests/cuda-program" "$build/tests/libmodel-cupti.so" "$out/tree/tests/"
cp "$source"/bench/cuda/*.{py,cu} "$out/"
git -C "$source" describe --always --dirty >"$out/revision" 2>/dev/null || rm -f "$out/revision"
if ldd "$out/tree/bin/dagtap" | grep -vE 'linux-vdso|libc\.so|libm\.so|ld-linux|libstdc|libgcc'; then
	echo "pack-cuda.sh: dagtap still needs these" >&2
	exit 1
fi
