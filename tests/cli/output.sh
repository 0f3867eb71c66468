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
grep -q "^dagtap: no-such-folder/x.dagtap: No such file" err || fail "another file is named: $(cat err)"
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
for force in -f ""; do
	refuse 1 $force -o same.dagtap
	grep -q "same.spool: another recording still writes there" err || fail "not told why: $(cat err)"
	grep -q -- --force err && fail "--force is of no use: $(cat err)"
done
: >refused
wait $first || fail "the first recording exited with $?"
expect "kernels of the first" "$(json same.dagtap summary 'd["totals"]["kernels"]')" 50

# Once the program records it is named: beside an earlier file of that name, and when its dagtap was
# killed. It ends with its input.
coproc recorder {
	LD_PRELOAD=${SANITIZER_RUNTIME:-} exec "$dagtap" record --softgpu -q -f -o same.dagtap -- "$BUILD_DIR/tests/obedient"
}
exec 7<&"${recorder[0]}" 8>&"${recorder[1]}" {recorder[1]}>&-
read -r _ pid <&7
echo "launch 3" >&8
read -r _ <&7
for moment in recording killed; do
	for force in -f ""; do
		refuse 1 $force -o same.dagtap 7<&- 8>&-
		grep -q "same.spool: process $pid of another recording still writes there" err ||
			fail "not told which process ($moment): $(cat err)"
		grep -q -- --force err && fail "--force is of no use: $(cat err)"
	done
	[ $moment = killed ] || kill -9 "$recorder_PID"
done
exec 8>&-
cat <&7 >rest
expect "kernels of the killed recording" "$(json same.spool summary 'd["totals"]["kernels"]')" 3
refuse 1 -o same.dagtap
grep -q "same.dagtap: exists already; --force replaces it" err || fail "not told: $(cat err)"
rm same.dagtap
refuse 1 -o same.dagtap
grep -q "same.spool: exists already .*--force replaces it" err || fail "not told: $(cat err)"

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
