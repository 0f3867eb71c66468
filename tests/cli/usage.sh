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

# With its standard descriptors closed a command writes its file, the file is whole, and the program finds them
# closed too.
launch record --softgpu -o "$work/closed.dagtap" -- sh -c "'$examples/eager' 10; ls /proc/self/fd >'$work/fds'" \
	<&- >&- 2>&- || fail "record without standard descriptors exited with $?"
"$dagtap" check "$work/closed.dagtap" >/dev/null || fail "a recording without standard descriptors is damaged"
sh -c "ls /proc/self/fd >'$work/bare'" <&- >&- 2>&-
expect "descriptors of the program" "$(cat "$work/fds")" "$(cat "$work/bare")"
