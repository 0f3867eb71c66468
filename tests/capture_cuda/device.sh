#!/bin/bash
# On a machine with an NVIDIA GPU and nvcc alone (elsewhere: skipped): replays of a captured graph, counted.
. "$SOURCE_DIR/tests/cli/lib.sh"

if ! command -v nvcc >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
	echo "no NVIDIA GPU, or no nvcc"
	exit 77
fi
nvcc -O2 -o "$work/replay" "$SOURCE_DIR/bench/cuda/replay.cu"
launch record --backend cuda -q -o "$work/a.dagtap" -- "$work/replay" 100 50 >"$work/out" || fail "$(cat "$work/out")"
expect_closed "$work/a.dagtap"
expect "launches" "$(json "$work/a.dagtap" info 'd["counts"]["launches"]')" 50
expect "expected of graphs" "$(json "$work/a.dagtap" check \
	'[s["expected"] for s in d["sources"] if s["name"] == "graph"]')" "[5000]"
"$dagtap" export --format csv --table activities -o "$work/activities.csv" "$work/a.dagtap" || fail "export"
python3 - "$work/activities.csv" <<-'END' || fail "nodes and replays"
	import csv, sys
	rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["confidence"] == "exact"]
	assert len({(r["node"], r["replay"]) for r in rows}) == 5000, len(rows)
	for a, b in zip(rows, rows[1:]):
	    if a["replay"] == b["replay"]:
	        assert int(a["end_ns"]) <= int(b["start_ns"]), (a, b)
END
# A chain: each node waits for the one before it, so the longest path has them all.
"$dagtap" graph "$work/a.dagtap" | grep -q "critical path .* over 100 nodes" || fail "edges"
