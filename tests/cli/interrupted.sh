#!/bin/bash
# interrupted.sh: a recording that is interrupted while it is packed leaves no half file, and the spools.
. "$(dirname "$0")/lib.sh"
cd "$work"

LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" record --softgpu=kernel_ns=0 -q -o stopped.dagtap -- "$examples/graph-bubbles" 2000 200 10 >out 2>err &
recorder=$!
until compgen -G ".stopped.dagtap.*.tmp" >/dev/null; do
	kill -0 $recorder 2>/dev/null || fail "packed before it could be stopped"
	sleep 0.002
done
kill -TERM $recorder
code=0
wait $recorder || code=$?
expect "exit code of an interrupted recording" $code 1
grep -q "interrupted" err || fail "not told: $(cat err)"
! compgen -G ".stopped*" >/dev/null || fail "half a file is left"
[ ! -e stopped.dagtap ] || fail "half a recording"
expect "kernels in the spools" "$(json stopped.spool summary 'd["totals"]["kernels"]')" 400000
