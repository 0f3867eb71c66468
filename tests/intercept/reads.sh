#!/bin/bash
# reads.sh: the interceptor reads a packet's header once and its body once from the ring, and
# records what it read.
. "$(dirname "$0")/../cli/lib.sh"

record run "kernel_ns=2000," "$BUILD_DIR/tests/intercept-reads"
expect_closed "$work/run.dagtap"
expect "kernels recorded" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" "$(launched run)"
