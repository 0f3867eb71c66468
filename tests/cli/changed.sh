#!/bin/bash
# changed.sh: what dagtap diff says has changed: between a recording of PyTorch on an H200
# (tests/data) and itself nothing, against one in which a kernel takes longer that kernel; by
# Welch's t-test, reckoned again from the CSV of both.
. "$(dirname "$0")/lib.sh"

a=$SOURCE_DIR/tests/data/torch-small.json
b=$work/slower.json
jax=$SOURCE_DIR/tests/data/jax-steps.dagtap
python3 "$here/count_diff.py" "$work" slower "$a"
"$dagtap" export --format csv -o "$work/a.csv" "$a"
"$dagtap" export --format csv -o "$work/b.csv" "$b"
"$dagtap" diff --json "$a" "$b" >"$work/diff.json" || fail "diff: exit $?"
python3 "$here/count_diff.py" "$work" check activities || fail "diff by activity"

"$dagtap" diff "$a" "$b" >"$work/text" || fail "diff: exit $?"
grep -q "CUDAFunctorOnSelf_add" "$work/text" || fail "the slower kernel is not listed: $(cat "$work/text")"
! grep -q "split_k" "$work/text" || fail "a kernel that is only noisier is listed: $(cat "$work/text")"
grep -q '^\.\.\. [0-9]* did not change$' "$work/text" || fail "not told of the others: $(cat "$work/text")"
for file in "$a" "$jax"; do
	"$dagtap" diff "$file" "$file" >"$work/text" || fail "diff with itself: exit $?"
	grep -q "^nothing changed: " "$work/text" || fail "$file differs from itself: $(cat "$work/text")"
done

# By replay and by instance of a scope, normalised: a part of a recording with fewer replays has
# changed in nothing else.
"$dagtap" export -f --format csv -o "$work/a.csv" "$jax"
cp "$work/a.csv" "$work/b.csv"
"$dagtap" diff --json --per-replay "$jax" "$jax" >"$work/diff.json" || fail "diff --per-replay: exit $?"
python3 "$here/count_diff.py" "$work" check replays || fail "diff by replay"
"$dagtap" diff --json --per-scope "XlaModule:*jit_train*" "$jax" "$jax" >"$work/diff.json" || fail "diff --per-scope: exit $?"
expect "instances" "$(python3 -c 'import csv, json, sys
d = json.load(open(sys.argv[1]))
rows = [row for row in csv.DictReader(open(sys.argv[2])) if "hlo_module=jit_train" in row["launch_scope"] and row["kind"] == "kernel"]
means = {row["name"]: row["a"]["mean_ns"] for row in d["rows"]}
wanted = {name: sum(int(row["duration_ns"]) for row in rows if row["name"] == name) / 3 for name in {row["name"] for row in rows}}
print(d["compared"], d["a_instances"], d["b_instances"], d["rows_changed"],
      set(means) == set(wanted) and all(abs(means[name] - wanted[name]) < 1e-3 for name in means))' "$work/diff.json" "$work/a.csv")" \
	"instances 3 3 0 True"
record five "kernel_ns=1000," "$examples/graph-bubbles" 100 5
record eight "kernel_ns=1000," "$examples/graph-bubbles" 100 8
"$dagtap" diff --json --per-replay "$work/five.dagtap" "$work/eight.dagtap" >"$work/json" || fail "diff --per-replay: exit $?"
expect "replays" "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["a_instances"], d["b_instances"], {row["a"]["activities"] / 5 == row["b"]["activities"] / 8 for row in d["rows"]})' \
	"$work/json")" "5 8 {True}"

expect_code() { # WANT OPTIONS...
	local want=$1 code=0
	shift
	"$dagtap" diff "$@" >/dev/null 2>"$work/error" || code=$?
	expect "exit code of diff $*" $code "$want"
}
expect_code 2 --per-scope x --per-replay "$a" "$a"
expect_code 2 --per-replay --by api "$a" "$a"
expect_code 1 --per-scope "no such scope" "$a" "$a"
