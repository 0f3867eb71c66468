#!/bin/bash
# abi.sh check|write BUILD: compares the binary interface of the public libraries in BUILD, every
# exported function and every type that it reaches through include/, with the descriptions in
# tests/abi; `write` renews these, after a change that was meant. Needs Debian's abigail-tools; exit
# status 77 without them.
set -euo pipefail
cd "$(dirname "$0")/.."
usage='usage: abi.sh check|write BUILD'
what=${1:?$usage}
build=${2:?$usage}
libraries='libdagtap libdagtap-trace libdagpatch'
now=$(mktemp -d)
trap 'rm -rf "$now"' EXIT
failed=0

command -v abidw >/dev/null || {
	echo "there is no abidw here (Debian: abigail-tools)" >&2
	exit 77
}

describe() { # LIBRARY
	abidw --headers-dir include --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path \
		--no-show-locs "$build/lib/$1.so.0" | sed "s|path='$PWD/|path='|"
}

for library in $libraries; do
	case $what in
	write) describe "$library" >"tests/abi/$library.abi" ;;
	check)
		describe "$library" >"$now/$library.abi"
		abidiff "tests/abi/$library.abi" "$now/$library.abi" || failed=1
		;;
	*)
		echo "$usage" >&2
		exit 2
		;;
	esac
done
[ $failed -eq 0 ] || {
	echo "The interface has changed. If that is meant: scripts/abi.sh write BUILD, and a line in CHANGELOG.md." >&2
	exit 1
}
