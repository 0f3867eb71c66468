#!/bin/bash
# unrecorded.sh: a process that used a GPU and is not recorded is named, with the reason, by record
# and by check; record ends with 1 then, unless the program itself failed.
. "$(dirname "$0")/lib.sh"
cd "$work"
leaves=$BUILD_DIR/tests/leaves
# Shells and Python are started here, too, and leak.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

run() { # WANT-CODE NAME PROGRAM...: its output in NAME.out, what record says in NAME.err
	local want=$1 name=$2 code=0
	shift 2
	launch record --softgpu -o "$name.dagtap" -- "$@" >"$name.out" 2>"$name.err" || code=$?
	expect "exit code of record $* ($(cat "$name.err"))" $code "$want"
}

expect_named() { # NAME PATTERN
	grep -q "^dagtap: process [0-9]* (.*) was not recorded: .*$2" "$1.err" || fail "not named: $(cat "$1.err")"
	! grep -q "used no GPU" "$1.err" || fail "told that no GPU was used: $(cat "$1.err")"
}

# Changes to its own environment make no difference: the folder was determined when it began.
mkdir other
for how in "setenv other" unsetenv; do
	run 0 own "$leaves" $how
	expect "dispatches of a program that does $how" "$(json own.dagtap check 'd["sources"][[s["name"] for s in d["sources"]].index("hsa.dispatch")]["received"]')" 1
	expect_closed own.dagtap
	rm own.dagtap
done
expect "spools in the other folder" "$(ls other)" ""

# What it starts with another environment is traced, and would record elsewhere, or nowhere.
run 1 unset env -u DAGTAP_SPOOL "$leaves" nothing
expect_named unset "DAGTAP_SPOOL"
expect "what it printed" "$(cat unset.out)" launched
[ ! -e unset.spool ] && [ ! -e unset.dagtap ] || fail "something was left"
run 1 elsewhere env DAGTAP_SPOOL="$work/other" "$leaves" nothing
expect_named elsewhere "$work/other"
expect "spools in the other folder" "$(ls other | wc -l)" 1
run 0 unused env -u DAGTAP_SPOOL sh -c :
grep -q "used no GPU" unused.err || fail "not told that no GPU was used: $(cat unused.err)"

# The program's own code comes first.
run 7 failed sh -c "env -u DAGTAP_SPOOL '$leaves' nothing; exit 7"
expect_named failed "DAGTAP_SPOOL"

# Each process once, and beside others that are recorded; check says it of the file.
run 1 beside sh -c "'$leaves' nothing
	for i in 1 2 3; do env -u DAGTAP_SPOOL '$leaves' nothing; done"
expect "processes that were named" "$(grep -c "was not recorded" beside.err)" 3
code=0
"$dagtap" check beside.dagtap >check 2>err || code=$?
expect "exit code of check" $code 3
expect "processes that check names" "$(grep -c "process [0-9]* (leaves) was not recorded" check)" 3

# The greatest number of processes at once: each of their messages arrives.
run 1 many sh -c "for i in \$(seq 24); do env -u DAGTAP_SPOOL '$leaves' nothing & done; wait"
expect "processes that were named of 24 at once" "$(grep -c "was not recorded" many.err)" 24

# Messages that the tracer did not send are ignored.
run 0 forged python3 -c 'import os, socket
text = os.environ["DAGTAP_RECORDER"]
name = text.split(".")[0]
box = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for size in (0, 1, 16, 100, 300, 5000):
    box.sendto(b"x" * size, "\0dagtap." + name)'
! grep -q "was not recorded" forged.err || fail "a forged word was believed: $(cat forged.err)"

[ "$(id -u)" = 0 ] || exit 0
run 1 user env TMPDIR=/tmp "$leaves" setuid 12345 # who may not write to ours, as HIP does
expect_named user "Permission denied"
grep -q "user 12345" user.err || fail "the user is not named: $(cat user.err)"
expect "what it printed" "$(cat user.out)" launched
