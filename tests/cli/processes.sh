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
