#!/bin/bash
# call-counter.sh COUNTER PROGRAM: what the call counter has on file of counted-calls, however its
# calls are bound and however it ends. RUN_WITH: what starts the program (another C library's
# loader).
set -eu
counter=$1 program=$2 count=2000
here=$SOURCE_DIR/tests/jax_rocm
work=$(mktemp -d)
[ -n "${DAGTAP_TEST_FOLDER:-}" ] || trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# wanted TIMES: the counter's text after so many rounds of counted-calls' threads.
wanted() {
	local n=$((count * 4 * $1))
	for caller in libcalling-lazily.so libcalling-now.so libcalling-without-plt.so; do
		for name in __hipCalled hipCalledInside hipCalledPlain hipCalledSum ncclCalled; do
			printf '%s\t%s\tlibcalled.so\t%d\n' $name $caller $n
		done
		printf 'hipCalledByTable\t%s\tlibcalled.so\t%d\n' $caller $((2 * n))
	done
	printf 'ncclCalled\tcounted-calls\tlibcalled.so\t%d\n' $n
}

# run HOW: leaves the files in $work/HOW.*, and the exit status in $code.
run() {
	code=0
	LD_AUDIT=$counter CALL_COUNTS=$work/$1 ${RUN_WITH:-} "$program" $count "$1" || code=$?
}

# expect HOW FILE TIMES
expect() {
	python3 "$here/call_counts.py" "$2" | LC_ALL=C sort >"$work/got"
	wanted "$3" | LC_ALL=C sort >"$work/wanted"
	diff "$work/wanted" "$work/got" >&2 || fail "$1: $2"
}

for how in return _exit kill; do
	run $how
	[ $code -eq $([ $how = kill ] && echo 137 || echo 0) ] || fail "$how: exit status $code"
	expect $how "$work/$how".* 1
done

# The child's calls are in a file of its own, and not in its parent's.
run fork
[ $code -eq 0 ] || fail "fork: exit status $code"
[ "$(ls "$work"/fork.* | wc -l)" -eq 2 ] || fail "fork: $(ls "$work")"
for file in "$work"/fork.*; do
	expect fork "$file" 2
done

# What the process did before exec is kept.
run exec
[ $code -eq 0 ] || fail "exec: exit status $code"
[ "$(ls "$work"/exec.* | wc -l)" -eq 2 ] || fail "exec: $(ls "$work")"
for file in "$work"/exec.*; do
	expect exec "$file" 1
done

# A process that calls none of these functions leaves no file.
LD_AUDIT=$counter CALL_COUNTS=$work/none /bin/true
! ls "$work"/none.* 2>/dev/null || fail "a file of a process that made no call"
