#!/bin/bash
# pack-compare.sh OLD OUT: builds what compare_patch.py runs: OUT/new/dagtap-bench of this tree, and
# OUT/old/dagtap-bench, the same benchmark with the libdagpatch of the commit OLD. OUT/needed has
# their libraries.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
usage='usage: pack-compare.sh OLD OUT'
old=${1:?$usage} out=${2:?$usage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/old" "$out/old" "$out/new" "$out/needed"
git -C "$source" ls-files -z | (cd "$source" && tar -c --null -T -) | tar -x -C "$work/old"
rm -r "$work/old/src/patch" "$work/old/include/dagpatch"
git -C "$source" archive "$old" src/patch include/dagpatch | tar -x -C "$work/old"
for which in old new; do
	tree=$source
	[ $which = new ] || tree=$work/old
	cmake -S "$tree" -B "$work/$which-build" -G Ninja \
		${CMAKE_C_COMPILER_LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER="$CMAKE_C_COMPILER_LAUNCHER"} >"$work/log"
	ninja -C "$work/$which-build" dagtap-bench >>"$work/log" || {
		tail -20 "$work/log" >&2
		exit 1
	}
	cp "$work/$which-build/bin/dagtap-bench" "$out/$which/"
done
cp "$source/bench/patch/compare_patch.py" "$out/"
# Their libraries, but for the C library's own.
ldd "$out"/{old,new}/dagtap-bench | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
	grep -vE '/(libc|libm|libdl|libpthread|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$out/needed/"
