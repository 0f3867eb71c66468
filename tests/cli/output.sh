#!/bin/bash
# output.sh: names that a recording cannot have are refused before the program runs, and no
# recording disturbs another.
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
mkfifo started refused
launch record --softgpu -q -o same.dagtap -- sh -c \
	": >started; : <refused; '$examples/eager' 50 >/dev/null" &
first=$!
: <started
code=0
launch record --softgpu -f -o same.dagtap -- touch ran 2>err || code=$?
expect "exit code of the second recording" $code 1
grep -q "another recording" err || fail "not told why: $(cat err)"
: >refused
wait $first || fail "the first recording exited with $?"
[ ! -e ran ] || fail "the second recording ran its program"
expect "kernels of the first" "$(json same.dagtap summary 'd["totals"]["kernels"]')" 50

# The parent process may ignore SIGCHLD: `record` waits for the program all the same, and makes a
# recording.
code=0
python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.environ["LD_PRELOAD"] = sys.argv[1]
os.execv(sys.argv[2], sys.argv[2:])' "${SANITIZER_RUNTIME:-}" "$dagtap" record --softgpu -q -o ignored.dagtap -- sh -c \
	"'$examples/eager' 50 >/dev/null; exit 5" || code=$?
expect "exit code with SIGCHLD ignored" $code 5
expect "kernels with SIGCHLD ignored" "$(json ignored.dagtap summary 'd["totals"]["kernels"]')" 50

# What a killed `record` leaves behind is kept, and still read, until --force says otherwise. Its
# program runs until we end it, or end.
mkfifo pid end
exec 9<>end
LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" record --softgpu -q -o left.dagtap -- sh -c \
	"'$examples/eager' 50 >/dev/null; echo \$\$ >pid; exec cat end" 9>&- &
recorder=$!
read -r pid <pid
kill -9 $recorder
wait $recorder 2>/dev/null || :
kill "$pid"
expect "kernels in the spools" "$(json left.spool summary 'd["totals"]["kernels"]')" 50
refuse 1 -o left.dagtap
launch record --softgpu -q -f -o left.dagtap -- "$examples/eager" 7 >out
expect "kernels of the new recording" "$(json left.dagtap summary 'd["totals"]["kernels"]')" 7

# --force removes spools only. If the folder has any other file, nothing is removed, nothing runs,
# and a message says why.
mkdir left.spool
: >left.spool/mine
refuse 1 -f -o left.dagtap
grep -q "other files" err || fail "not told why: $(cat err)"
[ -e left.spool/mine ] || fail "somebody else's file was removed"
rm -r left.spool

# The folder is removed while the program runs.
mkdir gone
launch record --softgpu -q -o gone/x.dagtap -- sh -c "'$examples/eager' 50 >/dev/null; rm -r gone" 2>err && fail "nothing was said"
grep -q "was removed" err || fail "not told: $(cat err)"
! grep -q "the spools stay" err || fail "nothing stays: $(cat err)"

# A ring in memory is not lost with the link to it.
mkdir gone
launch record --softgpu --ring 4M -q -o gone/x.dagtap -- sh -c "'$examples/eager' 50 >/dev/null; readlink gone/x.spool >link; rm -r gone" 2>err &&
	fail "nothing was said"
if [ -s link ]; then
	grep -q "the spools stay in $(cat link)" err || fail "not told: $(cat err)"
	expect "kernels in the ring" "$(json "$(cat link)" summary 'd["totals"]["kernels"]')" 50
	rm -r "$(cat link)"
fi

# The loader takes a space for the end of a library's name.
mkdir "with space"
cp -r "$BUILD_DIR/bin" "$BUILD_DIR/lib" "with space"
code=0
LD_PRELOAD=${SANITIZER_RUNTIME:-} "with space/bin/dagtap" record --softgpu -q -o space.dagtap -- touch ran 2>err || code=$?
expect "exit code under a name with a space" $code 1
grep -q "with space.*space or a colon" err || fail "not told why: $(cat err)"
[ ! -e ran ] && [ ! -e space.spool ] || fail "the program ran"
