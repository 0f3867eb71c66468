#!/bin/bash
# On a machine with an NVIDIA GPU and nvcc alone (elsewhere: skipped): replays of a captured graph,
# counted; then graphs of every shape, events (of graphs, too), waits from calls and from CUPTI, two
# recordings in one process; recordings that stop while the GPU is at work; many threads;
# statistics; graphs that are built while nothing is recorded; PyTorch's profiler beside a dormant
# process.
. "$SOURCE_DIR/tests/cli/lib.sh"

if ! command -v nvcc >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
	echo "no NVIDIA GPU, or no nvcc"
	exit 77
fi
nvcc -O2 -o "$work/replay" "$SOURCE_DIR/bench/cuda/replay.cu"
launch record --backend cuda -q -o "$work/a.dagtap" -- "$work/replay" 100 50 >"$work/out" || fail "$(cat "$work/out")"
expect_closed "$work/a.dagtap"
expect "launches" "$(json "$work/a.dagtap" info 'd["counts"]["launches"]')" 50
expect "expected of graphs" "$(json "$work/a.dagtap" check \
	'[s["expected"] for s in d["sources"] if s["name"] == "graph"]')" "[5000]"
"$dagtap" export --format csv --table activities -o "$work/activities.csv" "$work/a.dagtap" || fail "export"
python3 - "$work/activities.csv" <<-'END' || fail "nodes and replays"
	import csv, sys
	rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["confidence"] == "exact"]
	assert len({(r["node"], r["replay"]) for r in rows}) == 5000, len(rows)
	pairs = [(a, b) for a, b in zip(rows, rows[1:]) if a["replay"] == b["replay"]]
	assert all(int(a["start_ns"]) < int(b["start_ns"]) for a, b in pairs)
	# CUPTI's own times: some nodes seem to end after the start of the next, none after that of
	# the one behind it.
	after = [(a, c) for a, c in zip(rows, rows[2:]) if a["replay"] == c["replay"]]
	assert all(int(a["end_ns"]) <= int(c["start_ns"]) for a, c in after)
	print("overlaps:", sum(int(a["end_ns"]) > int(b["start_ns"]) for a, b in pairs), "of", len(pairs))
END
# A chain: each node waits for the one before it, so the longest path has them all.
"$dagtap" graph "$work/a.dagtap" | grep -q "critical path .* over 100 nodes" || fail "edges"

# Children, a fork, clones, updates, conditional nodes; what the program says is in the trace.
nvcc -O2 -rdc=true -arch=native -o "$work/graphs" "$SOURCE_DIR/tests/capture_cuda/device_graphs.cu" -lcudadevrt
launch record --backend cuda -q -o "$work/b.dagtap" -- env "LD_PRELOAD=$BUILD_DIR/lib/libdagtap.so" "$work/graphs" >"$work/out" ||
	fail "device_graphs: $(cat "$work/out")"
expect_closed "$work/b.dagtap"
for table in activities waits; do
	"$dagtap" export --force --format csv --table "$table" -o "$work/$table.csv" "$work/b.dagtap" || fail "export of $table"
done
"$dagtap" graph --json "$work/b.dagtap" >"$work/graphs.json" || fail "graph"
python3 - "$work" <<-'END' || fail "graphs and events"
	import csv, json, sys
	work = sys.argv[1]
	said = dict(line.split(": ") for line in open(work + "/out") if ": " in line)
	rows = list(csv.DictReader(open(work + "/activities.csv")))
	named = [r for r in rows if r["graph"] and "looped" not in r["name"] and "count_down" not in r["name"]]
	assert len(named) == int(said["graph_rows"]), (len(named), said)
	# Each row says its node, and each node of a replay is there once.
	assert all(r["node"] for r in named), [r for r in named if not r["node"]][:3]
	assert len({(r["exec"], r["replay"], r["graph"], r["node"]) for r in named}) == len(named)
	order = {"inner_first(int*)", "inner_last(int*)", "outer_first(int*)", "outer_last(int*)", "second_only(int*)"}
	assert all(r["confidence"] == ("order" if r["name"] in order else "exact") for r in named)
	alone = [r for r in rows if r["name"] == "alone(int*)" and not r["graph"]]
	assert len(alone) == 2 * int(said["kernels_alone"]), len(alone)
	# Kernels of child graphs are nodes that bear their names.
	names = {n["kernel"] for g in json.load(open(work + "/graphs.json"))["graphs"] for n in g["nodes"] if n["type"] == "kernel"}
	assert order < names, names
	waits = [w for w in csv.DictReader(open(work + "/waits.csv")) if w["event"]]
	assert len(waits) == 4 and all(w["known"] == "order" for w in waits), waits
