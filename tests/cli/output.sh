#!/bin/bash
# output.sh: names that a recording cannot have are refused before the program runs, and no recording
# disturbs another.
. "$(dirname "$0")/lib.sh"
cd "$work"

refuse() { # WANT-CODE OPTIONS...
	local want=$1 code=0
	shift
	launch record --softgpu "$@" -- touch "$work/ran" 2>"$work/err" || code=$?
	expect "exit code of record $*" $code "$want"
	[ ! -e "$work/ran" ] || fail "record $* ran the program"
}

mkfifo pipe
mkdir folder
: >there.dagtap
refuse 2 -o ""
refuse 2 -o -
refuse 1 -o no-such-folder/x.dagtap
refuse 1 -o there.dagtap
refuse 1 -f -o pipe
refuse 1 -f -o folder
refuse 1 -f -o "$(printf %300s | tr ' ' n)"
[ -p pipe ] || fail "the pipe was replaced"
rm -r pipe folder there.dagtap err

# The second one asks for the same name while the first one's program runs.
launch record --softgpu -q -o same.dagtap -- sh -c \
	"touch started; until [ -e refused ]; do sleep 0.01; done; '$examples/eager' 50 >/dev/null" &
first=$!
until [ -e started ]; do sleep 0.01; done
code=0
launch record --softgpu -f -o same.dagtap -- touch ran 2>err || code=$?
expect "exit code of the second recording" $code 1
grep -q "another recording" err || fail "not told why: $(cat err)"
touch refused
wait $first || fail "the first recording exited with $?"
[ ! -e ran ] || fail "the second recording ran its program"
expect "kernels of the first" "$(json same.dagtap summary 'd["totals"]["kernels"]')" 50

# What a killed `record` leaves behind is kept, and still read, until --force says otherwise.
LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" record --softgpu -q -o left.dagtap -- sh -c \
	"'$examples/eager' 50 >/dev/null; echo \$\$ >pid; touch done; exec sleep 30" &
recorder=$!
until [ -e done ]; do sleep 0.01; done
kill -9 $recorder
wait $recorder 2>/dev/null || :
kill "$(cat pid)"
expect "kernels in the spools" "$(json left.spool summary 'd["totals"]["kernels"]')" 50
refuse 1 -o left.dagtap
launch record --softgpu -q -f -o left.dagtap -- "$examples/eager" 7 >out
expect "kernels of the new recording" "$(json left.dagtap summary 'd["totals"]["kernels"]')" 7
