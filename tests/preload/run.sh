#!/bin/bash
# run.sh DAGPATCH PROGRAM: the options of "dagpatch run", its summary and its exit status. PROGRAM
# is preload-pattern-cuda.
set -euo pipefail
dagpatch=$1
program=$2
folder=$(mktemp -d "${TMPDIR:-/tmp}/run-XXXXXX")
trap 'rm -rf "$folder"' EXIT

refused() {
	local status=0

	"$dagpatch" "$@" >"$folder/out" 2>&1 || status=$?
	[ $status = 2 ] && grep -q '^usage: dagpatch run' "$folder/out"
}

refused run
refused run --execs 0 -- true
refused run --memory lots -- true
refused run --stats
refused run --summary --
refused run --wrong 1 -- true

# Lines of an earlier run do not count.
"$dagpatch" run --stats "$folder/stats" -- "$program" 300 cycle 2
"$dagpatch" run --execs 2 --memory 64M --stats "$folder/stats" --summary -- "$program" 1000 cycle 2 2>"$folder/summary"
cat "$folder/summary"
[ "$(wc -l <"$folder/stats")" = 2 ]
grep -q '^dagpatch: 1 process used graphs$' "$folder/summary"
grep -q '^ *1000  launches of virtual executables$' "$folder/summary"
grep -q '^ *1  executable graphs that were made' "$folder/summary"
grep -q ' us  setting a node in the driver, on average of' "$folder/summary"

# Two processes, without a file, and their exit status.
status=0
TMPDIR=$folder "$dagpatch" run --summary -- bash -c '"$0" 400 new; "$0" 500 new; exit 5' "$program" 2>"$folder/summary" || status=$?
[ $status = 5 ]
grep -q '^dagpatch: 2 processes used graphs$' "$folder/summary"
grep -q '^ *2  passed through: sets did not come back$' "$folder/summary"
grep -q '^the last one passed through because of GraphLaunch$' "$folder/summary"
status=0
"$dagpatch" run --summary -- bash -c 'kill -TERM $$' 2>/dev/null || status=$?
[ $status = 143 ]
