#!/bin/bash
# earlier.sh: record --force removes the spools of an earlier recording only when there is a new
# one, and puts them back when nothing was recorded.
. "$(dirname "$0")/lib.sh"
cd "$work"

keep=--keep-spool record good "" "$examples/eager" 20

plant() { # the spools of an earlier recording, with 20 kernels
	rm -rf left.*
	cp -r good.spool left.spool
}

run() { # WANT-CODE OPTIONS... -- PROGRAM...
	local want=$1 code=0
	shift
	launch record --softgpu -f "$@" >out 2>err || code=$?
	expect "exit code of record -f $* ($(cat err))" $code "$want"
}

# The spools are under their name, and nothing else is left.
expect_back() { # WHAT
	expect "kernels in the spools, $1" "$(json left.spool summary 'd["totals"]["kernels"]')" 20
	expect "files, $1" "$(echo left.*)" left.spool
}

plant
run 1 -o left.dagtap -- ./nosuch
grep -q "./nosuch: cannot be run" err || fail "not told: $(cat err)"
expect_back "no such program"
: >unexecutable
run 1 -o left.dagtap -- ./unexecutable
expect_back "a program that may not be run"
run 2 --softgpu=gpus=999 -o left.dagtap -- true
expect_back "a configuration that is refused"
run 1 --ring 4M -o left.dagtap -- ./nosuch
expect_back "a ring"
run 1 --stats -o left.dagstats -- ./nosuch
expect_back "statistics"
run 0 -o left.dagtap -- true
expect_back "a program without a GPU"
run 0 --keep-spool -o left.dagtap -- true
expect_back "a program without a GPU, whose spools are kept"
run 0 --stats -o left.dagstats -- true
expect_back "statistics of a program without a GPU"
run 1 -o left.dagtap -- sh -c "'$examples/eager' 7; rm -r left.spool"
expect_back "the new folder was removed"

# Meanwhile they can be read. A new recording replaces them.
run 0 -o left.dagtap -- sh -c "'$dagtap' summary --json left.spool.earlier >meanwhile; '$examples/eager' 7"
expect "kernels meanwhile" "$(python3 -c 'import json; print(json.load(open("meanwhile"))["totals"]["kernels"])')" 20
expect "kernels of the new recording" "$(json left.dagtap summary 'd["totals"]["kernels"]')" 7
expect "files behind a recording" "$(echo left.*)" left.dagtap
plant
run 0 --keep-spool -o left.dagtap -- "$examples/eager" 7
expect "kernels of the spools that are kept" "$(json left.spool summary 'd["totals"]["kernels"]')" 7
expect "files behind a recording with its spools" "$(echo left.*)" "left.dagtap left.spool"
plant
run 0 --stats -o left.dagstats -- "$examples/eager" 7
expect "files behind statistics" "$(echo left.*)" left.dagstats

# A folder without spools is not put back.
rm -rf left.*
mkdir left.spool
run 1 -o left.dagtap -- ./nosuch
expect "files behind an empty folder" "$(echo left.*)" "left.*"

# kill_recorder COMMAND: kills dagtap record when the program has done COMMAND, then the program.
mkfifo pid end
exec 9<>end
kill_recorder() {
	local recorder pid
	LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" record --softgpu -q -f ${ring:-} -o left.dagtap -- sh -c \
		"$1; echo \$\$ >pid; exec cat end" 9>&- >out &
	recorder=$!
	read -r pid <pid
	kill -9 $recorder
	wait $recorder 2>/dev/null || :
	kill "$pid"
}

# A killed recording leaves its own spools and the earlier ones, and both are read; the next one
# replaces its own. Without spools of its own the earlier ones are still those to be replaced.
plant
kill_recorder "'$examples/eager' 5"
expect "kernels of the killed recording" "$(json left.spool summary 'd["totals"]["kernels"]')" 5
expect "kernels of the one before" "$(json left.spool.earlier summary 'd["totals"]["kernels"]')" 20
run 1 -o left.dagtap -- ./nosuch
expect "kernels of the killed recording, put back" "$(json left.spool summary 'd["totals"]["kernels"]')" 5
expect "files" "$(echo left.*)" left.spool
plant
kill_recorder true
[ -d left.spool.earlier ] || fail "the spools were not set aside"
run 1 -o left.dagtap -- ./nosuch
expect_back "a recording was killed before it had spools"
kill_recorder "rmdir left.spool"
run 1 -o left.dagtap -- ./nosuch
expect_back "a recording was killed, and has no folder"
kill_recorder true
run 0 -o left.dagtap -- "$examples/eager" 7
expect "files behind a recording after a killed one" "$(echo left.*)" left.dagtap

# What is not ours is not touched there either.
plant
cp -r good.spool left.spool.earlier
echo mine >left.spool.earlier/mine
run 1 -o left.dagtap -- "$examples/eager" 7
grep -q "left.spool.earlier: there are other files" err || fail "not told: $(cat err)"
expect "files beside one of somebody else" "$(echo left.* left.spool.earlier/mine)" \
	"left.spool left.spool.earlier left.spool.earlier/mine"

# A ring in memory is set aside with its link.
rm -rf left.*
ring="--ring 4M" kill_recorder "'$examples/eager' 20"
if [ -L left.spool ]; then
	folder=$(readlink left.spool)
	run 1 -o left.dagtap -- ./nosuch
	expect_back "a ring in memory"
	expect "the link" "$(readlink left.spool)" "$folder"
	run 0 --ring 4M -o left.dagtap -- "$examples/eager" 7
	expect "files behind a ring" "$(echo left.*)" left.dagtap
	[ ! -e "$folder" ] || fail "the earlier ring is left in memory"
fi
