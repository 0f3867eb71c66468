#!/bin/bash
# allreduce.sh WORDS COUNT: an all-reduce over two GPUs of one process. RCCL reads what GPUs there are from the
# driver's files, so the run has a /sys/class of its own, in a mount namespace.
here=$(dirname "$0")
if [ -z "${IN_NAMESPACE:-}" ]; then
	unshare --mount --map-root-user true 2>/dev/null || {
		echo "not run: this machine gives no mount namespace"
		exit 77
	}
	IN_NAMESPACE=1 exec unshare --mount --map-root-user bash "$0" "$@"
fi
bash "$here/make-topology.sh" /sys/class 2 || exit 1
. "$SOURCE_DIR/tests/cli/lib.sh"

record run "gfx90a,gpus=2,kernel_ns=1000," "$examples/allreduce" "$@"
expect "the program's last line" "$(tail -n 1 "$work/run.out")" "all-reduces: $2 on each of 2 GPUs"
expect "kernels that reached the device" "$(reached_device run)" $((2 * $2))
expect "RCCL's kernels" \
	"$(json "$work/run.dagtap" summary 'sum(k["count"] for k in d["kernels"] if "ncclDevKernel" in k["name"])')" $((2 * $2))
"$dagtap" summary --by api --json "$work/run.dagtap" >"$work/calls"
expect "its calls" "$(sed -n 's/.*"name": "ncclAllReduce", "count": \([0-9]*\),.*/\1/p' "$work/calls")" $((2 * $2))
expect_closed "$work/run.dagtap"
