#!/bin/bash
# allreduce-ranks.sh COUNT: all-reduces of two processes, each with a software GPU of its own, that
# are recorded in a file each and merged. The files are of one machine, so their clock is one; the
# operations of both are matched by the communicator's id.
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

# Over sockets, as between machines: the software GPU shares no memory with other processes.
export NCCL_MAX_NCHANNELS=1 NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME=lo

rank() { # RANK COUNT
	NCCL_HOSTID=host$1 record "rank$1" "gfx90a,gpus=2,kernel_ns=1000," "$examples/allreduce-rank" $(($1 + 1)) 2 "$work/id" "$2"
}

# The other end of the FIFO is open here, too, until rank 0 has ended, so that rank 1 does not wait
# for an id that does not come.
mkfifo "$work/id.1"
exec 8<>"$work/id.1"
rank 1 "$1" 8>&- &
one=$!
zero=0
(rank 0 "$1" 8>&-) || zero=$?
# Rank 1 would wait for a rank that is gone.
[ $zero -eq 0 ] || kill $one 2>/dev/null || true
exec 8>&-
wait $one && [ $zero -eq 0 ] || exit 1
for rank in 0 1; do
	expect "the last line of rank $rank" "$(tail -n 1 "$work/rank$rank.out")" "rank $rank of 2: $1 all-reduces"
	expect_closed "$work/rank$rank.dagtap"
done
"$dagtap" merge -o "$work/job.dagtap" "$work/rank0.dagtap" "$work/rank1.dagtap" >"$work/merged"
expect "machines" "$(json "$work/job.dagtap" info '[clock["machine"] for clock in d["clocks"]]')" "[0, 0]"
grep -q missing "$work/merged" && fail "a rank is missing: $(cat "$work/merged")"
expect "collectives of both ranks" \
	"$(json "$work/job.dagtap" collectives 'sorted((row["number"], row["ranks"], row["operation"]) for row in d["late"])')" \
	"$(python3 -c "print([(i + 1, 2, 'all_reduce') for i in range($1)])")"
expect "ranks" "$(json "$work/job.dagtap" collectives '[row["rank"] for row in d["ranks"]]')" "[0, 1]"
expect "communicators" "$(json "$work/job.dagtap" collectives '[row["ranks"] for row in d["communicators"]]')" "[2]"
