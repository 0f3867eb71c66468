#!/bin/bash
# untraced.sh: every example by itself, without the tool: each checks its own numbers, on each kind
# of GPU.
. "$SOURCE_DIR/tests/cli/lib.sh"

run() { # SOFTGPU PROGRAM ARGS...
	local options=$1
	shift
	launch softgpu="$options" -- $RUN_WITH "$examples/$@" >"$work/out" || fail "$* on $options exited with $?: $(cat "$work/out")"
}

for gpu in gfx906 gfx90a gfx942 gfx1030; do
	run "$gpu,gpus=2" copies
	run $gpu graph-bubbles 50 5
done
run gfx906 graph-forkjoin 4 4 5
run gfx906 graph-update 20
run gfx906 streams-and-events 50
run gfx906 threads 4 200
run gfx906 eager 2000
run gfx906 module 100
run gfx906 plugin 50
run gfx906 elapsed 20 5
run gfx906 counted "$work/page" 100
run gfx906 fork-exec 50
run gfx906 multistream 20 5
run gfx906 ext-launch 20
run gfx906 modules-in-steps 5
run gfx942 async-memory 50
