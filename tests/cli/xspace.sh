#!/bin/bash
# xspace.sh: a real profile of JAX through every command, and what a recording becomes as XSpace and
# back.
. "$(dirname "$0")/lib.sh"
jax=$SOURCE_DIR/tests/data/jax-small.xplane.pb

# Reckoned from the file with another decoder.
expect "kernels" "$(json "$jax" summary 'd["totals"]["kernels"]')" 164
expect "calls" "$(json "$jax" summary 'd["totals"]["api_calls"]')" 164
expect "orphans" "$(json "$jax" summary 'd["totals"]["orphan_activities"]')" 0
expect "kernel time" "$(json "$jax" summary 'd["totals"]["kernel_ns"]')" 256644
expect "names" "$(json "$jax" summary 'len(d["kernels"])')" 11
expect "the longest" "$(json "$jax" summary '[d["kernels"][0][k] for k in ("name", "count", "total_ns")]')" \
	"['gemm_fusion_dot_7', 28, 58940]"
expect "pid" "$(json "$jax" info 'd["processes"][0]["pid"]')" 650
expect "GPU" "$(json "$jax" info '(d["agents"][0]["name"], d["agents"][0]["compute_units"])')" "('NVIDIA H200', 132)"
for by in stream graph scope api; do
	"$dagtap" summary --by $by --json "$jax" >"$work/json" || fail "summary --by $by"
done
expect "time of calls" "$(python3 -c 'import json, sys
print(sum(row["total_ns"] for row in json.load(open(sys.argv[1]))["rows"]))' "$work/json")" 1148627
"$dagtap" summary --by scope "$jax" | grep -q "/train/.*/XlaModule:/gemm_fusion_dot" || fail "no path of scopes"
for format in csv perfetto perfetto-events xspace; do
	"$dagtap" export --format $format -f -o "$work/exported" "$jax" || fail "export to $format: exit $?"
done

# `check` has nothing to compare it with, and says so.
"$dagtap" check "$jax" >"$work/check" || fail "check: exit $?"
grep -q "nothing to check against" "$work/check" || fail "check claims: $(cat "$work/check")"
expect "witnessed" "$(json "$jax" check '(d["ok"], d["witnessed"])')" "(True, False)"

# A file is recognised by its contents, whatever its name is.
cp "$jax" "$work/profile"
expect "kernels by another name" "$(json "$work/profile" summary 'd["totals"]["kernels"]')" 164

# A damaged one: one line with file and offset, exit 1.
size=$(stat -c %s "$jax")
for bytes in 1 100 $((size / 2)) $((size - 1)); do
	head -c "$bytes" "$jax" >"$work/cut.xplane.pb"
	for command in summary check graph info; do
		code=0
		"$dagtap" $command "$work/cut.xplane.pb" >"$work/out" 2>"$work/error" || code=$?
		expect "exit code of $command on $bytes bytes" $code 1
		expect "lines on stderr of $command on $bytes bytes" "$(wc -l <"$work/error")" 1
		grep -q "cut.xplane.pb: offset [0-9]*: " "$work/error" || fail "no offset: $(cat "$work/error")"
	done
done

# A recording, as XSpace, says the same: nothing changed by kernel, node, scope or call.
record replays "kernel_ns=1000," "$examples/graph-bubbles" 50 10
"$dagtap" export --format xspace -o "$work/replays.xplane.pb" "$work/replays.dagtap" || fail "export: exit $?"
"$dagtap" check "$work/replays.xplane.pb" >"$work/check" || fail "check of it: $(cat "$work/check")"
for by in kernel node scope api; do
	"$dagtap" diff --by $by --json "$work/replays.dagtap" "$work/replays.xplane.pb" >"$work/json" ||
		fail "diff --by $by: exit $?"
	expect "changes by $by" "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(len(d["rows"]) > 0 or sys.argv[2] == "scope",
      [r["name"] for r in d["rows"] + d["copies"] if r["change_ns"] or r["state"] != "both"])' "$work/json" $by)" "True []"
done
for table in activities calls scopes; do
	for name in replays.dagtap replays.xplane.pb; do
		"$dagtap" export --format csv --table $table -f -o "$work/$name.csv" "$work/$name"
	done
	# What XSpace has no place for: docs/format/xspace.md.
	python3 - "$work/replays.dagtap.csv" "$work/replays.xplane.pb.csv" <<-'END' || fail "$table differ"
		import csv, sys
		unlike = {"queue", "submit_ns", "start_tick", "end_tick", "ordinal", "args", "activities_expected", "stream",
		          "stream_handle", "text",
		          "grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"}
		a, b = (list(csv.DictReader(open(path))) for path in sys.argv[1:])
		assert len(a) == len(b) and a, (len(a), len(b))
		for left, right in zip(a, b):
		    for key in left.keys() - unlike:
		        assert left[key] == right[key], (key, left, right)
	END
done
