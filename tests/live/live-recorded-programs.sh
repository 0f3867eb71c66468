#!/bin/bash
# live-recorded-programs.sh PROGRAM ARGS...: the recording of a program on the software GPU, played
# again in random order with random cuts, gives a follower the rows of the whole.
. "$SOURCE_DIR/tests/cli/lib.sh"
program=$1
shift

keep=--keep-spool
record run "kernel_ns=1000," "$BUILD_DIR/$program" "$@"
for spool in "$work"/run.spool/*.spool; do
	draw 1000000
	"$BUILD_DIR/tests/live-replay" "$spool" "$drawn" 8 || fail "$program: $spool, seed $drawn"
done
