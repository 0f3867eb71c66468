#!/bin/bash
# truncated.sh: a spool that was truncated is damage: record says so and ends with 1, check ends
# with 3, wherever it was cut and whatever other spools there are; no command calls such a recording
# complete.
. "$(dirname "$0")/lib.sh"
cd "$work"

# The program cuts its own spool once it is closed.
run() { # WANT-CODE NAME BYTES PROGRAM...
	local want=$1 name=$2 bytes=$3 code=0
	shift 3
	launch record --softgpu -o "$name.dagtap" -- bash -c '"${@:3}" >/dev/null; truncate -s "$2" "$1".spool/*.spool' \
		- "$name" "$bytes" "$@" 2>"$name.err" || code=$?
	expect "exit code of record, cut at $bytes ($(cat "$name.err"))" $code "$want"
}

expect_damaged() { # FILE
	local code=0
	"$dagtap" check "$1" >check.out 2>check.err || code=$?
	expect "exit code of check $1 ($(cat check.err))" $code 3
	grep -q "^damage: " check.out || fail "check does not tell the damage: $(cat check.out)"
	! grep -q "^ok\|recording complete" check.out || fail "check of $1: $(tail -1 check.out)"
}

keep=--keep-spool record good "" "$examples/eager" 2000
for bytes in 0 7 4096 $((655360 - 1)) 655360 -1; do # the last: all but one byte
	rm -rf cut.* only
	run 1 cut "$bytes" "$examples/eager" 2000
	grep -q "cut.dagtap: .*damaged" cut.err || fail "record does not say damaged: $(cat cut.err)"
	! grep -q complete cut.err || fail "record calls it complete: $(cat cut.err)"
	expect_damaged cut.dagtap
	mkdir only
	cp good.spool/*.spool only/1.1.spool
	truncate -s "$bytes" only/1.1.spool
	expect_damaged only
	[ "$bytes" -ge 0 ] && [ "$bytes" -lt 8 ] || expect_damaged only/1.1.spool
done

# Beside one that is whole, which is read all the same.
launch record --softgpu -o both.dagtap -- bash -c '"$1/eager" 20 >/dev/null; truncate -s 4096 both.spool/*.spool; "$1/eager" 30 >/dev/null' \
	- "$examples" 2>both.err && fail "record of a cut spool beside a whole one ended with 0"
expect_damaged both.dagtap
expect "kernels beside the cut spool" "$(json both.dagtap summary 'd["totals"]["kernels"]')" 30

# The program's own code comes first.
code=0
launch record --softgpu -q -o own.dagtap -- bash -c '"$1/eager" 20 >/dev/null; truncate -s 4096 own.spool/*.spool; exit 9' - "$examples" || code=$?
expect "exit code of a program with a cut spool" $code 9
expect_damaged own.dagtap
