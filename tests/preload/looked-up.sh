#!/bin/bash
# looked-up.sh PROGRAM INJECT PRELOAD CUDA NCCL: a program that loads CUDA and NCCL itself gets
# dagpatch's functions of CUDA and dagtap's of NCCL, in whatever order the two were preloaded. Of
# two copies of NCCL it gets dagtap's for the one that a program gets that is linked with NCCL.
set -euo pipefail
program=$1 inject=$2 preload=$3 cuda=$4 nccl=$5
other=$(mktemp -d)/libnccl.so.2
trap 'rm -rf "${other%/*}"' EXIT
cp -L "$nccl" "$other"

gets() { # PRELOADED NAME FILES LIBRARY...
	local preloaded=$1 name=$2 files=$3 found

	found=$(LD_PRELOAD="$preloaded" "$program" "$name" "${@:4}" | paste -sd' ')
	if [ "$found" != "$files" ]; then
		echo "with LD_PRELOAD=$preloaded: $name of ${*:4} is in $found, not $files" >&2
		exit 1
	fi
}

for both in "$inject $preload" "$preload $inject"; do
	gets "$both" cuGraphLaunch "$preload" "$cuda"
	gets "$both" ncclAllReduce "$inject" "$nccl"
	gets "$both" ncclAllReduce "$other $inject" "$nccl" "$other"
done
gets "$inject" cuGraphLaunch "$cuda" "$cuda"
gets "$preload" cuGraphLaunch "$preload" "$cuda"
gets "$preload" ncclAllReduce "$nccl" "$nccl"
