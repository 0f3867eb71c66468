#!/bin/bash
# live.sh TRIES RECORD-OPTION PROGRAM ARGS...: a recording is read while its process runs: each time
# up to one moment, with nothing unexplained, and the process continues.
. "$(dirname "$0")/lib.sh"
cd "$work"
tries=$1 option=$2
shift 2

# The program runs for hours; it must end with the test, also when the test fails.
pid=
end() {
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || :
	[ -n "${DAGTAP_TEST_FOLDER:-}" ] || rm -rf "$work"
}
trap end EXIT

mkfifo held
"$dagtap" record --softgpu=kernel_ns=100000,hold_at=packets_kernel_dispatch:500,hold_pipe=held -q $option -o run.dagtap -- "$@" \
	>out 2>&1 &
recorder=$!
read -r _ <held
pid=$(cat "/proc/$recorder/task/$recorder/children")
echo >held

before=0
for try in $(seq "$tries"); do
	code=0
	"$dagtap" check --json run.spool >check.json 2>err || code=$?
	[ "$code" -eq 0 ] || fail "check $try of a live recording exited with $code: $(cat err; "$dagtap" check run.spool)"
	kernels=$(json run.spool summary 'd["totals"]["kernels"]')
	[[ "$option" == --ring* ]] || [ "$kernels" -ge "$before" ] || fail "$kernels kernels, after $before before"
	before=$kernels
done
"$dagtap" export --format csv -o live.csv run.spool || fail "export of a live recording exited with $?"
kill -9 $pid
wait $recorder || :
pid=
expect_closed run.dagtap
