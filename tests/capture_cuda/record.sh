#!/bin/bash
# dagtap record --backend cuda, from outside: a program whose CUDA is played, counted by hand.
. "$SOURCE_DIR/tests/cli/lib.sh"

program=$BUILD_DIR/tests/cuda-program
export DAGTAP_CUPTI=$BUILD_DIR/tests/libmodel-cupti.so

# At the end of the process nothing of CUPTI is turned off any more.
export MODEL_DISABLE_CRASHES=1
launch record --backend cuda -q -o "$work/a.dagtap" -- "$program" 1000 >/dev/null || fail "record exited with $?"
unset MODEL_DISABLE_CRASHES
expect_closed "$work/a.dagtap"
expect "rows" "$(json "$work/a.dagtap" info 'd["counts"]["activities"]')" 3000
expect "launches" "$(json "$work/a.dagtap" info 'd["counts"]["launches"]')" 1000
expect "expected of graphs" "$(json "$work/a.dagtap" check \
	'[s["expected"] for s in d["sources"] if s["name"] == "graph"]')" "[3000]"

# Every row with its node and replay, in what is exported.
table() { # NAME
	"$dagtap" export --format csv --table "$1" -o "$work/$1.csv" "$work/a.dagtap" || fail "export of $1"
}
table activities
table scopes
table calls
python3 - "$work" <<-'END' || fail "nodes and replays"
	import csv, os, sys
	def rows(table):
	    return list(csv.DictReader(open(sys.argv[1] + "/" + table + ".csv")))
	activities = rows("activities")
	seen = {(r["node"], r["replay"]) for r in activities if r["confidence"] == "exact"}
	assert len(activities) == 3000 and len(seen) == 3000, (len(activities), len(seen))
	if os.environ.get("HAVE_NVTX") == "1":
	    assert {r["kind"] for r in rows("scopes")} == {"nvtx"}
	    assert len(rows("scopes")) == 1000
	    assert all(r["scope"] == "step" for r in activities), activities[0]
	# What is not known is not said to be 0.
	for call in rows("calls"):
	    assert call["activities_expected"] == ("3" if call["replay"] else ""), call
END

# Grids are in blocks, as CUDA's users count; kernels lie on their stream's track, whatever carries
# copies.
table graph_nodes
python3 - "$work" <<-'END' || fail "grids"
	import csv, sys
	for table in ("activities", "graph_nodes"):
	    rows = list(csv.DictReader(open(sys.argv[1] + "/" + table + ".csv")))
	    grids = {(r["grid_x"], r["grid_y"], r["grid_z"], r["workgroup_x"], r["grid_unit"]) for r in rows}
	    assert grids == {("10", "2", "1", "64", "blocks")}, (table, grids)
END
for format in perfetto perfetto-events; do
	"$dagtap" export --format $format -o "$work/tracks.$format" "$work/a.dagtap" || fail "export as $format"
	grep -qa "stream" "$work/tracks.$format" || fail "$format has no track of a stream"
	grep -qa "copy engine" "$work/tracks.$format" && fail "$format has kernels on a copy engine"
done
grep -qa 10x2x1 "$work/tracks.perfetto-events" || fail "perfetto-events has no grid in blocks"

# CUPTI in the process, under the name that CUDA 11.8 gives it.
mkdir "$work/cuda-11.8"
ln -s "$DAGTAP_CUPTI" "$work/cuda-11.8/libcupti.so.11.8"
LD_LIBRARY_PATH=$work/cuda-11.8 DAGTAP_CUPTI='' launch record -q -o "$work/named.dagtap" -- "$program" 1 >/dev/null ||
	fail "record with libcupti.so.11.8"
expect "rows with libcupti.so.11.8" "$(json "$work/named.dagtap" info 'd["counts"]["activities"]')" 3

# auto traces CUDA too; hsa does not: then nothing is recorded.
launch record -q -o "$work/b.dagtap" -- "$program" 1 >/dev/null || fail "record"
expect "rows with auto" "$(json "$work/b.dagtap" info 'd["counts"]["activities"]')" 3
launch record --backend hsa -q -o "$work/c.dagtap" -- "$program" >/dev/null || fail "record with hsa"
[ ! -e "$work/c.dagtap" ] || fail "hsa recorded CUDA"

# Another tool's door stays another tool's.
CUDA_INJECTION64_PATH=/other.so launch record --backend cuda -q -o "$work/d.dagtap" -- true 2>"$work/err" &&
	fail "the door was taken"
grep -q "CUDA_INJECTION64_PATH is set already (/other.so)" "$work/err" || fail "$(cat "$work/err")"

# Both doors at once: where CUDA's is taken, the others are open all the same.
CUDA_INJECTION64_PATH=/other.so launch record -q -o "$work/e.dagtap" -- true 2>"$work/err" || fail "record with auto"
grep -q "CUDA_INJECTION64_PATH is set already (/other.so): it stays" "$work/err" || fail "$(cat "$work/err")"

# What could not be used is told where the recording is made, with its cause and what to do.
DAGTAP_CUPTI=/nowhere/libcupti.so launch record -o "$work/f.dagtap" -- "$program" 2 >/dev/null 2>"$work/err" ||
	fail "record without CUPTI exited with $?"
