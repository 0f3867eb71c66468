#!/bin/bash
# partitions.sh: two processes use one partition each, of two cards whose partitions share a uuid;
# then of two cards that share one. The third and the last of them are devices of their own in what
# is exported.
. "$SOURCE_DIR/tests/cli/lib.sh"

# expect_devices NAME SOFTGPU-OPTIONS GPU GPU: kernels by device.
expect_devices() {
	record "$1" "$2" bash -c '"$1" crowd "$2" && "$1" crowd "$3"' - "$BUILD_DIR/tests/hsa-scenes" "$3" "$4"
	expect_closed "$work/$1.dagtap"
	"$dagtap" export --format kineto -o "$work/$1.json" "$work/$1.dagtap" || fail "export exited with $?"
	expect "$1: kernels by device" "$(python3 - "$work/$1.json" <<-'END'
		import collections, json, sys
		events = json.load(open(sys.argv[1]))["traceEvents"]
		count = collections.Counter(e["args"]["device"] for e in events if e.get("cat") == "kernel")
		print(*(f"{device}:{kernels}" for device, kernels in sorted(count.items())))
	END
	)" "$3:100 $4:100"
}

expect_devices partitions gfx906,gpus=2,partitions=8,vram=64M, 3 11
expect "where the last is" "$(json "$work/partitions.dagtap" info \
	'[(a["pci"], a["partition"]) for a in d["agents"] if a["gpu"]][-1]')" "('0000:02:00.0', 7)"
expect_devices cards gfx906,gpus=3,vram=64M,uuid:0=GPU-1,uuid:2=GPU-1, 0 2
