#!/bin/bash
# annotated.sh: two recordings of one process that uses libdagtap have its steps, the scopes under
# them and the scopes of a thread that works for another thread, and nothing that happened between
# the recordings.
. "$(dirname "$0")/lib.sh"

launch record -o "$work/run.dagtap" -- "$examples/training" >"$work/out" || fail "training exited with $?"
grep -q '^steps: 10$' "$work/out" || fail "training said $(cat "$work/out")"
expect_closed "$work/run.dagtap"
expect "recordings" "$(json "$work/run.dagtap" info 'len(d["processes"])')" 2

"$dagtap" export --format csv --table scopes -o "$work/scopes.csv" "$work/run.dagtap"
python3 - "$work/scopes.csv" <<-'END' || fail "the scopes are not the program's"
	import collections, csv, sys
	rows = list(csv.DictReader(open(sys.argv[1])))
	steps = {row["scope_id"]: row for row in rows if row["kind"] == "step"}
	kinds = collections.Counter((row["kind"], row["text"]) for row in rows)
	assert kinds == {("step", "train"): 3, ("scope", "layer"): 9, ("scope", "all-reduce"): 3}, kinds
	assert len({row["scope_id"] for row in rows}) == len(rows)
	for row in rows:
	    assert row["open"] in ("", "0"), row
	    if row["kind"] == "scope":
	        assert row["parent_id"] in steps, row
	    if row["text"] == "all-reduce":
	        step = steps[row["parent_id"]]
	        assert row["thread"] != step["thread"], row
	        assert int(step["begin_ns"]) <= int(row["begin_ns"]) <= int(row["end_ns"]) <= int(step["end_ns"])
END
