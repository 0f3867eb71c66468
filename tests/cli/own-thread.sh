#!/bin/bash
# own-thread.sh: every dispatch of `threads` belongs to a call of the thread that made it. The
# kernels are named after their threads, so each kernel name must belong to exactly one thread.
. "$(dirname "$0")/lib.sh"
record run "" "$examples/threads" 8 2000
"$dagtap" export --format csv --table activities -o "$work/activities.csv" "$work/run.dagtap"
"$dagtap" export --format csv --table calls -o "$work/calls.csv" "$work/run.dagtap"
python3 "$here/own_thread.py" 8 2000 "$work/activities.csv" "$work/calls.csv" || fail "a dispatch under another thread"
expect_closed "$work/run.dagtap"
