#!/bin/bash
# restart.sh [late]: a program stops its recording and starts it again. Each recording is complete
# in itself, its ledger closes, it holds what was launched in it and nothing else, and knows the
# graphs that were made before.
. "$(dirname "$0")/lib.sh"

keep=--keep-spool record run "kernel_ns=1000," "$BUILD_DIR/tests/restarted" "$@"
expect_closed "$work/run.dagtap"
spools=("$work"/run.spool/*.spool)
expect "spools" "${#spools[@]}" "$(grep -c '^recording ' "$work/run.out")"

number=0
while read -r _ kernels graph_kernels copies; do
	spool=${spools[$number]}
	number=$((number + 1))
	expect_closed "$spool"
	expect "kernels of recording $number" "$(json "$spool" summary 'd["totals"]["kernels"]')" "$kernels"
	expect "graph kernels of recording $number" "$(json "$spool" summary 'd["totals"]["graph_kernels"]')" "$graph_kernels"
	expect "copies of recording $number" "$(json "$spool" summary 'd["totals"]["copies"]')" "$copies"
	expect "named node counts of recording $number" \
		"$(json "$spool" graph 'sum(n["count"] for g in d["graphs"] for n in g["nodes"] if n.get("kernel"))')" "$graph_kernels"
done < <(grep '^recording ' "$work/run.out")
expect "recordings" "$number" "${#spools[@]}"
