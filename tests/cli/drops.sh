#!/bin/bash
# drops.sh KIBIBYTES PROGRAM ARGS...: the file size limit of the program limits the spool, so that
# records of every class are dropped when it is full. The program runs to its end, and the ledger
# has for every class the exact numbers of records that were attempted, stored and dropped.
. "$(dirname "$0")/lib.sh"
limit=$1 program=$2
shift 2

record run kernel_ns=0, bash -c "ulimit -S -f $limit; exec \"\$@\"" limited "$examples/$program" "$@" 2>"$work/err"
expect_closed "$work/run.dagtap"

# Both record and check report the drops, and --strict fails.
grep -q 'complete, [0-9,]* records lost' "$work/err" || fail "record does not say it: $(cat "$work/err")"
grep -q '^ok: .*, but [0-9,]* records were lost' "$work/check" || fail "check does not say it: $(tail -1 "$work/check")"
code=0
"$dagtap" check --strict "$work/run.dagtap" >/dev/null 2>"$work/err" || code=$?
expect "exit code of check --strict" $code 3
grep -q 'records lost' "$work/err" || fail "check --strict does not say why: $(cat "$work/err")"
report=$(cat "$work"/run.softgpu.*)
"$dagtap" check --json "$work/run.dagtap" >"$work/check.json"
python3 - "$work/check.json" "$report" <<'END' || fail "$(cat "$work/check")"
import json, sys

check = json.load(open(sys.argv[1]))
report = json.loads(sys.argv[2])
counters = report.get("counters", report)
sources = {source["name"]: source for source in check["sources"]}
classes = ("hip", "hsa.dispatch", "hsa.barrier", "hsa.copy", "scope", "graph.record")
truth = {
    "hsa.dispatch": counters["packets_kernel_dispatch"],
    "hsa.barrier": counters["packets_barrier_and"] + counters["packets_barrier_or"],
    "hsa.copy": counters["copies"] + counters["copies_rect"],
}
# The software GPU's lines of the ledger contain the same drops.
assert check["ok"] and check["lost"] == sum(source["dropped"].get("no free chunk", 0) for source in check["sources"]
                                            if not source["name"].startswith("softgpu."))
for name in classes:
    source = sources[name]
    dropped = source["dropped"].get("no free chunk", 0)
    print(name, source["expected"], source["received"], dropped)
    assert source["received"] + sum(source["dropped"].values()) == source["expected"], name
    assert dropped or not source["expected"], name + ": nothing was dropped"
    assert source["expected"] == truth.get(name, source["expected"]), name
done = sources["hsa.done"]
completed = done["received"] + sum(done["dropped"].values())
print("hsa.done", completed)
assert done["dropped"]["no free chunk"] > 0
# A packet without a completion slot has no completion; of the dropped ones this is not known.
if "no free slot" not in check["untimed"]:
    assert completed == truth["hsa.dispatch"] + truth["hsa.copy"], "hsa.done"
lost = done["expected"] - done["joined"]
assert check["untimed"].get("its completion's record is missing", 0) == lost, "untimed"
END
