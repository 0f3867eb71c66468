#!/bin/bash
# diff.sh: two recordings of one program, the second with more of one thing, against the counts in
# the arguments.
. "$(dirname "$0")/lib.sh"

record a "kernel_ns=1000," "$examples/graph-bubbles" 100 5
record b "kernel_ns=1000," "$examples/graph-bubbles" 100 8
record c "kernel_ns=1000," "$examples/eager" 10

difference() { # A B OPTIONS... EXPRESSION over `d`
	local expression=${!#}
	"$dagtap" diff --json "${@:1:$#-1}" >"$work/json" || fail "diff ${*:1:$#-1}: exit $?"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/json" "$expression"
}

a=$work/a.dagtap b=$work/b.dagtap c=$work/c.dagtap
expect "kernels" "$(difference "$a" "$b" '(d["a"]["kernels"], d["b"]["kernels"])')" "(500, 800)"
expect "counts of rows" "$(difference "$a" "$b" \
	'(sum(r["a"]["count"] for r in d["rows"]), sum(r["b"]["count"] for r in d["rows"]))')" "(500, 800)"
expect "nodes" "$(difference --by node "$a" "$b" \
	'(len(d["rows"]), {(r["a"]["count"], r["b"]["count"], r["state"]) for r in d["rows"]})')" "(100, {(5, 8, 'both')})"
expect "change is what it says" "$(difference "$a" "$b" \
	'all(r["change_ns"] == r["b"]["total_ns"] - r["a"]["total_ns"] for r in d["rows"])')" True
expect "order" "$(difference "$a" "$b" \
	'[abs(r["change_ns"]) for r in d["rows"]] == sorted((abs(r["change_ns"]) for r in d["rows"]), reverse=True)')" True
expect "itself" "$(difference "$a" "$a" '{(r["change_ns"], r["ratio"]) for r in d["rows"]}')" "{(0, 1)}"
expect "itself, above a threshold" "$(difference --threshold 0.1 "$a" "$a" \
	'(len(d["rows"]), d["rows_hidden"] > 0)')" "(0, True)"
expect "graph nodes that went" "$(difference --by node "$a" "$c" '{(r["state"], r["ratio"]) for r in d["rows"]}')" "{('gone', 0)}"
expect "calls that came" "$(difference --by api "$c" "$a" \
	'[(r["state"], r["ratio"]) for r in d["rows"] if r["name"] == "hipGraphLaunch"]')" "[('new', None)]"

"$dagtap" diff "$a" "$b" >"$work/text" || fail "diff: exit $?"
grep -q "^kernels   500 -> 800$" "$work/text" || fail "no totals: $(cat "$work/text")"
for options in "" "$a" "--by colour $a $b" "--threshold much $a $b" "--threshold -3 $a $b" "$a $b $c"; do
	code=0
	# shellcheck disable=SC2086
	"$dagtap" diff $options >/dev/null 2>"$work/error" || code=$?
	expect "exit code of diff $options" $code 2
done
code=0
"$dagtap" diff "$a" "$work/absent" >/dev/null 2>"$work/error" || code=$?
expect "exit code with a file that is not there" $code 1
expect "lines on stderr" "$(wc -l <"$work/error")" 1
