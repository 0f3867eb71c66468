#!/bin/bash
# recorded.sh DAGTAP DAGPATCH PROGRAM: recorded by dagtap and under dagpatch run, a program's
# replays stay those of the one executable that it has, and everything is accounted for. With
# --advise, the recording says what dagpatch run can avoid.
set -euo pipefail
dagtap=$1
dagpatch=$2
program=$3
steps=400
file=$(mktemp -d "${TMPDIR:-/tmp}/recorded-XXXXXX")/run.dagtap
trap 'rm -rf "$(dirname "$file")"' EXIT

"$dagtap" record --softgpu -o "$file" -- "$dagpatch" run --stats "$file.json" -- "$program" $steps
grep -q '"instantiated": [1-9]' "$file.json"
"$dagtap" check "$file"
"$dagtap" graph "$file" >"$file.graph"
grep -q "graph 1: 8 nodes, 7 edges, $steps replays," "$file.graph"

"$dagtap" record --softgpu --force -o "$file" -- "$dagpatch" run --advise --stats "$file.advise" -- "$program" $steps
"$dagtap" check "$file"
"$dagtap" graph --advise "$file" >"$file.text"
grep -q "executable graph 1: [0-9]* of $steps launches have another set" "$file.text"
"$dagtap" graph --advise --json "$file" >"$file.json"
python3 - "$file.json" "$file.advise" $steps <<'END'
import json
import sys

told, = json.load(open(sys.argv[1]))["sets"]
counters, = [json.loads(line) for line in open(sys.argv[2])]
assert told["launches"] == int(sys.argv[3]), told
for name, counter in (("changed", "changed"), ("came_back", "came_back"), ("calls", "sets"),
                      ("calls_avoidable", "avoidable")):
    assert told[name] == counters[counter], (name, told, counters)
assert 0 < told["came_back"] < told["changed"] < told["launches"], told
assert 0 < told["sets"] == told["changed"] + 1 - told["came_back"], told
assert 0 < told["ns_avoidable"] < told["ns"], told
END
