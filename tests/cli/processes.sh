#!/bin/bash
# processes.sh: a fork and an exec in one recording: both processes are in it, each with its own
# kernels; and a program that uses no GPU runs as it does without the tool and leaves no file.
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

# What a process that outlives the program records stays in the folder of spools; the rest is
# gathered. It has launched when the program ends, and record does not wait for it.
cd "$work"
mkfifo held alive go late gone
cat alive >/dev/null & # until the process that has it is gone
reader=$!
DAGTAP_TIMERS=limits=never,survivors=0 launch record --softgpu=hold_at=packets_kernel_dispatch:60,hold_pipe=held \
	-o left.dagtap -- sh -c "
	'$examples/eager' 50 >/dev/null
	'$examples/counted' page 100000000 >alive 2>/dev/null &
	read -r count <held
	echo >held" 2>"$work/err"
grep -q "left processes running (1 recording)" "$work/err" || fail "not told: $(cat "$work/err")"
expect "kernels that were gathered" "$(json left.dagtap summary 'd["totals"]["kernels"]')" 50
expect_closed left.dagtap
read -r pid _ < <(od -An -w24 -t u8 page)
kill -9 "$pid"
wait $reader
read -r _ begun returned < <(od -An -w24 -t u8 page)
launches_in left.spool
expect_launches $((kernels + dropped)) "$begun" "$returned"

# One that has not used a GPU yet finds the folder still there. It does not stay when we end.
exec 9<>go
launch record --softgpu -o late.dagtap -- sh -c \
	"(read -r line <go; '$examples/eager' 50; echo >late) >/dev/null 2>&1 &" 2>"$work/err" 9>&-
[ ! -e late.dagtap ] || fail "a recording of nothing"
echo >&9
read -r _ <late
expect "kernels of a late process" "$(json late.spool summary 'd["totals"]["kernels"]')" 50

# One that ends in time is waited for: it is held until the program is gone, and the limit does not
# run out.
launch record --softgpu=hold_at=packets_kernel_dispatch:1000,hold_pipe=held -q -o soon.dagtap -- sh -c "
	exec 9>gone
	'$examples/counted' page2 2000 >/dev/null 9>&- &
	read -r count <held" >"$work/out" 2>&1 &
recorder=$!
cat <gone
echo >held
wait $recorder || fail "record exited with $?: $(cat "$work/out")"
[ ! -e soon.spool ] || fail "the folder stayed"
expect "kernels of a process that ends soon" "$(json soon.dagtap summary 'd["totals"]["kernels"]')" 2000
