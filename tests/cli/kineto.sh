#!/bin/bash
# kineto.sh: a real trace of PyTorch through every command, and what a recording becomes as Kineto's
# JSON and back.
. "$(dirname "$0")/lib.sh"
torch=$SOURCE_DIR/tests/data/torch-small.json

# Sums of the file's own rows, by another reader.
python3 - "$torch" >"$work/sums" <<-'END'
	import decimal, json, sys
	rows = json.load(open(sys.argv[1]), parse_float=decimal.Decimal)["traceEvents"]
	def ns(*cats):
	    return int(sum(1000 * decimal.Decimal(row["dur"]) for row in rows if row.get("cat") in cats))
	def named(*cats):
	    return [row for row in rows if row.get("cat") in cats]
	waits = named("cuda_sync")
	print(len(named("kernel")), ns("kernel"))
	print(len(named("gpu_memcpy")), sum(row["args"]["bytes"] for row in named("gpu_memcpy")))
	print(len(named("cuda_runtime")), ns("cuda_runtime"))
	print(len(waits), sum("wait_on_stream" in row["args"] for row in waits))
	print(sorted({row["args"]["stream"] for row in named("kernel", "gpu_memcpy")}))
	print(len(named("cpu_op", "user_annotation")))
END
sum() {
	sed -n "$1p" "$work/sums"
}
totals='" ".join(str(d["totals"][key]) for key in'
gzip -c "$torch" >"$work/torch.pt.trace.json.gz"
cp "$torch" "$work/trace" # known by its contents, whatever it is called
for file in "$torch" "$work/torch.pt.trace.json.gz" "$work/trace"; do
	expect "kernels" "$(json "$file" summary "$totals (\"kernels\", \"kernel_ns\"))")" "$(sum 1)"
	expect "copies" "$(json "$file" summary "$totals (\"copies\", \"copied_bytes\"))")" "$(sum 2)"
done
expect "orphans" "$(json "$torch" summary 'd["totals"]["orphan_activities"]')" 0
for by in stream graph scope; do
	"$dagtap" summary --by $by --json "$torch" >"$work/json" || fail "summary --by $by"
done
"$dagtap" summary --by api --json "$torch" >"$work/json" || fail "summary --by api"
expect "calls" "$(python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
print(sum(row["count"] for row in rows), sum(row["total_ns"] for row in rows))' "$work/json")" "$(sum 3)"
"$dagtap" summary --by scope "$torch" | grep -q "aten::matmul/aten::mm" || fail "no path of scopes"
"$dagtap" info "$torch" >"$work/info" || fail "info: exit $?"
expect "waits" "$(sed -n 's/^waits *//p' "$work/info") $(sed -n 's/.* of \([0-9]*\) waits for events are unresolved.*/\1/p' "$work/info")" "$(sum 4)"
expect "scopes" "$(sed -n 's/^scopes *//p' "$work/info")" "$(sum 6)"
"$dagtap" export --format csv --table activities -f -o "$work/activities.csv" "$torch" || fail "export: exit $?"
expect "streams" "$(python3 -c 'import csv, sys
print(sorted({int(row["stream"]) for row in csv.DictReader(open(sys.argv[1]))}))' "$work/activities.csv")" "$(sum 5)"
for format in perfetto perfetto-events xspace kineto; do
	"$dagtap" export --format $format -f -o "$work/exported" "$torch" || fail "export to $format: exit $?"
done
"$dagtap" graph "$torch" >"$work/out" || fail "graph: exit $?"
grep -q "^no graphs: of 3 graph launches" "$work/out" || fail "not told why no graphs: $(cat "$work/out")"
code=0
"$dagtap" graph --advise --graph 99 "$torch" 2>/dev/null || code=$?
expect "exit code of advice for a graph that is not there" $code 1

# As an XSpace it says the same: nothing changed by kernel, copy, scope or call.
"$dagtap" export --format xspace -o "$work/torch.xplane.pb" "$torch" || fail "export: exit $?"
for key in kernels graph_kernels graph_launches copies memsets api_calls copied_bytes kernel_ns span_ns gpus streams; do
	expect "$key of the XSpace" "$(json "$work/torch.xplane.pb" summary "d['totals']['$key']")" \
		"$(json "$torch" summary "d['totals']['$key']")"
done
for by in kernel scope api; do
	"$dagtap" diff --by $by --json "$torch" "$work/torch.xplane.pb" >"$work/json" || fail "diff --by $by: exit $?"
	expect "changes by $by" "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(len(d["rows"]) > 0, [r["name"] for r in d["rows"] + d["copies"] if r["change_ns"] or r["state"] != "both"])' "$work/json")" "True []"
done

# `check` has nothing to compare it with, and says so.
"$dagtap" check "$torch" >"$work/check" || fail "check: exit $?"
grep -q "nothing to check against" "$work/check" || fail "check claims: $(cat "$work/check")"
expect "witnessed" "$(json "$torch" check '(d["ok"], d["witnessed"])')" "(True, False)"

# Truncated: the complete rows are read, and a message says what is missing.
head -c 60000 "$torch" >"$work/cut.json"
head -c 3000 "$work/torch.pt.trace.json.gz" >"$work/cut.json.gz"
for file in "$work/cut.json" "$work/cut.json.gz"; do
	code=0
	"$dagtap" check "$file" >"$work/check" || code=$?
	expect "exit code of check" $code 3
	grep -q "damage: .*cut off at byte" "$work/check" || fail "check says: $(cat "$work/check")"
done
expect "kernels before the end" "$(json "$work/cut.json" summary 'd["totals"]["kernels"] > 10')" True

# Broken: one line with file, offset and cause, exit 1.
sed '100s/:/ /' "$torch" >"$work/bad.json"
head -c 100 "$torch" >"$work/short.json"
printf '{"a": 1}' >"$work/other.json"
{ head -c 3000 "$work/torch.pt.trace.json.gz"; cat "$torch"; } >"$work/bad.json.gz"
for file in bad.json short.json other.json bad.json.gz; do
	code=0
	"$dagtap" summary "$work/$file" >"$work/out" 2>"$work/error" || code=$?
	expect "exit code of $file" $code 1
	expect "lines on stderr of $file" "$(wc -l <"$work/error")" 1
	grep -q "$file: " "$work/error" || fail "no file: $(cat "$work/error")"
done
"$dagtap" summary "$work/bad.json" 2>&1 | grep -q "offset [0-9]*: line 100: " || fail "no offset and line"

# A recording, as Kineto's JSON, says the same: nothing changed by kernel.
record replays "kernel_ns=1000," "$examples/graph-bubbles" 50 10
"$dagtap" export --format kineto -o "$work/replays.json" "$work/replays.dagtap" || fail "export: exit $?"
"$dagtap" diff --by kernel --json "$work/replays.dagtap" "$work/replays.json" >"$work/json" || fail "diff: exit $?"
expect "changes" "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(len(d["rows"]) > 0, [r["name"] for r in d["rows"] + d["copies"] if r["change_ns"] or r["state"] != "both"])' "$work/json")" "True []"
for key in kernels graph_kernels graph_launches copies memsets api_calls copied_bytes kernel_ns; do
	expect "$key" "$(json "$work/replays.json" summary "d['totals']['$key']")" \
		"$(json "$work/replays.dagtap" summary "d['totals']['$key']")"
done
