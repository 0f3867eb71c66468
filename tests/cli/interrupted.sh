#!/bin/bash
# interrupted.sh: a recording that is interrupted while it is packed leaves no half file, and the spools.
. "$(dirname "$0")/lib.sh"
cd "$work"

# True when it was interrupted; else it had packed all before it was told, and says so by its exit code.
interrupt_packing() { # REPLAYS
	local recorder code=0
	rm -rf stopped.dagtap stopped.spool
	LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" record --softgpu=kernel_ns=0 -q -o stopped.dagtap -- \
		"$examples/graph-bubbles" 2000 "$1" 10 >out 2>err &
	recorder=$!
	until compgen -G ".stopped.dagtap.*.tmp" >/dev/null; do
		kill -0 $recorder 2>/dev/null || break
		sleep 0.002
	done
	kill -TERM $recorder 2>/dev/null || :
	wait $recorder || code=$?
	[ $code -ne 0 ] || { [ -e stopped.dagtap ] && return 1; }
	expect "exit code of an interrupted recording" $code 1
}

# We may get no CPU for as long as packing takes.
attempt=1
until interrupt_packing $((200 * attempt)); do
	[ $attempt -lt 10 ] || fail "packed before it could be stopped"
	attempt=$((attempt + 1))
done
grep -q "interrupted" err || fail "not told: $(cat err)"
! compgen -G ".stopped*" >/dev/null || fail "half a file is left"
[ ! -e stopped.dagtap ] || fail "half a recording"
expect "kernels in the spools" "$(json stopped.spool summary 'd["totals"]["kernels"]')" $((2000 * 200 * attempt))
