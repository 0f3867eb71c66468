#!/bin/bash
# steps.sh: scopes of a recording of JAX on an H200 (tests/data) as steps, in the exports that have
# steps (XSpace, Kineto), against the scopes in the CSV.
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
