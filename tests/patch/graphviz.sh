#!/bin/sh
# graphviz.sh FILE: dot reads FILE and finds its boxes and arrows. Exit status 77: no dot here.
set -eu
command -v dot >/dev/null || {
	echo "skipped: no dot; Debian's package graphviz has it"
	exit 77
}
plain=$(dot -Tplain "$1")
for word in node edge; do
	case $word in
	node) expected=$(grep -c '^n[0-9]* \[' "$1") ;;
	edge) expected=$(grep -c -e '->' "$1") ;;
	esac
	found=$(echo "$plain" | grep -c "^$word ")
	[ "$found" -eq "$expected" ] || {
		echo "dot found $found ${word}s, $expected are written"
		exit 1
	}
done
