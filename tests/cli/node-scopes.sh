#!/bin/bash
# node-scopes.sh: in a recording of JAX on an H200 (tests/data), the scope of a replayed kernel is
# that in which its graph node was recorded, and the launch's scope stands beside it: in CSV, in the
# summary and in the waits of the path.
. "$(dirname "$0")/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
for table in activities calls graph_nodes; do
	"$dagtap" export --format csv --table $table -o "$work/$table.csv" "$recording" || fail "export of $table"
done
"$dagtap" summary --json --by scope "$recording" >"$work/summary.json" || fail "summary"
"$dagtap" path --json --scope 'XlaModule:#hlo_module=jit_train*' "$recording" >"$work/path.json" || fail "path"
python3 - "$work" <<-'END' || fail "scopes of nodes"
	import collections, csv, json, sys
	def read(name):
	    return list(csv.DictReader(open(sys.argv[1] + "/" + name + ".csv")))
	nodes = {(n["graph"], n["node"]): n for n in read("graph_nodes")}
	calls = {c["cid"]: c for c in read("calls")}
	rows = read("activities")
	recorded = 0
	for row in rows:
	    launch = calls[row["cid"]]
	    assert row["launch_scope_id"] == launch["scope_id"] and row["launch_scope"] == launch["scope"], row
	    node = nodes.get((row["graph"], row["node"])) if row["node"] else None
	    own = node if node and node["scope_id"] else launch
	    assert (row["scope"], row["scope_id"]) == (own["scope"], own["scope_id"]), (row, own)
	    recorded += row["scope_id"] != row["launch_scope_id"]
	assert recorded > 0, "no node has a scope of its own: this test would show nothing"
	found = {row["name"]: row["count"] for row in json.load(open(sys.argv[1] + "/summary.json"))["rows"]}
	wanted = collections.Counter(row["scope"] for row in rows)
	assert sorted(found.values()) == sorted(wanted.values()), (found, wanted)
	assert set(wanted) - set(found) <= {""}, set(wanted) - set(found)
	work = [s["work"] for s in json.load(open(sys.argv[1] + "/path.json"))["segments"] if "work" in s]
	assert any(w["scope"] != w["launch_scope"] for w in work), "the path names no node's scope"
END
