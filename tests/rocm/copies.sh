#!/bin/bash
# copies.sh: every copy and memset of the example is one row, whether an engine or a kernel of HIP's
# does it.
. "$SOURCE_DIR/tests/cli/lib.sh"

record run "gpus=2," "$examples/copies"
for what in copies memsets; do
	expect "$what" "$(json "$work/run.dagtap" summary "d['totals']['$what']")" "$(sed -n "s/^$what made: //p" "$work/run.out")"
done
expect_closed "$work/run.dagtap"
