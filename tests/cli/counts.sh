#!/bin/bash
# counts.sh WANT GRAPH PROGRAM ARGS...: a recording holds exactly WANT kernels, GRAPH of them from
# graphs: in summary, in CSV, in Perfetto by a reader of our own making, by the software GPU and by
# the program; each graph kernel names its graph, node and replay; and the ledger closes.
. "$(dirname "$0")/lib.sh"
want=$1 graph=$2 program=$3
shift 3

record run "kernel_ns=1000," "$examples/$program" "$@"
expect "the program's own count" "$(launched run)" "$want"
expect "kernels that reached the device" "$(reached_device run)" "$want"
expect "kernels in summary" "$(json "$work/run.dagtap" summary 'd["totals"]["kernels"]')" "$want"
expect "graph kernels in summary" "$(json "$work/run.dagtap" summary 'd["totals"]["graph_kernels"]')" "$graph"
expect "sum over kernels" "$(json "$work/run.dagtap" summary 'sum(k["count"] for k in d["kernels"])')" "$want"
expect "node counts in graph" \
	"$(json "$work/run.dagtap" graph 'sum(n["count"] for g in d["graphs"] for n in g["nodes"] if n.get("kernel"))')" "$graph"
expect_closed "$work/run.dagtap"

"$dagtap" export --format csv -o "$work/run.csv" "$work/run.dagtap"
python3 "$here/count_csv.py" "$want" "$graph" "$work/run.csv" || fail "CSV"
"$dagtap" export --format perfetto -o "$work/run.pftrace" "$work/run.dagtap"
python3 "$here/count_perfetto.py" "$want" "$graph" "$work/run.pftrace" || fail "Perfetto"
