#!/bin/bash
# earlier.sh: record --force removes the spools of an earlier recording only when the program can be
# run and the options are accepted.
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

# keep_spools WANT-CODE MESSAGE OPTIONS... -- PROGRAM...: the recording is refused, and every
# command still reads the spools.
keep_spools() {
	local want=$1 message=$2
	shift 2
	run "$want" "$@"
	grep -q -- "$message" err || fail "record -f $* does not say \"$message\": $(cat err)"
	expect "kernels in the spools" "$(json left.spool summary 'd["totals"]["kernels"]')" 20
	expect "files after record -f $*" "$(echo left.*)" left.spool
}

plant
mkdir folder bin
: >plain
: >bin/plain
keep_spools 1 "^dagtap: ./nosuch: cannot be run: No such file" -o left.dagtap -- ./nosuch
keep_spools 1 "^dagtap: plain/x: cannot be run: Not a directory" -o left.dagtap -- plain/x
keep_spools 1 "^dagtap: no-such-program: cannot be run: No such file" -o left.dagtap -- no-such-program
keep_spools 1 "^dagtap: : cannot be run: No such file" -o left.dagtap -- ""
keep_spools 1 "^dagtap: ./plain: cannot be run: Permission denied" -o left.dagtap -- ./plain
keep_spools 1 "^dagtap: ./folder: cannot be run: Permission denied" -o left.dagtap -- ./folder
PATH=$work/plain:$work/bin:$PATH keep_spools 1 "^dagtap: plain: cannot be run: Permission denied" \
	-o left.dagtap -- plain
PATH=$PATH:$work keep_spools 1 "^dagtap: folder: cannot be run: Permission denied" -o left.dagtap -- folder
keep_spools 1 "./nosuch: cannot be run" --ring 4M -o left.dagtap -- ./nosuch
keep_spools 1 "./nosuch: cannot be run" --stats -o left.dagstats -- ./nosuch
: >socket
keep_spools 1 "^dagtap: --metrics unix:socket: Address already in use" --stats --metrics unix:socket \
	-o left.dagstats -- "$examples/eager" 20
keep_spools 2 "dagtap softgpu --help lists the keys" --softgpu=gpus=999 -o left.dagtap -- true
keep_spools 2 "" --no-such-option -o left.dagtap -- true

# Without --force nothing is left of a recording that is refused.
code=0
launch record -o none.dagtap -- ./nosuch 2>err || code=$?
expect "exit code without --force" $code 1
expect "files without --force" "$(echo none.*)" "none.*"

# Statistics that have begun when the folder of spools is refused leave nothing.
code=0
launch record --stats --metrics unix:door -o left.dagstats -- true 2>err || code=$?
expect "exit code beside earlier spools" $code 1
grep -q "^dagtap: .*/left.spool: exists already" err || fail "the spools are not told: $(cat err)"
expect "lines beside earlier spools" "$(wc -l <err)" 1
expect "files beside earlier spools" "$(echo left.* door*)" "left.spool door*"

# A file that may not be run does not hide a later one in PATH. A new recording replaces the spools.
cp "$examples/eager" folder/plain
PATH=$work/bin:$work/folder:$PATH run 0 -o left.dagtap -- plain 7
expect "kernels of the new recording" "$(json left.dagtap summary 'd["totals"]["kernels"]')" 7
expect "files after the new recording" "$(echo left.*)" left.dagtap
plant
run 0 --keep-spool -o left.dagtap -- "$examples/eager" 7
expect "kernels of the spools that are kept" "$(json left.spool summary 'd["totals"]["kernels"]')" 7
expect "files after --keep-spool" "$(echo left.*)" "left.dagtap left.spool"
plant
run 0 --stats -o left.dagstats -- "$examples/eager" 7
expect "files after statistics" "$(echo left.*)" left.dagstats

# The spools of a recording whose dagtap was killed, in memory: both the link and the folder go.
mkfifo pid end
exec 9<>end
LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" record --softgpu -q --ring 4M -o ring.dagtap -- sh -c \
	"'$examples/eager' 20; echo \$\$ >pid; exec cat end" 9>&- >out &
recorder=$!
read -r pid <pid
kill -9 $recorder
wait $recorder 2>/dev/null || :
kill "$pid"
if [ -L ring.spool ]; then
	folder=$(readlink ring.spool)
	run 1 -o ring.dagtap -- ./nosuch
	expect "kernels of the ring" "$(json ring.spool summary 'd["totals"]["kernels"]')" 20
	run 0 --ring 4M -o ring.dagtap -- "$examples/eager" 7
	expect "files after a ring" "$(echo ring.*)" ring.dagtap
	[ ! -e "$folder" ] || fail "the earlier ring is left in memory"
fi