END

# Events that graphs record: the wait after a replay is for that node of that replay.
nvcc -O2 -arch=native -o "$work/events" "$SOURCE_DIR/tests/capture_cuda/device_events.cu"
launch record --backend cuda -q -o "$work/c.dagtap" -- "$work/events" >"$work/out" || fail "device_events: $(cat "$work/out")"
expect_closed "$work/c.dagtap"
"$dagtap" export --format csv --table waits -o "$work/events.csv" "$work/c.dagtap" || fail "export of waits"
python3 - "$work" <<-'END' || fail "events of graphs"
	import csv, sys
	work = sys.argv[1]
	said = [line.split(": ")[1].strip() for line in open(work + "/out") if line.startswith("wait: ")]
	rows = [r for r in csv.DictReader(open(work + "/events.csv")) if r["type"] == "stream_event"]
	found = [r["producer_replay"] + " " + r["producer_node"] if r["producer_node"] else "call" for r in rows]
	assert found == said and all(r["known"] == "order" for r in rows), (said, found)
END

# Waits of every kind: those that the calls tell are those that CUPTI reports.
for way in "calls selected" "kinds all"; do
	set -- $way
	launch record --backend cuda -q --calls "$2" -o "$work/$1.dagtap" -- python3 "$SOURCE_DIR/tests/capture_cuda/device_waits.py" \
		>"$work/out" || fail "device_waits: $(cat "$work/out")"
	expect_closed "$work/$1.dagtap"
done
python3 "$SOURCE_DIR/tests/capture_cuda/compare_waits.py" "$dagtap" "$work/calls.dagtap" "$work/kinds.dagtap" || fail "waits from calls"

# Children that are moved, updated before each launch, bodies of conditional nodes, launches that
# begin early.
nvcc -O2 -rdc=true -arch=native -std=c++17 -o "$work/bodies" "$SOURCE_DIR/tests/capture_cuda/device_bodies.cu" -lcudadevrt -lcuda
launch record --backend cuda -q -o "$work/d.dagtap" -- "$work/bodies" >"$work/out" || fail "device_bodies: $(cat "$work/out")"
expect_closed "$work/d.dagtap"
"$dagtap" check "$work/d.dagtap" | grep "launches not judged" && fail "launches that are not judged"
python3 "$SOURCE_DIR/tests/capture_cuda/compare_bodies.py" "$dagtap" "$work/d.dagtap" "$work/out" || fail "what nodes hold"

# Recordings that stop and start while the GPU is at work, a device that is reset, two processes on
# one GPU.
nvcc -O2 -rdc=true -arch=native -std=c++17 -o "$work/stops" "$SOURCE_DIR/tests/capture_cuda/device_stops.cu" -lcudadevrt
restart="env LD_PRELOAD=$BUILD_DIR/lib/libdagtap.so $work/stops"
record_stops() { # NAME COMMAND...
	local name=$1
	shift
	launch record --backend cuda -q -o "$work/$name.dagtap" -- "$@" >"$work/out" || fail "$name: $(cat "$work/out")"
	expect_closed "$work/$name.dagtap"
}
record_stops flight $restart flight 20
expect "recordings" "$(json "$work/flight.dagtap" check 'len([s for s in d["sources"] if s["name"] == "cuda.call"])')" 21
record_stops threads $restart threads 100
record_stops reset "$work/stops" reset 4
record_stops two sh -c "'$work/stops' nodes 5 & '$work/stops' flight 3 & wait"
record_stops on-device "$work/stops" on-device 3
record_stops nodes "$work/stops" nodes 5
expect "rows of graphs" "$("$dagtap" export --format csv --table activities "$work/nodes.dagtap" -o - | grep -c ",exact,")" \
	"$(sed -n 's/^graph_rows: //p' "$work/out")"

# More threads than dagtap gives CUPTI buffers without counting threads (256): each has one.
nvcc -O2 -arch=native -std=c++17 -o "$work/threads" "$SOURCE_DIR/tests/capture_cuda/device_threads.cu"
launch record --backend cuda -q -o "$work/many.dagtap" -- "$work/threads" 600 >"$work/out" || fail "device_threads: $(cat "$work/out")"
expect_closed "$work/many.dagtap"
"$dagtap" export --format csv --table activities -o "$work/many.csv" "$work/many.dagtap" || fail "export"
for kernel in alone step; do
	expect "kernels of many threads, $kernel" "$(grep -c ",$kernel()," "$work/many.csv")" "$(sed -n "s/^$kernel: //p" "$work/out")"
