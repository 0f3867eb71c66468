#!/bin/bash
# check-jax-rocm.sh JOBS: the programs of tests/jax_rocm with JAX for AMD GPUs, which jax-rocm.sh
# sets up in build/jax-rocm, under the dagtap of build/. Exit status 77, with the reason: JAX cannot
# be had here.
set -eu
cd "$(dirname "$0")/.."
jobs=$1
mkdir -p build/rocm/debs
export DAGTAP_ROCM_DEBS=${DAGTAP_ROCM_DEBS:-build/rocm/debs}
mapfile -t releases <tests/jax_rocm/releases

scripts/jax-rocm.sh build/jax-rocm "${releases[@]}"
ctest --preset default -L jax-rocm --output-on-failure -j "$jobs"
