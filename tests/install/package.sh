#!/bin/bash
# package.sh CPACK: makes the Debian package, takes it apart with dpkg-deb, and uses what is in it:
# the command on the software GPU, libdagtap by pkg-config, a manual page.
. "$(dirname "$0")/../cli/lib.sh"
cpack=$1

for tool in dpkg-deb dpkg-shlibdeps file; do
	command -v $tool >/dev/null || {
		echo "there is no $tool here"
		exit 77
	}
done
"$cpack" -G DEB --config "$BUILD_DIR/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
package=$(ls "$work"/made/*.deb)
dpkg-deb -x "$package" "$work/root"
dpkg-deb -f "$package" Depends | grep -q '^libc6 ' || fail "no dependency on the C library"
! dpkg-deb -f "$package" Depends | grep -q 'hsa-runtime\|amdhip' || fail "depends on a vendor's library"
[ "$(ls "$work/root")" = usr ] || fail "files outside /usr"
for file in bin/dagtap lib/dagtap/libdagtap-inject.so lib/dagtap/softgpu/libhsa-runtime64.so.1 lib/libdagtap.so.0 \
	lib/libdagtap-trace.so.0 lib/libdagpatch.so.0 include/dagtap/trace.h include/dagpatch/dagpatch.h \
	share/man/man1/dagtap-report.1 share/man/man1/dagtap-memory.1 share/bash-completion/completions/dagtap share/doc/dagtap/LICENSE \
	share/doc/dagtap/docs/json.md; do
	[ -e "$work/root/usr/$file" ] || fail "$file is not in the package"
done

# Each symbol of the libraries has the version of its library.
for library in dagtap:DAGTAP_0.1 dagtap-trace:DAGTAP_TRACE_0.1 dagpatch:DAGPATCH_0.1; do
	expect "versions of lib${library%:*}" "$(nm -D --defined-only "$work/root/usr/lib/lib${library%:*}.so.0" |
		awk '$2 != "A" { sub(/.*@/, "", $3); print $3 }' | sort -u)" "${library#*:}"
done

dagtap=$work/root/usr/bin/dagtap
record run "" "$examples/graph-bubbles" 100 2
expect kernels "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" 200
expect_closed "$work/run.dagtap"
"$dagtap" report -o "$work/page.html" "$work/run.dagtap" || fail "report"
export PKG_CONFIG_PATH=$work/root/usr/lib/pkgconfig
cc -o "$work/consumer" "$SOURCE_DIR/tests/install/consumer/consumer.c" $(pkg-config --cflags --libs dagtap) || fail "a program with libdagtap"
LD_LIBRARY_PATH=$work/root/usr/lib "$work/consumer" || fail "a program with libdagtap does not run"
