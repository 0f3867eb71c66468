#!/bin/bash
# Makes the .ptx files beside dagpatch's .cu files; needs nvcc (CUDA 12.4 or later), a build does
# not. The device functions that they call are the driver's own: nothing of libcudadevrt is linked.
# The text is for the oldest PTX that knows them (8.4, CUDA 12.4) and the oldest GPU that nvcc 13
# compiles for; drivers compile it for the GPU that they find. `gen-cuda-kernels.sh --check` fails
# when a checked-in text is not what nvcc makes of its source.
set -eu
cd "$(dirname "$0")/.."
made=$(mktemp)
trap 'rm -f "$made"' EXIT

for source in src/patch/cuda/cuda_kernels.cu tests/patch/bed_kernels.cu; do
	nvcc -ptx -rdc=true -arch=compute_75 -o "$made" "$source"
	sed -i -e 's/^\.version .*/.version 8.4/' -e '/^\/\//d' -e '/^$/d' "$made"
	ptxas -arch=sm_75 -o /dev/null "$made"
	ptxas -arch=sm_90 -o /dev/null "$made"
	if [ "${1:-}" = --check ]; then
		diff -u "${source%.cu}.ptx" "$made"
	else
		install -m 644 "$made" "${source%.cu}.ptx"
	fi
done
