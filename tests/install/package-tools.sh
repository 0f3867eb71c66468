#!/bin/bash
# package-tools.sh CPACK: cpack makes no Debian package where a program that it needs is missing,
# and says which package has it.
. "$(dirname "$0")/../cli/lib.sh"
cpack=$1

# check_missing PROGRAM PACKAGE: the others of the programs are there.
check_missing() {
	local tool

	rm -rf "$work/bin"
	mkdir "$work/bin"
	for tool in dpkg-shlibdeps file; do
		[ $tool = "$1" ] || ln -s "$(type -P true)" "$work/bin/$tool"
	done
	# Searches the folder alone: cpack looks into the system's folders, too.
	if PATH=$work/bin "$cpack" -G DEB --config "$BUILD_DIR/CPackConfig.cmake" -B "$work/made" \
		-D CMAKE_IGNORE_PATH="/bin;/sbin;/usr/bin;/usr/sbin;/usr/local/bin;/usr/local/sbin" >"$work/log" 2>&1; then
		fail "a package is made without $1"
	fi
	grep -qF "there is no $1 here: apt-get install $2" "$work/log" || fail "$(cat "$work/log")"
	! ls "$work"/made/*.deb 2>/dev/null || fail "a package is left behind"
}

check_missing dpkg-shlibdeps dpkg-dev
check_missing file file
