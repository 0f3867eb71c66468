#!/bin/bash
# handing-over.sh COMMAND...: runs it with libhand-over.so preloaded behind whatever is preloaded
# already.
exec env LD_LIBRARY_PATH="$ROCM_LIBRARIES" LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$EXAMPLES_DIR/libhand-over.so" "$@"
