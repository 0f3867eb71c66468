#!/bin/bash
# make-topology.sh FOLDER GPUS: puts a file system of its own over FOLDER (/sys/class, in a mount
# namespace), and in it what the driver would say of a machine with a CPU and GPUS software GPUs of
# kind gfx90a: kfd/kfd/topology.
set -eu
folder=$1 gpus=$2

mount -t tmpfs tmpfs "$folder"

properties() { # NODE
	if [ "$1" -eq 0 ]; then
		printf '%s\n' 'cpu_cores_count 1' 'simd_count 0' 'location_id 0'
	else
		printf '%s\n' 'cpu_cores_count 0' 'simd_count 416' 'gfx_target_version 90010' 'vendor_id 4098' 'device_id 29711' \
			"location_id $(($1 << 8))" "drm_render_minor $((127 + $1))" 'hive_id 1' 'num_xcc 1' "unique_id $((4096 + $1))"
	fi
	printf '%s\n' 'domain 0' 'mem_banks_count 1' 'caches_count 0' "io_links_count $gpus"
}

link() { # FROM TO: XGMI (11) between GPUs, PCIe (2) to the CPU
	local type=11
	[ "$1" -ne 0 ] && [ "$2" -ne 0 ] || type=2
	printf '%s\n' "type $type" "node_from $1" "node_to $2" 'weight 15' 'min_bandwidth 50000' 'max_bandwidth 50000' 'flags 1'
}

for ((node = 0; node <= gpus; node++)); do
	place=$folder/kfd/kfd/topology/nodes/$node
	mkdir -p "$place/mem_banks/0" "$place/caches"
	echo "$node" >"$place/gpu_id"
	echo 'software GPU' >"$place/name"
	properties "$node" >"$place/properties"
	index=0
	for ((other = 0; other <= gpus; other++)); do
		[ "$other" -ne "$node" ] || continue
		mkdir -p "$place/io_links/$index"
		link "$node" "$other" >"$place/io_links/$index/properties"
		index=$((index + 1))
	done
done
