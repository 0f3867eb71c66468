#!/bin/bash
# filters.sh: what --kernel, --scope, --from, --to, --stream and --device select of a recording of
# JAX on an H200 (tests/data), in an export, a summary and the graphs, against the same conditions
# on the CSV of the whole recording.
. "$(dirname "$0")/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
for table in activities scopes calls; do
	"$dagtap" export --format csv --table $table -o "$work/$table.csv" "$recording" || fail "export of $table"
done
"$dagtap" graph --json "$recording" >"$work/whole-graph.json" || fail "graph: exit $?"

# Moments within the recording: the ends of its activities at one and at two thirds.
read -r early late first < <(python3 - "$work" <<-'END'
	import csv, sys
	ends = sorted(int(row["end_ns"]) for row in csv.DictReader(open(sys.argv[1] + "/activities.csv")))
	begins = [int(row["begin_ns"]) for row in csv.DictReader(open(sys.argv[1] + "/calls.csv"))]
	print(ends[len(ends) // 3], ends[2 * len(ends) // 3], min(begins))
END
)

selects() { # CONDITION...
	local options=() condition
	for condition; do options+=("--$condition"); done
	"$dagtap" export -f --format csv -o "$work/selected.csv" "${options[@]}" "$recording" || fail "export ${options[*]}: exit $?"
	"$dagtap" summary --json "${options[@]}" "$recording" >"$work/summary.json" || fail "summary ${options[*]}: exit $?"
	"$dagtap" graph --json "${options[@]}" "$recording" >"$work/graph.json" || fail "graph ${options[*]}: exit $?"
	python3 "$here/count_filters.py" "$work" "$@" || fail "${options[*]}"
}
selects "kernel=*cutlass*"
selects kernel=loop_add_fusion
selects "scope=XlaModule:#hlo_module=jit_train*"
selects "scope=Thunk:*while*" "kernel=loop_*"
selects "from=$early"
selects "to=$late"
selects "from=$early" "to=$late"
selects stream=0
selects stream=0 "to=$late" "kernel=*"
# Relative to the begin of the recording, which is its first call.
"$dagtap" export -f --format csv -o "$work/absolute.csv" --from "$early" "$recording"
"$dagtap" export -f --format csv -o "$work/relative.csv" --from "$((early - first))ns" "$recording"
cmp "$work/absolute.csv" "$work/relative.csv" || fail "--from with a unit"

# The only device is all of it; other formats, scopes and diff take what is left.
"$dagtap" export -f --format csv -o "$work/selected.csv" --device 0 --scope "Xla*" "$recording" || fail "export --device"
for format in perfetto xspace kineto; do
	"$dagtap" export -f --format $format -o "$work/out" --from "$early" --kernel '*fusion*' "$recording" || fail "$format: exit $?"
	"$dagtap" export --format $format -o - --from "$early" --kernel '*fusion*' "$recording" | cmp - "$work/out" || fail "$format twice"
done
for file in "$recording" "$SOURCE_DIR/tests/data/torch-small.json" "$SOURCE_DIR/tests/data/jax-small.xplane.pb"; do
	for format in perfetto perfetto-events xspace kineto csv; do
		"$dagtap" export -f --format $format -o "$work/out" --kernel '*e*' --to 6.9s "$file" || fail "$format of $file: exit $?"
	done
done
"$dagtap" scopes --kernel "*cutlass*" --json "$recording" >"$work/json" || fail "scopes --kernel: exit $?"
expect "activities in scopes" "$(python3 -c 'import csv, json, sys
found = {row["name"]: row["activities"] for row in json.load(open(sys.argv[1]))["groups"]}
rows = [row for row in csv.DictReader(open(sys.argv[2])) if "cutlass" in row["name"] and "hlo_module=jit_train" in row["launch_scope"]]
print(found["XlaModule:#hlo_module=jit_train,program_id=*#"] == len(rows) > 0)' "$work/json" "$work/activities.csv")" True
"$dagtap" diff --kernel "loop_*" --json "$recording" "$recording" >"$work/json" || fail "diff --kernel: exit $?"
expect "names in a diff" "$(python3 -c 'import json, sys
print(all(row["name"].startswith("loop_") for row in json.load(open(sys.argv[1]))["rows"]))' "$work/json")" True

code=0
"$dagtap" summary --kernel "no such kernel" "$recording" >"$work/out" 2>"$work/error" || code=$?
expect "exit code where nothing is selected" $code 1
expect "lines on stderr" "$(wc -l <"$work/error")" 1
for option in "--from yesterday" "--to 3h" "--stream x" "--device -1"; do
	code=0
	# shellcheck disable=SC2086
	"$dagtap" summary $option "$recording" >"$work/out" 2>"$work/error" || code=$?
	expect "exit code of $option" $code 2
done
