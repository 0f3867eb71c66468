#!/bin/bash
# steps.sh: scopes and graph replays of a recording of JAX on an H200 (tests/data) as steps: in the
# exports that have steps (XSpace, Kineto) and in the commands, against the tables in the CSV.
. "$(dirname "$0")/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
pattern="XlaModule:#hlo_module=jit_train*"
"$dagtap" export --format csv --table scopes -o "$work/scopes.csv" "$recording" || fail "export of scopes"
"$dagtap" export --format csv --table scopes -o "$work/steps.csv" --step-of "$pattern" "$recording" || fail "export of steps"
"$dagtap" export --format kineto --compat hta -o "$work/hta.json" --step-of "$pattern" "$recording" || fail "export to HTA"
"$dagtap" export --format xspace -o "$work/steps.xplane.pb" --step-of "$pattern" "$recording" || fail "export to XSpace"
"$dagtap" export --format csv --table scopes -o "$work/again.csv" "$work/steps.xplane.pb" || fail "XSpace read again"
for step in 0 1 2; do # as path knows steps
	"$dagtap" path --json --step $step "$work/steps.xplane.pb" >"$work/step$step.json" || fail "path --step $step: exit $?"
done
python3 - "$work" <<-'END' || fail "steps"
	import csv, fnmatch, json, sys
	folder = sys.argv[1]
	def read(name): return list(csv.DictReader(open(f"{folder}/{name}.csv")))
	wanted = sorted((row for row in read("scopes") if fnmatch.fnmatchcase(row["text"], "XlaModule:#hlo_module=jit_train*")),
	                key=lambda row: int(row["begin_ns"]))
	def expect(what, found, value):
	    if found != value: sys.exit(f"{what}: {found}, not {value}")
	expect("number of steps", len(wanted), 3)
	steps = [row for row in read("steps") if row["kind"] == "step"]
	expect("steps", [row["begin_ns"] for row in sorted(steps, key=lambda row: int(row["begin_ns"]))], [row["begin_ns"] for row in wanted])
	# Everything but the kind is as it was.
	strip = lambda rows: [{key: value for key, value in row.items() if key != "kind"} for row in rows]
	expect("the scopes", strip(read("steps")), strip(read("scopes")))
	trace = json.load(open(f"{folder}/hta.json"))
	hta = sorted((row for row in trace["traceEvents"] if row.get("cat") == "user_annotation" and row["name"].startswith("ProfilerStep#")),
	             key=lambda row: row["ts"])
	expect("steps of HTA", [row["name"] for row in hta], ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"])
	for row, other in zip(hta, wanted):
	    if abs(row["dur"] * 1000 - int(other["duration_ns"])) > 1: sys.exit(f"a step of HTA takes {row['dur']} us")
	expect("steps in XSpace", sum(row["kind"] == "step" for row in read("again")), 3)
	for step, other in enumerate(wanted):
	    windows = json.load(open(f"{folder}/step{step}.json"))["windows"]
	    expect("windows of a step", len(windows), 1)
END
code=0
"$dagtap" export --format csv -o "$work/none.csv" --step-of "no such scope" "$recording" 2>"$work/error" || code=$?
expect "exit code without such a scope" $code 1
[ ! -e "$work/none.csv" ] || fail "an output without steps was left"

# The replays of a graph.
"$dagtap" export --format csv -o "$work/activities.csv" "$recording" || fail "export of activities"
"$dagtap" export --format csv --table scopes -o "$work/replays.csv" --step-of graph:15 "$recording" || fail "export of replays"
"$dagtap" scopes --json --step-of graph:15 "$recording" >"$work/scopes.json" || fail "scopes --step-of"
"$dagtap" summary --json --step-of graph:15 --scope "graph 15 step 4" "$recording" >"$work/summary.json" || fail "summary --step-of"
"$dagtap" report --json --step-of graph:15 "$recording" >"$work/report.json" || fail "report --step-of"
"$dagtap" path --json --step-of graph:15 "$recording" >"$work/path.json" || fail "path --step-of"
"$dagtap" path --json --step-of graph:15 --step 4 "$recording" >"$work/path4.json" || fail "path --step-of --step"
"$dagtap" info --json "$recording" >"$work/info.json" || fail "info"
"$dagtap" info "$recording" >"$work/info" || fail "info as text"
grep -q "graph:15 (9 replays)" "$work/info" || fail "info does not name the graph"
"$dagtap" scopes "$recording" | grep -q "graph:15 (9 replays)" || fail "scopes does not name the graph"
python3 - "$work" <<-'END' || fail "replays as steps"
	import csv, json, sys
	folder = sys.argv[1]
	def read(name): return list(csv.DictReader(open(f"{folder}/{name}.csv")))
	def load(name): return json.load(open(f"{folder}/{name}.json"))
	def expect(what, found, value):
	    if found != value: sys.exit(f"{what}: {found}, not {value}")
	replays = {}
	# Of its execs also what the bodies of its nodes did.
	execs = {row["exec"] for row in read("activities") if row["graph"] == "15"}
	for row in read("activities"):
	    if row["exec"] in execs: replays.setdefault((row["exec"], row["replay"]), []).append(row)
	spans = sorted([min(int(row["start_ns"]) for row in rows), max(int(row["end_ns"]) for row in rows)] for rows in replays.values())
	expect("replays", len(spans), 9)
	steps = [row for row in read("replays") if row["kind"] == "step"]
	expect("steps", sorted(row["text"] for row in steps), [f"graph 15 step {i}" for i in range(9)])
	expect("scopes that were there", [row["text"] for row in read("replays") if row["kind"] != "step"],
	       [row["text"] for row in read("scopes")])
	instances = load("scopes")["instances"]
	expect("projections", [[row["projection"]["begin_ns"], row["projection"]["end_ns"]] for row in instances], spans)
	expect("the report's", load("report")["steps"]["instances"], instances)
	expect("kernels of one step", load("summary")["totals"]["kernels"],
	       sum(row["kind"] == "kernel" for row in sorted(replays.values(), key=lambda rows: int(rows[0]["start_ns"]))[4]))
	windows = load("path")["windows"]
	expect("windows", [row["end_ns"] for row in windows], [end for begin, end in spans])
	expect("window of a step", load("path4")["windows"], [windows[4]])
	candidates = {row["step_of"]: row["count"] for row in load("info")["step_candidates"]}
	expect("candidate", candidates["graph:15"], 9)
END
code=0
"$dagtap" export --format csv -o "$work/none.csv" --step-of graph:99 "$recording" 2>"$work/error" || code=$?
expect "exit code without such a graph" $code 1

# Replays of the graphs that have a node of such a name, in a child graph too, or one that was
# recorded in such a scope.
"$dagtap" export --format csv --table graph_nodes -o "$work/nodes.csv" "$recording" || fail "export of nodes"
python3 - "$dagtap" "$recording" "$work" <<-'END' || fail "graphs by name"
	import csv, fnmatch, json, subprocess, sys
	dagtap, recording, folder = sys.argv[1:]
	nodes = list(csv.DictReader(open(f"{folder}/nodes.csv")))
	parents = {row["graph"]: row["parent_graph"] for row in nodes}
	def root(graph):
	    while parents[graph]: graph = parents[graph]
	    return graph
	def steps(query):
	    found = subprocess.run([dagtap, "scopes", "--json", "--step-of", query, recording], stdout=subprocess.PIPE)
	    # Exit code 1: the graph was not replayed.
	    rows = json.loads(found.stdout)["instances"] if found.returncode == 0 else []
	    return sorted((row["begin_ns"], row["end_ns"], row["projection"]["duration_ns"]) for row in rows)
	def check(query, column, pattern):
	    meant = {row["graph"] for row in nodes if fnmatch.fnmatchcase(row[column], pattern)}
	    roots = {root(graph) for graph in meant}
	    if roots == meant or roots == set(map(root, parents)): sys.exit(f"{query} means {sorted(meant)}")
	    expected = sorted(sum((steps(f"graph:{graph}") for graph in roots), []))
	    found = steps(f"graph:{query}")
	    if not expected or found != expected: sys.exit(f"{query}: {found}, not {expected}")
	    print(query, len(roots), "graphs", len(found), "replays")
	check("loop_*_fusion", "name", "loop_*_fusion")
	check("loop_multiply_fusion", "name", "loop_multiply_fusion")
	check("memcpy", "type", "memcpy")
	check("Thunk:#name=jit(train)*", "scope", "*/Thunk:#name=jit(train)*")
END
code=0
"$dagtap" scopes --step-of graph:no_such_kernel "$recording" 2>"$work/error" || code=$?
expect "exit code without such a node" $code 1
grep -q 'no replay of "graph:no_such_kernel"' "$work/error" || fail "not told: $(cat "$work/error")"
