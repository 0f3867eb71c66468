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
expect_code 0 --help
expect_code 0 --version
expect_code 0 info
expect_code 0 record -o "$work/a.dagtap" -- true
expect_code 1 record -o "$work/a.dagtap" -- false
expect_code 1 record -o "$work/a.dagtap" -- "$work/no-such-program"
expect_code 137 record -o "$work/a.dagtap" -- sh -c 'kill -9 $$'
expect_code 0 softgpu -- "$examples/eager" 10
expect "untraced on the software GPU" "$(cat "$work/out")" "kernels launched: 10"
