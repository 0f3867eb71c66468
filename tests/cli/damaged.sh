#!/bin/bash
# damaged.sh: every reading command, on every kind of damage: one clear line, exit 1 or 3, no crash,
# and no output file left behind.
. "$(dirname "$0")/lib.sh"

keep=--keep-spool record good "kernel_ns=0," "$examples/graph-bubbles" 500 20
good=$work/good.dagtap
size=$(stat -c %s "$good")

flip() { # OFFSET NAME
	python3 "$here/spool.py" flip "$good" "$work/$2" "$1"
}

attempt() { # COMMAND FILE: the command's exit code, its one line in $work/error
	local code=0
	case $1 in
	export:*) "$dagtap" export --format "${1#export:}" -o "$work/exported" "$2" ;;
	*) "$dagtap" "$1" "$2" ;;
	esac >"$work/output" 2>"$work/error" || code=$?
	echo $code
}

expect_refused() { # FILE
	local command code
	for command in summary check graph info export:csv export:perfetto; do
		code=$(attempt "$command" "$1")
		[ "$code" -eq 1 ] || [ "$code" -eq 3 ] || fail "$command $1: exit $code: $(cat "$work/error")"
		expect "lines on stderr of $command ${1##*/}" "$(wc -l <"$work/error")" 1
		grep -q "${1##*/}" "$work/error" || fail "$command does not name the file: $(cat "$work/error")"
		[ ! -e "$work/exported" ] || fail "$command ${1##*/} left an output file"
	done
}

# In the header, the index, the META section and the end of the packed one.
for offset in 0 9 20 70 $((size - 200)) $((size - 10)); do
	flip "$offset" "flipped-$offset"
	expect_refused "$work/flipped-$offset"
done
for bytes in 1 63 64 100 4096 $((size / 2)) $((size - 1)); do
	head -c "$bytes" "$good" >"$work/cut-$bytes"
	expect_refused "$work/cut-$bytes"
done
: >"$work/empty"
expect_refused "$work/empty"
yes "this is not a trace" | head -n 200 >"$work/text"
expect_refused "$work/text"
python3 -c 'import random, sys
sys.stdout.buffer.write(random.Random(int(sys.argv[1])).randbytes(100000))' "${DAGTAP_TEST_SEED:-1}" >"$work/noise"
expect_refused "$work/noise"
expect_refused "$work/absent"
mkdir "$work/no-spools"
expect_refused "$work/no-spools"

expect_partly_read() { # FILE: some of it can be read, and check says what is missing
	local command code
	code=$(attempt check "$1")
	[ "$code" -eq 1 ] || [ "$code" -eq 3 ] || fail "check of ${1##*/}: exit $code"
	for command in summary graph info export:csv export:perfetto; do
		code=$(attempt "$command" "$1")
		[ "$code" -lt 4 ] || fail "$command of ${1##*/}: exit $code"
		rm -rf "$work/exported"
	done
}

# In a packed block.
for offset in $((size / 3)) $((size / 2)); do
	flip "$offset" "flipped-$offset"
	expect_partly_read "$work/flipped-$offset"
	"$dagtap" check "$work/flipped-$offset" >"$work/output" 2>&1 || true
	grep -q "block does not match its checksum" "$work/output" ||
		fail "check does not tell of the damaged block: $(cat "$work/output")"
done

expect_closed "$work/good.spool"
python3 "$here/spool.py" drop "$work/good.spool" "$work/gap.spool"
expect_partly_read "$work/gap.spool"

# A spool that cannot be read is kept as it is, beside those that can.
code=0
launch record --softgpu -o "$work/mixed.dagtap" -- bash -c "\"$examples/eager\" 100
	echo broken >\$(dirname \$(ls $work/mixed.spool/*.spool))/1.2.spool" >"$work/mixed.out" || code=$?
expect "record of a program that leaves a broken spool" "$code" 1
grep -q "kernels" "$work/mixed.out"
code=$(attempt check "$work/mixed.dagtap")
expect "check of a recording with a broken spool" "$code" 3
grep -q "not a spool file" "$work/output" "$work/error" || fail "the broken spool is not told"
expect "kernels beside the broken spool" "$(json "$work/mixed.dagtap" summary 'd["totals"]["kernels"]')" 100

# A recording that cannot be given its name: the spools stay, and every command reads them.
code=0
launch record --softgpu -o "$work/taken.dagtap" -- bash -c "\"$examples/eager\" 100; echo mine >$work/taken.dagtap" \
	>"$work/taken.out" 2>"$work/error" || code=$?
expect "record beside a file that appeared" "$code" 1
grep -q "the spools stay in $work/taken.spool" "$work/error" || fail "not told where the spools are: $(cat "$work/error")"
expect "the file that appeared" "$(cat "$work/taken.dagtap")" mine
expect "kernels in the spools that stayed" "$(json "$work/taken.spool" summary 'd["totals"]["kernels"]')" 100
