#!/bin/bash
# looked-up.sh PROGRAM INJECT PRELOAD CUDA NCCL: a program that loads CUDA and NCCL itself gets
# dagpatch's functions of CUDA and dagtap's of NCCL, in whatever order the two were preloaded.
set -euo pipefail
program=$1 inject=$2 preload=$3 cuda=$4 nccl=$5

gets() { # LIBRARY NAME PRELOADED FILE
	local found

	found=$(LD_PRELOAD="$3" "$program" "$1" "$2")
	if [ "$found" != "$2 $4" ]; then
		echo "with LD_PRELOAD=$3: $found, not $4" >&2
		exit 1
	fi
}

for both in "$inject $preload" "$preload $inject"; do
	gets "$cuda" cuGraphLaunch "$both" "$preload"
	gets "$nccl" ncclAllReduce "$both" "$inject"
done
gets "$cuda" cuGraphLaunch "$inject" "$cuda"
gets "$cuda" cuGraphLaunch "$preload" "$preload"
gets "$nccl" ncclAllReduce "$preload" "$nccl"
