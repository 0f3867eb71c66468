#!/bin/bash
# python ARGUMENTS: the Python of ../rocm with the JAX beside this file, to be started under `dagtap
# record --softgpu` or `dagtap softgpu`. In a mount namespace of its own it finds what the driver
# would say of the GPUs, which JAX counts and RCCL reads, and the loader of ../rocm in the place of
# the system's: programs that libraries there start need it, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(dirname "$here")

cannot() {
	echo "$0: $*" >&2
	exit 77
}

# Root needs no namespace of users besides, which there is none of in a chroot.
new=(unshare --mount --map-root-user)
[ "$EUID" -ne 0 ] || new=(unshare --mount)
if [ -z "${DAGTAP_JAX_NAMESPACE:-}" ]; then
	"${new[@]}" true 2>/dev/null || cannot "this machine gives no mount namespace (${new[*]})"
	DAGTAP_JAX_NAMESPACE=1 exec "${new[@]}" "$0" "$@"
fi
gpus=$(sed -n 's/.*gpus=\([0-9]*\).*/\1/p' <<<"${DAGTAP_SOFTGPU:-}")
bash "$folder/make-topology.sh" /sys/class "${gpus:-1}" || cannot "its namespace lets nothing be mounted on /sys/class"
loader=$(readlink -f /lib64/ld-linux-x86-64.so.2)
mount --bind "$folder/rocm/usr/lib64/ld-linux-x86-64.so.2" "$loader" ||
	cannot "its namespace lets nothing be mounted on $loader"
# From here on every program is the folder's.
export LD_LIBRARY_PATH="$here/stubs:$folder/rocm/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PYTHONPATH="$here/site${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
export JAX_PLATFORMS="${JAX_PLATFORMS:-rocm}" ROCM_PATH="${ROCM_PATH:-$here}" AMD_COMGR_CACHE="${AMD_COMGR_CACHE:-0}"
# HIP 7.2.4 crashes in hipGraphLaunch of a graph with child graphs, which XLA makes of a library's
# products, when it parts such a graph into segments and goes back on it ("Complex graph detected"),
# with any tool and with none.
export DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING="${DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING:-0}"
unset DAGTAP_JAX_NAMESPACE
exec "$folder/rocm/usr/bin/python3.13" "$@"
