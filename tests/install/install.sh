#!/bin/bash
# install.sh CMAKE: installs into a folder of its own, as a packager would, and uses what lies
# there: the commands, the injected library, the software GPU, and libdagtap by pkg-config and by
# find_package. Then installs as root would, with an ldconfig of the test's.
. "$(dirname "$0")/../cli/lib.sh"
cmake=$1
consumer=$SOURCE_DIR/tests/install/consumer

# This ldconfig lists $searched as a folder that the loader searches, and keeps its arguments.
mkdir "$work/bin"
cat >"$work/bin/ldconfig" <<-END
	#!$BASH
	[ "\$1" != -v ] || printf '/lib: (from <builtin>:0)\n%s: (from /etc/ld.so.conf:1)\n' "\$searched"
	echo "run \$*" >>"$work/ldconfig"
END
chmod +x "$work/bin/ldconfig"
PATH=$work/bin:$PATH
unset CMAKE_PREFIX_PATH CMAKE_PROGRAM_PATH # CMake would search these first

DESTDIR=$work/root "$cmake" --install "$BUILD_DIR" --prefix /opt/dagtap >"$work/log" || fail "$(cat "$work/log")"
prefix=$work/root/opt/dagtap
[ "$(ls "$work/root") $(ls "$work/root/opt")" = "opt dagtap" ] || fail "files outside the prefix"

expected='bin/dagtap
include/dagpatch/basics.h
include/dagpatch/caches.h
include/dagpatch/captured_work.h
include/dagpatch/contexts.h
include/dagpatch/dagpatch.h
include/dagpatch/inspection.h
include/dagpatch/launches.h
include/dagpatch/model.h
include/dagpatch/nodes.h
include/dagpatch/recordings.h
include/dagtap/annotate.h
include/dagtap/error.h
include/dagtap/export.h
include/dagtap/jax.h
include/dagtap/session.h
include/dagtap/softgpu.h
include/dagtap/trace.h
lib/cmake/dagtap/dagtap-config-version.cmake
lib/cmake/dagtap/dagtap-config.cmake
lib/dagtap/libdagtap-inject.so
lib/dagtap/libdagtap-jax.so
lib/dagtap/softgpu/libhsa-runtime64.so.1
lib/libdagpatch.so
lib/libdagtap-trace.so
lib/libdagtap.so
lib/pkgconfig/dagpatch.pc
lib/pkgconfig/dagtap-trace.pc
lib/pkgconfig/dagtap.pc
share/bash-completion/completions/dagtap
share/doc/dagtap/LICENSE
share/doc/dagtap/docs/json.md
share/man/man1/dagtap.1
share/man/man1/dagtap-check.1
share/man/man1/dagtap-diff.1
share/man/man1/dagtap-export.1
share/man/man1/dagtap-graph.1
share/man/man1/dagtap-info.1
share/man/man1/dagtap-path.1
share/man/man1/dagtap-record.1
share/man/man1/dagtap-report.1
share/man/man1/dagtap-scopes.1
share/man/man1/dagtap-softgpu.1
share/man/man1/dagtap-summary.1'
for file in $expected; do
	[ -f "$prefix/$file" ] || fail "$file is not installed"
done
if grep -rlF "$BUILD_DIR" "$prefix/lib/cmake" "$prefix/lib/pkgconfig"; then
	fail "the package files name the build tree"
fi

# The build tree must not be what answers.
dagtap=$prefix/bin/dagtap
record=$("$dagtap" record --softgpu -o "$work/run.dagtap" -- "$examples/graph-bubbles" 20 5 2>&1) || fail "$record"
expect "kernels" "$(json "$work/run.dagtap" summary 'd["totals"]["graph_kernels"]')" 100
expect_closed "$work/run.dagtap"
"$dagtap" softgpu -- "$BASH" -c 'echo "$LD_PRELOAD"' >"$work/preload" || fail "dagtap softgpu"
expect "preloaded" "$(cat "$work/preload")" "$prefix/lib/dagtap/softgpu/libhsa-runtime64.so.1"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
cc -o "$work/by-pkg-config" "$consumer/consumer.c" $(pkg-config --cflags --libs dagtap) ||
	fail "consumer by pkg-config"
LD_LIBRARY_PATH=$prefix/lib "$work/by-pkg-config" || fail "consumer by pkg-config does not run"
cc -o "$work/slowest" "$SOURCE_DIR/examples/trace/slowest.c" $(pkg-config --cflags --libs dagtap-trace) ||
	fail "a tool by pkg-config"
LD_LIBRARY_PATH=$prefix/lib "$work/slowest" "$work/run.dagtap" 3 >"$work/slowest.out" ||
	fail "a tool by pkg-config does not run"
expect "lines of the tool" "$(wc -l <"$work/slowest.out")" 3
cc -o "$work/rebind" "$SOURCE_DIR/examples/patch/rebind.c" $(pkg-config --cflags --libs dagpatch) ||
	fail "dagpatch by pkg-config"
LD_LIBRARY_PATH=$prefix/lib "$work/rebind" >"$work/rebind.out" || fail "dagpatch by pkg-config does not run"
"$cmake" -S "$consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" &&
	"$cmake" --build "$work/consumer" >>"$work/log" || fail "consumer by find_package: $(cat "$work/log")"
"$work/consumer/consumer" || fail "consumer by find_package does not run"
"$work/consumer/rebind" >"$work/rebind.out" || fail "dagpatch by find_package does not run"
ldd "$work/consumer/consumer" | grep -qF "$prefix/lib/libdagtap.so.0" || fail "consumer has another libdagtap"

# The loader's cache: left alone above, because a packager's root is not this system's; renewed if
# the loader searches the folder. If not, it is said how programs find the libraries.
[ ! -e "$work/ldconfig" ] || fail "ldconfig ran for DESTDIR"
searched=$work/system/lib "$cmake" --install "$BUILD_DIR" --prefix "$work/system" >"$work/log" || fail "$(cat "$work/log")"
expect "runs of ldconfig" "$(cat "$work/ldconfig")" $'run -v -N -X\nrun '
searched=/usr/local/lib "$cmake" --install "$BUILD_DIR" --prefix "$work/system" >"$work/log" || fail "$(cat "$work/log")"
expect "runs of ldconfig" "$(wc -l <"$work/ldconfig")" 3
grep -qF "The loader does not search $work/system/lib" "$work/log" || fail "$(tail -n 3 "$work/log")"
