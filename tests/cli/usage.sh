#!/bin/bash
# usage.sh: exit codes: 2 for wrong usage, the program's own through record, 128 + N for a signal.
. "$(dirname "$0")/lib.sh"

expect_code() { # WANT ARGS...
	local want=$1 code=0
	shift
	launch "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
	expect "exit code of dagtap $*" $code "$want"
}

expect_code 2
expect_code 2 no-such-command
expect_code 2 summary
expect_code 2 summary --no-such-option x.dagtap
expect_code 2 export --format no-such-format -o "$work/x" x.dagtap
expect_code 2 record

# Numbers are whole ones, windows one at a time, outputs one at a time; and it says what is wrong.
expect_told() { # WHAT WANT ARGS...
	local what=$1
	shift
	expect_code "$@"
	grep -qF -- "$what" "$work/err" || fail "dagtap ${*:2} does not say \"$what\": $(cat "$work/err")"
}
for text in abc -1 1x "" 4294967296; do
	for command in summary graph path "diff x.dagtap"; do
		expect_told "--limit takes a number" 2 $command --limit "$text" x.dagtap
	done
done
expect_told "--graph takes a number" 2 graph --graph all x.dagtap
expect_told "--json or --dot" 2 graph --json --dot x.dagtap
expect_told "--step takes a number" 2 path --step x x.dagtap
expect_told "--replay takes GRAPH:N" 2 path --replay 1 x.dagtap
expect_told "--from takes ns or a number with ns, us, ms or s" 2 path --from x x.dagtap
expect_told "one of --scope, --step, --replay" 2 path --scope a --step 1 x.dagtap
for size in much 0 -1 64X 64M,30s; do
	expect_told "--ready $size: not a size" 2 record --ready "$size" -o "$work/x" -- true
done
expect_told "dagtap softgpu --help lists the keys" 2 record --softgpu=gpus=999 -o "$work/x" -- true
expect_told "dagtap softgpu --help lists the keys" 2 softgpu=colour=red -- true

# A file that is no trace is refused; the message names it and the formats that are read.
printf '\377\330\377\340 no trace' >"$work/picture.jpg"
expect_told "picture.jpg: offset 0: neither a .dagtap nor" 1 summary "$work/picture.jpg"
expect_told "dagtap --help" 1 summary "$work/picture.jpg"

# A graph that is not there; an export onto the recording itself, forced or not, which would be
# gone.
launch record -q --softgpu -o "$work/graph.dagtap" -- "$examples/graph-bubbles" 100 1 >/dev/null || fail "record"
expect_told "no graph 99" 1 graph --graph 99 "$work/graph.dagtap"
expect_code 0 graph --graph 1 --limit 1 "$work/graph.dagtap"
ln "$work/graph.dagtap" "$work/link.dagtap"
for out in graph.dagtap link.dagtap; do
	expect_told "is the input" 1 export -f --format csv -o "$work/$out" "$work/graph.dagtap"
	expect_code 0 check "$work/graph.dagtap"
done

# A folder without spools is refused; where there are recordings in it, one of them is named.
mkdir "$work/empty" "$work/one" "$work/several"
cp "$work/graph.dagtap" "$work/one/r0.dagtap"
cp "$work/graph.dagtap" "$work/several/r0.dagtap"
cp "$work/graph.dagtap" "$work/several/r1.dagtap"
expect_told "empty: no spools in this folder" 1 summary "$work/empty"
expect_told "one: no spools in this folder; give its recording r0.dagtap" 1 summary "$work/one"
expect_told "several: no spools in this folder; give one of its 2 recordings, as r0.dagtap, or merge those of a job's ranks with dagtap merge" \
	1 summary "$work/several"

# A failed write names the file, and leaves no part of it.
code=0
launch export --format csv -o - "$work/graph.dagtap" 2>"$work/err" >/dev/full || code=$?
expect "exit code of an export to a full device" $code 1
grep -q "^dagtap: standard output: .*No space left" "$work/err" || fail "not told where: $(cat "$work/err")"
code=0
(trap '' XFSZ && ulimit -f 1 && launch export --format csv -o "$work/full.csv" "$work/graph.dagtap") 2>"$work/err" || code=$?
expect "exit code of an export that finds no room" $code 1
grep -q "full.csv: .*File too large" "$work/err" || fail "not told which file: $(cat "$work/err")"
expect "left of it" "$(find "$work" -name "*full.csv*")" ""

expect_code 0 --help
expect_code 0 --version
expect_code 0 info
expect_code 0 record -o "$work/a.dagtap" -- true
expect_code 1 record -o "$work/a.dagtap" -- false
expect_code 1 record -o "$work/a.dagtap" -- "$work/no-such-program"
expect_told "dagtap info says what can be recorded here" 0 record -f -o "$work/a.dagtap" -- true
expect_code 137 record -o "$work/a.dagtap" -- sh -c 'kill -9 $$'
expect_code 0 softgpu -- "$examples/eager" 10
expect "untraced on the software GPU" "$(cat "$work/out")" "kernels launched: 10"

# With its standard descriptors closed a command writes its file, the file is whole, and the program
# finds them closed too.
launch record --softgpu -o "$work/closed.dagtap" -- sh -c "'$examples/eager' 10; ls /proc/self/fd >'$work/fds'" \
	<&- >&- 2>&- || fail "record without standard descriptors exited with $?"
"$dagtap" check "$work/closed.dagtap" >/dev/null || fail "a recording without standard descriptors is damaged"
sh -c "ls /proc/self/fd >'$work/bare'" <&- >&- 2>&-
expect "descriptors of the program" "$(cat "$work/fds")" "$(cat "$work/bare")"
