#!/bin/bash
# Fails when a public header does not compile alone, as C99 and as C++11.
set -eu
cd "$(dirname "$0")/.."

check() {
	local compiler=$1 language=$2 standard=$3 header=$4
	"$compiler" -x "$language" -std="$standard" -Wall -Wextra -Wpedantic -Werror -Iinclude \
		-fsyntax-only -include "$header" /dev/null
}

for header in $(cd include && find . -name '*.h' -printf '%P\n' | sort); do
	check gcc c c99 "$header"
	check g++ c++ c++11 "$header"
done