done

# Statistics of the same programs: all that they say was launched has come, and nothing is missing.
expect_delivered() { # NAME COMMAND...
	local name=$1
	shift
	launch record --stats --backend cuda -q -o "$work/$name.dagstats" -- "$@" >"$work/out" || fail "$name: $(cat "$work/out")"
	"$dagtap" stats --json "$work/$name.dagstats" >"$work/json" || fail "stats of $name"
	python3 - "$work/json" "$name" <<-'END' || fail "deliveries of $name"
		import json, sys
		stats = json.load(open(sys.argv[1]))
		found = stats["cuda_deliveries"]
		print(f"deliveries of {sys.argv[2]}:", {name: n for name, n in found.items() if n})
		assert not found["missing"] and not found["not_read"], found
		# A recording that stops while other threads launch may end before all has come.
		assert not found["pending"] or sys.argv[2] == "launching", found
		assert not stats["lost_records"] and not stats["dropped_records"], stats
		# Graphs whose nodes are switched are not compared.
		assert found["uncompared_launches" if sys.argv[2] == "nodes" else "launched_kernels"], found
	END
}
expect_delivered replay "$work/replay" 100 50
expect_delivered eager "$work/replay" --eager 20000
expect_delivered graphs env "LD_PRELOAD=$BUILD_DIR/lib/libdagtap.so" "$work/graphs"
expect_delivered events "$work/events"
expect_delivered bodies "$work/bodies"
expect_delivered flight $restart flight 20
expect_delivered launching $restart threads 20
expect_delivered reset "$work/stops" reset 4
expect_delivered on-device "$work/stops" on-device 3
expect_delivered nodes "$work/stops" nodes 5
expect_delivered many "$work/threads" 400

# Graphs that are built and changed while nothing is recorded keep their nodes: before the first
# recording and between recordings.
nvcc -O2 -o "$work/dormant" "$SOURCE_DIR/tests/capture_cuda/device_dormant.cu" \
	-Xlinker "--no-as-needed,$BUILD_DIR/lib/libdagtap.so,-rpath=$BUILD_DIR/lib"
check_dormant() { # NAME WAY OPTION...
	local name=$1 way=$2
	shift 2
	launch record --backend cuda -q "$@" -o "$work/$name.dagtap" -- "$work/dormant" "$way" 3 \
		>"$work/out" || fail "$name: $(cat "$work/out")"
	expect_closed "$work/$name.dagtap"
	"$dagtap" check "$work/$name.dagtap" | grep -i "unseen" && fail "$name: unseen graphs"
	"$dagtap" export --force --format csv --table activities -o "$work/activities.csv" "$work/$name.dagtap" || fail "export"
	python3 - "$work" <<-'END' || fail "$name: rows of graphs"
		import csv, sys
		work = sys.argv[1]
		said = dict(line.split(": ") for line in open(work + "/out") if ": " in line)
		rows = [r for r in csv.DictReader(open(work + "/activities.csv")) if r["exec"]]
		assert len(rows) == int(said["graph_rows"]), (len(rows), said)
		assert all(r["node"] and r["confidence"] in ("exact", "order") for r in rows), [r for r in rows if not r["node"]][:3]
		assert len({r["submit_ns"] for r in rows}) == int(said["graph_launches"])
	END
}
check_dormant waiting session --wait
check_dormant profiler profiler --wait
check_dormant control session --control --wait
check_dormant ranges session --capture-range none

# The profiler of the program has its own CUPTI, and two different ones exclude each other.
unset DAGTAP_CUPTI
# The profiler of the program finds CUPTI free, and finds all its kernels. It keeps CUPTI when it
# stops, which the recording that then begins says.
status=0
launch record --backend cuda -q --capture-range none -o "$work/beside.dagtap" -- \
	python3 "$SOURCE_DIR/tests/capture_cuda/device_profiler.py" "$BUILD_DIR/lib/libdagtap.so" 2 >"$work/out" 2>"$work/err" || status=$?
if [ "$status" = 77 ]; then
	echo "in part not run: there is no PyTorch, whose profiler runs beside a dormant process"
	exit 77
fi
[ "$status" = 0 ] || fail "device_profiler: $(cat "$work/out" "$work/err")"
expect "kernels in PyTorch's profiles" "$(grep -c '^profiled: 20$' "$work/out")" 2
expect_closed "$work/beside.dagtap"
grep -q "cuda: absent: .*another profiler is active" "$work/check" || fail "$(cat "$work/check")"
