#!/bin/bash
# A recording of JAX on an H200 (tests/data): child graphs that are moved into their nodes and
# updated before each launch, copies that the driver replaces in an exec, a loop with branches in
# conditional nodes, programmatic launches. Counted by hand.
. "$SOURCE_DIR/tests/cli/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
"$dagtap" check "$recording" >"$work/check" || fail "check: $(cat "$work/check")"
grep "launches not judged" "$work/check" && fail "launches that are not judged"
expect "graphs" "$(json "$recording" check '[[s[k] for k in ("expected", "received", "joined", "orphan_activities", "unexplained")]
	for s in d["sources"] if s["name"] == "graph"]')" "[[240, 240, 240, 0, 0]]"
for table in activities calls; do
	"$dagtap" export --format csv --table $table -o "$work/$table.csv" "$recording" || fail "export of $table"
done
"$dagtap" export --format xspace -o "$work/again.xplane.pb" "$recording" || fail "export to XSpace"
"$dagtap" export --format csv --table activities -o "$work/again.csv" "$work/again.xplane.pb" || fail "XSpace read again"
"$dagtap" graph --json "$recording" >"$work/graphs.json" || fail "graph"
"$dagtap" path --json "$recording" >"$work/path.json" || fail "path"
python3 - "$work" <<-'END' || fail "what JAX ran"
	import collections, csv, json, sys
	def read(name):
	    return list(csv.DictReader(open(sys.argv[1] + "/" + name + ".csv")))
	rows = read("activities")
	assert not [r for r in rows if not r["cid"]], "work of no call"
	graph_rows = [r for r in rows if r["exec"]]
	assert len(graph_rows) == 319 and all(r["node"] and r["replay"] for r in graph_rows)
	assert collections.Counter(r["confidence"] for r in graph_rows) == {"exact": 141, "order": 99, "time": 79}
	sure = lambda rows: collections.Counter(r["confidence"] for r in rows)
	assert sure(read("again")) == sure(rows), sure(read("again"))
	# A turn runs five kernels and a branch: a product and tanh where its number is even, one
	# kernel where it is odd.
	bodies = collections.Counter((r["exec"], r["replay"]) for r in graph_rows if r["confidence"] == "time")
	assert len({e for e, _ in bodies}) == 1 and sorted(bodies.values()) == [20, 26, 33], bodies
	execs = [e for e in json.load(open(sys.argv[1] + "/graphs.json"))["execs"] if "body_activities" in e]
	assert [(e["launches"], e["body_activities"], e["body_activities_min"], e["body_activities_max"]) for e in execs] == [(3, 79, 20, 33)]
	# Each kernel and copy of a replay once: the time of no two pieces of one node overlaps
	# another replay's.
	once = [r for r in graph_rows if r["confidence"] != "time"]
	assert len({(r["exec"], r["replay"], r["graph"], r["node"]) for r in once}) == 240
	edges = json.load(open(sys.argv[1] + "/path.json"))["dependencies"]
	assert edges["programmatic_launch"]["count"] > 0
	assert all(e["contradicted"] == 0 for e in edges.values()), edges
END
