#!/bin/bash
# Fails when a public header does not compile alone, or an example of it, as C99 and as C++11.
set -eu
cd "$(dirname "$0")/.."

check() { # FILE, and what comes before it
	gcc -x c -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$@"
	g++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$@"
}

for header in $(cd include && find . -name '*.h' -printf '%P\n' | sort); do
	check -include "$header" /dev/null
done
for example in examples/annotate/*.c examples/trace/*.c; do
	check "$example"
done
