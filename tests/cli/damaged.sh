#!/bin/bash
# damaged.sh: every reading command, on every kind of damage: one clear line, exit 1 or 3, no crash, and no
# output file left behind.
. "$(dirname "$0")/lib.sh"

record good "kernel_ns=0," "$examples/graph-bubbles" 500 20
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

for offset in 0 9 20 70 $((size / 3)) $((size / 2)) $((size - 10)); do
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
head -c 100000 /dev/urandom >"$work/noise"
expect_refused "$work/noise"
expect_refused "$work/absent"
mkdir "$work/no-spools"
expect_refused "$work/no-spools"

python3 "$here/spool.py" extract "$good" "$work/whole.spool"
expect_closed "$work/whole.spool"
python3 "$here/spool.py" drop "$work/whole.spool" "$work/gap.spool"
code=$(attempt check "$work/gap.spool")
[ "$code" -eq 1 ] || [ "$code" -eq 3 ] || fail "check of a spool without one chunk: exit $code"
for command in summary graph info export:csv export:perfetto; do
	code=$(attempt "$command" "$work/gap.spool")
	[ "$code" -lt 4 ] || fail "$command of a spool without one chunk: exit $code"
	rm -rf "$work/exported"
done
