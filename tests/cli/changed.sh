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

# What is not listed: how many rows, and their share of the time, which explains the total's change.
expect_unchanged() { # KEY ROWS: the rows of diff.json under KEY, which the text calls ROWS
	local line
	line=$(python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))[sys.argv[2]]
same = [row for row in rows if not row["changed"]]
share = 100 * sum(row["a"]["total_ns"] for row in same) / sum(row["a"]["total_ns"] for row in rows)
print(f"... {len(same)} of {len(rows)} {sys.argv[3]} did not change (less than 1 %, or their spread explains it): "
      f"{share:.1f} % of the time in A, ")' "$work/diff.json" "$1" "$2")
	grep -qF -- "$line" "$work/text" || fail "no \"$line\" in $(cat "$work/text")"
}
expect_unchanged rows kernels
expect_unchanged copies "kinds of copies and memsets"
# The copies, one of each direction, take twice as long: 50 % is more than the kernel's change.
python3 -c 'import json, sys
trace = json.load(open(sys.argv[1]))
for row in trace["traceEvents"]:
    if row.get("cat") == "gpu_memcpy":
        row["dur"] *= 2
json.dump(trace, open(sys.argv[2], "w"))' "$b" "$work/copied.json"
"$dagtap" diff --json "$a" "$work/copied.json" >"$work/diff.json" || fail "diff: exit $?"
"$dagtap" diff --threshold 50 "$a" "$work/copied.json" >"$work/text" || fail "diff: exit $?"
expect_unchanged rows kernels
grep -q "^\.\.\. 1 changed by less than 50 % (--threshold)$" "$work/text" || fail "not told of the kernel: $(cat "$work/text")"
expect "copies that are listed" "$(grep -c "+100.0 .*copy" "$work/text")" 2
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
