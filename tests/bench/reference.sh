#!/bin/bash
# reference.sh: dagtap-bench reference from outside: a spool of one step that dagtap finds whole,
# figures for it beside their floors, and nothing overwritten or left behind.
. "$SOURCE_DIR/tests/cli/lib.sh"
bench=$BUILD_DIR/bin/dagtap-bench
export TMPDIR=$work
cd "$work"

code() { # COMMAND...: its exit code
	local code=0
	"$@" >out 2>err || code=$?
	echo $code
}

expect "exit code of generating" "$(code "$bench" reference --scale 0.01 --keep run.spool --generate-only)" 0
expect "exit code of check" "$(code "$dagtap" check run.spool)" 0
sum=$(sha256sum run.spool)
expect "exit code of generating again" "$(code "$bench" reference --scale 0.01 --keep run.spool --generate-only)" 1
expect "the spool" "$(sha256sum run.spool)" "$sum"

"$dagtap" summary --json run.spool | python3 -c '
import json, sys
t = json.load(sys.stdin)["totals"]
print(t["kernels"] + t["copies"] + t["memsets"], t["api_calls"], t["gpus"], t["orphan_activities"])' >totals
expect "events, calls, GPUs, orphans" "$(cat totals)" "37764 47448 8 0"

expect "exit code of measuring" "$(code "$bench" reference --keep run.spool --json)" 0
python3 -c '
import json
(row,) = json.load(open("out"))
assert row["device_events_n"] == 37764 and row["host_events_n"] == 47448, row
assert row["total_s"] > 0 and row["peak_MiB"] > 1 and row["output_event_B"] > 1, row
for stage in "load", "export", "copy", "touch", "write", "encode":
    assert row[stage + "_user_s"] + row[stage + "_system_s"] >= 0, row' || fail "the figures: $(cat out)"

for wrong in "--scale 0" "--scale 1x" "--seed x" "--generate-only" "file"; do
	# shellcheck disable=SC2086
	expect "exit code of $wrong" "$(code "$bench" reference $wrong)" 2
done
expect "what is left" "$(ls)" "$(printf 'err\nout\nrun.spool\ntotals')"
