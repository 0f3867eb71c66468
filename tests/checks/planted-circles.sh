#!/bin/bash
# planted-circles.sh COMPILER: scripts/check-circles.py finds two files that call each other. It
# knows files by the names of their objects, so the objects get the names of two files of the tree.
. "$(dirname "$0")/plant.sh"
compiler=$1
objects=$work/build/src/base/CMakeFiles/planted.dir
mkdir -p "$objects"

# make_object FILE TEXT
make_object() {
	"$compiler" -x c -c - -o "$objects/$1.o" <<<"$2"
}

make_object clock.c 'int first(void) { return 1; }'
make_object memory.c 'int first(void); int second(void) { return first(); }'
"$SOURCE_DIR/scripts/check-circles.py" "$work/build"
make_object clock.c 'int second(void); int first(void) { return second(); }'
expect_fault "src/base/clock.c -> src/base/memory.c: second" "$SOURCE_DIR/scripts/check-circles.py" \
	"$work/build"
