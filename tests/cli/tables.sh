#!/bin/bash
# tables.sh: the rows of summary, graph and diff of a recording of JAX on an H200 (tests/data),
# reckoned again from the CSV of the same file: medians, standard deviations, the orders of graph
# nodes.
. "$(dirname "$0")/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
for table in activities calls; do
	"$dagtap" export --format csv --table $table -o "$work/$table.csv" "$recording" || fail "export of $table"
done
for by in kernel scope api; do
	"$dagtap" summary --json --by $by "$recording" >"$work/$by.json" || fail "summary --by $by: exit $?"
done
"$dagtap" graph --json "$recording" >"$work/graph.json" || fail "graph: exit $?"
for by in mean median max stddev gap; do
	"$dagtap" graph --json --sort $by --top 10 "$recording" >"$work/top-$by.json" || fail "graph --sort $by: exit $?"
done
"$dagtap" diff --json "$recording" "$recording" >"$work/diff.json" || fail "diff: exit $?"
python3 "$here/count_tables.py" "$work" || fail "the tables"

# The text has the same order as the JSON.
"$dagtap" graph --sort stddev --top 5 "$recording" | awk 'NR > 1 && NR < 7 {print $1, $2}' >"$work/text"
python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["top"][:5]: print(row["graph"], row["id"])' "$work/top-stddev.json" >"$work/wanted"
cmp "$work/text" "$work/wanted" || fail "order of the text: $(cat "$work/text")"
"$dagtap" graph --sort max --limit 3 "$recording" >"$work/text" || fail "graph --sort max: exit $?"
expect "tables" "$(grep -c '^process' "$work/text")" "$(json "$recording" graph 'len(d["graphs"])')"
# CSV has the numbers of the JSON.
"$dagtap" scopes --json "$recording" >"$work/groups.json"
"$dagtap" scopes --json "$recording" "XlaModule*" >"$work/instances.json"
"$dagtap" gaps --json --limit 0 "$recording" >"$work/gaps.json"
"$dagtap" summary --csv "$recording" >"$work/kernel.csv" || fail "summary --csv: exit $?"
"$dagtap" summary --csv --by copy "$recording" >"$work/copy.csv" || fail "summary --csv --by copy: exit $?"
"$dagtap" graph --csv "$recording" >"$work/graph.csv" || fail "graph --csv: exit $?"
"$dagtap" scopes --csv "$recording" >"$work/groups.csv" || fail "scopes --csv: exit $?"
"$dagtap" scopes --csv "$recording" "XlaModule*" >"$work/instances.csv" || fail "scopes --csv: exit $?"
"$dagtap" gaps --csv "$recording" >"$work/gaps.csv" || fail "gaps --csv: exit $?"
python3 "$here/compare_csv.py" "$work" || fail "CSV"
"$dagtap" diff --csv "$recording" "$recording" >"$work/diff.csv" || fail "diff --csv: exit $?"
expect "a diff without changes" "$(cat "$work/diff.csv")" "count_a,count_b,mean_a_ns,mean_b_ns,change_ns,percent,p,kernel"

code=0
"$dagtap" graph --sort size "$recording" >/dev/null 2>"$work/error" || code=$?
expect "exit code of --sort size" $code 2
