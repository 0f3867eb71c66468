#!/bin/bash
# recorded.sh DAGTAP DAGPATCH PROGRAM: recorded by dagtap and under dagpatch run, a program's
# replays stay those of the one executable that it has, and everything is accounted for.
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
