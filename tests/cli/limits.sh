#!/bin/bash
# limits.sh: each command reports what prevents it from working: a limit of file size, a working
# directory that was removed, a name that is too long, a file that expands without end. A recording
# that could not be written is refused before the program runs.
. "$(dirname "$0")/lib.sh"
cd "$work"

refuse() { # WHAT-IT-SAYS OPTIONS...
	local what=$1 code=0
	shift
	rm -f "$work/ran"
	"$dagtap" record --softgpu "$@" -- touch "$work/ran" 2>"$work/err" || code=$?
	expect "exit code of record $*" $code 1
	[ ! -e "$work/ran" ] || fail "the program ran"
	grep -q "$what" "$work/err" || fail "not told: $(cat "$work/err")"
}

# Beyond the limit the kernel sends SIGXFSZ, which dagtap ignores; the recorded program gets it as
# it does without dagtap.
launch record -q --softgpu -o some.dagtap -- "$examples/eager" 500 >out
code=0
(ulimit -f 1 && launch export --format csv -o full.csv some.dagtap) 2>err || code=$?
expect "exit code of an export that finds no room" $code 1
grep -q "full.csv: .*File too large" err || fail "not told: $(cat err)"
expect "left of it" "$(find . -name "*full.csv*" -o -name ".dagtap.*")" ""
code=0
"$dagtap" record -q -o limited.dagtap -- bash -c 'trap -p XFSZ >trapped; ulimit -f 1; kill -XFSZ $$' 2>err || code=$?
expect "exit code of a program that goes beyond the limit" $code $((128 + 25))
expect "what the program ignores" "$(cat trapped)" ""
code=0
(ulimit -f 300 && launch record -q --softgpu -o spools.dagtap --keep-spool -- true) || code=$?
expect "exit code under a limit that is not met" $code 0

# The working directory was removed: an error, unless the recording has an absolute name.
mkdir gone
(cd gone && rmdir ../gone && refuse "working directory" -o x.dagtap && ! grep -q "out of memory" "$work/err")
mkdir gone
(cd gone && rmdir ../gone && launch record -q --softgpu -o "$work/full.dagtap" -- "$examples/eager" 5 >"$work/out") ||
	fail "a full name does not help in a working directory that is gone"
expect_closed full.dagtap

# A name that fits before the program runs fits afterwards.
refuse "too long" -o "$(printf %256s | tr ' ' n)"
refuse "too long" -o "$(printf %249s | tr ' ' n).dagtap"
deep=$(printf %200s | tr ' ' d)
long=$work/$deep
while [ $((${#long} + ${#deep})) -lt 3950 ]; do long+=/$deep; done
mkdir -p "$work/$deep"
refuse "too long" -o "$long/$(printf %$((4090 - ${#long}))s | tr ' ' n)"
name=$(printf %247s | tr ' ' n).dagtap
launch record -q --softgpu -o "$name" -- "$examples/eager" 5 >out || fail "a name of 254 characters is not taken"
expect_closed "$name"

# 300 MB of blanks, in 300 KB.
python3 -c 'import gzip, sys
with gzip.open(sys.argv[1], "wb", 9) as out:
    out.write(b"{\"traceEvents\": [")
    for i in range(300):
        out.write(b" " * 1000000)
    out.write(b"]}")' bomb.json.gz
code=0
(ulimit -v 400000 && exec "$dagtap" summary bomb.json.gz) >out 2>err || code=$?
expect "exit code of a file that inflates without end" $code 1
grep -q "bomb.json.gz: .*times its size" err || fail "not told: $(cat err)"
