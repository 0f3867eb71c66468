#!/bin/bash
# planted-language.sh: scripts/check-language.py finds each kind of fault that it looks for, and
# nothing in a tree without faults.
. "$(dirname "$0")/plant.sh"
plant_tree .gitignore
cd "$work/tree"
long=$(printf 'word %.0s' {1..21})

# plant FILE LINE TEXT: the check must say TEXT of a FILE that ends with LINE. Git need not know it.
plant() {
	mkdir -p "$(dirname "$1")"
	[ ! -e "$1" ] || cp "$1" "$work/before"
	printf '%b\n' "$2" >>"$1"
	expect_fault "$3" scripts/check-language.py
	rm "$1"
	[ ! -e "$work/before" ] || mv "$work/before" "$1"
}

# Empty pages for the links of those that are here.
for page in docs/glossary.md docs/format/spool.md; do
	{ grep -oP '\]\(\K[^)#:]+' "$page" || true; } | while read -r target; do
		mkdir -p "$(dirname "$page")/$(dirname "$target")"
		touch "$(dirname "$page")/$target"
	done
done

scripts/check-language.py
plant src/base/a.c 'int lane_count;' 'src/base/a.c:1: the glossary gives up `lane`: lane_count'
plant bench/a.py 'lane_count = 1' 'the glossary gives up `lane`'
plant docs/a.md 'The `lane_count` grows.' 'the glossary gives up `lane`'
plant tests/a.c '/* These records stays unsaid. */' 'gives up "stays unsaid"'
plant src/base/a.c "/* $long*/" 'src/base/a.c:1: a line of 110 columns'
plant src/base/a.c "int a; /* $long*/" 'a line of 117 columns'
plant tests/a.sh "# $long" 'a line of 107 columns'
plant tests/a.sh "true # $long" 'a line of 112 columns'
plant tests/CMakeLists.txt "# $long" 'a line of 107 columns'
plant bench/a.py "\"\"\"$long\"\"\"" 'a line of 111 columns'
plant docs/a.md "$long" 'a line of 105 columns'
plant src/base/a.h 'int base_a(void);' 'base_a has no contract'
plant tests/a.h 'int tests_a(void);' 'tests_a has no contract'
plant docs/internals/a.md '| `base_a` | `nowhere.c` |' '`base_a` is not in nowhere.c'
plant docs/internals/a.md 'See `counters` (`record/witnesses.h`).' '`counters` is not in record/witnesses.h'
plant docs/internals/a.md 'See `src/base/nowhere.c`.' 'src/base/nowhere.c is not there'
row='| `WITNESSES` | `record/witnesses.h` | lists them |'
plant docs/internals/walk.md "$row\n$row" '`WITNESSES` is named twice'
plant docs/a.md 'See [a](nowhere.md).' 'a link to nowhere.md, which is not there'
plant tests/witnesses.h '/* The same. */' 'src/record/witnesses.h, tests/witnesses.h: files of one name'
plant ARCHITECTURE.md 'Rooms.' 'the table of rooms does not have src/record'
plant src/record/witnesses.h '	X(NEW, "hip", "planted") \\' 'hip, planted: in one of'
scripts/check-language.py

# What pip puts into a virtual environment is not ours.
for folder in venv .venv; do
	mkdir $folder
	echo 'lane_count = 1' >$folder/a.py
done
scripts/check-language.py
