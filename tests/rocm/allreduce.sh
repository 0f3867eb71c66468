#!/bin/bash
# allreduce.sh WORDS COUNT: an all-reduce over two GPUs of one process. RCCL reads what GPUs there
# are from the driver's files, so the run has a /sys/class of its own, in a mount namespace. Where
# tables are handed over, RCCL's is wrapped with every function that its header has, and nowhere
# else.
here=$(dirname "$0")
if [ -z "${IN_NAMESPACE:-}" ]; then
	unshare --mount --map-root-user mount -t tmpfs tmpfs /sys/class 2>/dev/null || {
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

headers=$ROCM/usr/include/rccl
version=$(sed -n 's/#define NCCL_M[AI][JN]OR //p' "$headers/rccl.h" | paste -s -d.)
functions=$(grep -c '_fn;' "$headers/amd_detail/api_trace.h")
case $RUN_WITH in
*/handing-over.sh) want="on, $version: $functions of its $functions functions wrapped" ;;
*) want= ;;
esac
"$dagtap" info "$work/run.dagtap" >"$work/info"
expect "RCCL's table" "$(sed -n 's/.* rccl.table: //p' "$work/info")" "$want"
