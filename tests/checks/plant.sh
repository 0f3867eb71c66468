# Sourced by the tests of the checks: a folder for planted faults, and what a check must say of
# them.
set -euo pipefail
work=$TMPDIR

# expect_fault TEXT COMMAND...: fails unless the command fails and its output has TEXT.
expect_fault() {
	local text=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "passes although a fault is planted: $*"
		exit 1
	fi
	grep -qF -- "$text" <<<"$output" || {
		echo "the output has no \"$text\":"
		echo "$output"
		exit 1
	}
}

# plant_tree: makes $work/tree, a repository with the scripts and documents of this tree, and
# nothing else. The names that follow are copied too.
plant_tree() {
	mkdir -p "$work/tree"
	(cd "$SOURCE_DIR" && cp --parents -r scripts docs/glossary.md docs/format/spool.md \
		src/record/witnesses.h "$@" "$work/tree")
	git -C "$work/tree" init -q
	git -C "$work/tree" add .
}