grep -q "nothing was recorded through cuda: CUPTI was not found (/nowhere/libcupti.so: .*DAGTAP_CUPTI may name it" "$work/err" ||
	fail "$(cat "$work/err")"
"$dagtap" check "$work/f.dagtap" | grep -q "cuda: absent: CUPTI was not found" || fail "check without CUPTI"
"$dagtap" info "$work/f.dagtap" | grep -q "cuda: absent, CUPTI was not found" || fail "info without CUPTI"
DAGTAP_CUPTI=$BUILD_DIR/tests/libnot-cupti.so launch record -o "$work/g.dagtap" -- "$program" 2 >/dev/null 2>"$work/err"
grep -q "libnot-cupti.so has no cupti.*: it is not CUPTI" "$work/err" || fail "$(cat "$work/err")"
MODEL_SUBSCRIBED=1 launch record -o "$work/h.dagtap" -- "$program" 2 >/dev/null 2>"$work/err" ||
	fail "record beside another profiler exited with $?"
grep -q "nothing was recorded through cuda: cuptiSubscribe: .*another profiler is active" "$work/err" || fail "$(cat "$work/err")"
# The machine has what the environment names, beside a driver.
ln -s "$BUILD_DIR/tests/libnot-cupti.so" "$work/libcuda.so.1"
LD_LIBRARY_PATH=$work "$dagtap" info | grep -q "^cuda  *yes .*libmodel-cupti.so" || fail "info with CUPTI"
LD_LIBRARY_PATH=$work DAGTAP_CUPTI=/nowhere/libcupti.so "$dagtap" info | grep -q "^cuda  *no .*/nowhere/libcupti.so" ||
	fail "info without CUPTI"
# Nobody asked: a program without CUDA hears nothing of it.
launch record -o "$work/i.dagtap" -- true 2>"$work/err" || fail "record of nothing"
grep -q "cuda" "$work/err" && fail "$(cat "$work/err")"

# --calls all records more calls of the same program, and check says no more what was not
# subscribed.
launch record --backend cuda --calls all -q -o "$work/j.dagtap" -- "$program" 2 >/dev/null || fail "record of all calls"
launch record --backend cuda -q -o "$work/k.dagtap" -- "$program" 2 >/dev/null || fail "record of selected calls"
"$dagtap" check "$work/j.dagtap" | grep -q "not subscribed" && fail "all calls, and some not subscribed"
"$dagtap" check "$work/k.dagtap" | grep -q "cuda.call: on: not subscribed: " || fail "check does not say what was not subscribed"
expect_closed "$work/j.dagtap"
expect_closed "$work/k.dagtap"

# After kill -9, what was in the full buffer is there, and what was in the other one is said to be
# lost: a buffer of 1 MiB holds the record of the device, and records of kernels.
full=$(((1048576 - 184) / 216))
code=0
launch record --backend cuda -q -o "$work/killed.dagtap" -- "$program" 3000 killed >/dev/null || code=$?
expect "exit after a kill" $code 137
expect_closed "$work/killed.dagtap"
expect "rows after a kill" "$(json "$work/killed.dagtap" info 'd["counts"]["activities"]')" $full
expect "lost by a kill" "$(json "$work/killed.dagtap" check '[s["dropped"] for s in d["sources"] if s["name"] == "graph"]')" \
	"[{'not delivered when the recording was cut off': $((9000 - full))}]"
expect "state after a kill" "$(json "$work/killed.dagtap" check 'd["state"]')" truncated

# Every command and every format, on what CUPTI brought.
for command in summary graph info check path; do
	"$dagtap" "$command" "$work/a.dagtap" >"$work/out" || fail "$command exited with $?"
	[ -s "$work/out" ] || fail "$command says nothing"
done
for format in perfetto perfetto-events xspace kineto; do
	"$dagtap" export --format $format -o "$work/a.$format" "$work/a.dagtap" || fail "export as $format"
done

# Another profiler of the program gets CUPTI from a dormant process, and not from a recording.
launch record -q --capture-range never -o "$work/beside.dagtap" -- "$program" 1 beside >"$work/out" 2>/dev/null
grep -q "subscribed: 0" "$work/out" || fail "a dormant process keeps CUPTI: $(cat "$work/out")"
launch record -q -o "$work/beside.dagtap" -- "$program" 1 beside >"$work/out" || fail "record beside a profiler"
grep -q "subscribed: 39" "$work/out" || fail "a recording gave CUPTI away: $(cat "$work/out")"

# A library that nobody looks into, and whose own libraries are in no global scope, calls ours.
subscribe_plugin() { # DORMANT ARGS...
	local dormant=$1
	shift
	DAGTAP_CUDA_DORMANT=$dormant launch record -q --capture-range never -o "$work/plugin.dagtap" -- \
		"$BUILD_DIR/tests/cuda-plugin-program" "$BUILD_DIR/tests/libcuda-plugin.so" "$@" >"$work/out" 2>/dev/null
	grep -q "subscribed: 0" "$work/out" || fail "a plugin has no CUPTI, dormant=$dormant $*: $(cat "$work/out")"
}
for dormant in 0 1; do
	subscribe_plugin $dormant
	subscribe_plugin $dormant early
done
