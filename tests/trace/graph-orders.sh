#!/bin/bash
# graph-orders.sh: in random graphs of all node types, with edges in random order, every activity of
# every replay is named exactly: the order written down in trace/graph/expect.c is the real HIP's.
. "$SOURCE_DIR/tests/cli/lib.sh"

for _ in 1 2; do
	draw 1000000
	seed=$drawn
	for kinds in 1 2 3 4 5; do
		record run "kernel_ns=0," "$BUILD_DIR/tests/graph-orders" $seed 6 $kinds
		expect_closed "$work/run.dagtap"
		named=$(json "$work/run.dagtap" graph 'd["confidence"]')
		exact=$(json "$work/run.dagtap" graph 'd["confidence"]["exact"]')
		[ "$exact" -gt 0 ] || fail "seed $seed kinds $kinds: nothing was named: $named"
		expect "all named exactly, seed $seed kinds $kinds" "$named" \
			"{'unknown': 0, 'time': 0, 'order': 0, 'signature': 0, 'exact': $exact}"
		rm "$work/run.dagtap"
	done
done
