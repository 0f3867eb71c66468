#!/bin/bash
# processes.sh: a fork and an exec in one recording: both processes are in it, each with its own kernels; and
# a program that uses no GPU runs as without the tool and leaves nothing behind.
. "$(dirname "$0")/lib.sh"

record run "" "$examples/fork-exec" 200
expect "kernels" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" "$(launched run)"
expect "kernels that reached the device" "$(reached_device run)" "$(launched run)"
expect_closed "$work/run.dagtap"

mkdir "$work/bare"
cd "$work/bare"
code=0
launch record --softgpu -o nothing.dagtap -- sh -c 'echo out; echo err >&2; exit 7' \
	>"$work/out" 2>"$work/err" || code=$?
expect "exit code" $code 7
expect "stdout" "$(cat "$work/out")" out
expect "first line of stderr" "$(head -n 1 "$work/err")" err
expect "files left" "$(ls -A)" ""

# What a process that outlives the program records stays in the folder of spools; the rest is gathered.
cd "$work"
launch record --softgpu -o left.dagtap -- sh -c "
	'$examples/eager' 50 >/dev/null
	'$examples/counted' page 100000000 >/dev/null 2>&1 &
	until [ \"\$(od -An -t u8 -N 8 page 2>/dev/null | tr -d ' 0')\" ]; do sleep 0.01; done" 2>"$work/err"
grep -q "left processes running (1 recording)" "$work/err" || fail "not told: $(cat "$work/err")"
expect "kernels that were gathered" "$(json left.dagtap summary 'd["totals"]["kernels"]')" 50
expect_closed left.dagtap
kill -9 "$(od -An -t u8 -N 8 page | tr -d ' ')"
returned=$(od -An -t u8 -j 16 -N 8 page | tr -d ' ')
all=$(json left.spool summary 'd["totals"]["kernels"]')
[ "$all" -ge "$returned" ] || fail "$returned launches returned, $all kernels in the folder"

# One that has not used a GPU yet finds the folder still there. It does not stay for ever if nobody lets it go.
launch record --softgpu -o late.dagtap -- sh -c \
	"(for i in \$(seq 6000); do [ ! -e go ] || break; sleep 0.01; done; '$examples/eager' 50 >/dev/null; touch late) &" 2>"$work/err"
[ ! -e late.dagtap ] || fail "a recording of nothing"
touch go
until [ -e late ]; do sleep 0.01; done
expect "kernels of a late process" "$(json late.spool summary 'd["totals"]["kernels"]')" 50

# One that ends in time is waited for: it is stopped until the program is gone. Where it gets too little CPU to end in
# time then, once more.
record_soon() {
	local pid
	rm -rf page2 soon.dagtap soon.spool
	launch record --softgpu=kernel_ns=100000 -q -o soon.dagtap -- sh -c "
		'$examples/counted' page2 2000 >/dev/null &
		until [ \"\$(od -An -t u8 -N 8 page2 2>/dev/null | tr -d ' 0')\" ]; do sleep 0.01; done
		kill -STOP \$!
		(while kill -0 \$\$ 2>/dev/null; do sleep 0.01; done; kill -CONT \$!) &" \
		>"$work/out" 2>&1 || fail "record exited with $?: $(cat "$work/out")"
	pid=$(od -An -t u8 -N 8 page2 | tr -d ' ')
	# Not for ever: of an orphan that nobody waits for the number stays.
	for ((n = 0; n < 500; n++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.01; done
	[ ! -e soon.spool ]
}
attempt=1
until record_soon; do
	[ $attempt -lt 5 ] || fail "the folder stayed"
	attempt=$((attempt + 1))
done
expect "kernels of a process that ends soon" "$(json soon.dagtap summary 'd["totals"]["kernels"]')" 2000
