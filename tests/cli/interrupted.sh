#!/bin/bash
# interrupted.sh: `record`, interrupted while it packs, leaves the spools and no partial file. It
# gets the signal while it is held at a write that the seed chooses. Packing needs more than WRITES
# writes.
. "$(dirname "$0")/lib.sh"
cd "$work"
WRITES=12

mkfifo held
draw $WRITES
echo "interrupted at write $((drawn + 1))"
export HOLD_WRITE=$((drawn + 1)) HOLD_PIPE=$work/held
LD_PRELOAD="${SANITIZER_RUNTIME:-} $BUILD_DIR/tests/hold-writes.so" "$dagtap" record --softgpu=kernel_ns=0 -q \
	-o stopped.dagtap -- "$examples/graph-bubbles" 2000 40 10 >out 2>err &
recorder=$!
: <held
ls -l /proc/$recorder/fd | grep -q "$work/#.*(deleted)" || compgen -G ".dagtap.*.tmp" >/dev/null ||
	fail "not held while it packs"
kill -TERM $recorder
: >held
code=0
wait $recorder || code=$?
expect "exit code of an interrupted recording" $code 1
grep -q "interrupted" err || fail "not told: $(cat err)"
! compgen -G ".stopped*" >/dev/null || fail "half a file is left"
[ ! -e stopped.dagtap ] || fail "half a recording"
expect "kernels in the spools" "$(json stopped.spool summary 'd["totals"]["kernels"]')" $((2000 * 40))
