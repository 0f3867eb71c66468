#!/bin/bash
# report.sh: the data in the page of a report is what the commands print with --json; the timeline's
# sums are those of the CSV of the same file; what a text in a recording cannot do to the page; the
# command's options.
. "$(dirname "$0")/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
"$dagtap" report -o "$work/page.html" "$recording" || fail "report: exit $?"
"$dagtap" report --json "$recording" >"$work/data.json" || fail "report --json: exit $?"
for table in activities calls; do
	"$dagtap" export --format csv --table $table -o "$work/$table.csv" "$recording" || fail "export of $table"
done
python3 "$here/count_report.py" recording "$dagtap" "$work" "$recording" || fail "report of a recording"

# Two recordings side by side.
other=$SOURCE_DIR/tests/data/torch-small.json
"$dagtap" report -o "$work/pair.html" "$recording" "$other" || fail "report of two: exit $?"
python3 "$here/count_report.py" comparison "$dagtap" "$work" "$recording" "$other" || fail "report of two"

# A recording with more rows than a page has room for: 80,000 kernels and as many calls.
"$BUILD_DIR/bin/dagtap-bench" reference --scale 0.03 --keep "$work/large.spool" --generate-only >/dev/null || fail "reference"
"$dagtap" report -o "$work/page.html" -f "$work/large.spool" || fail "report of a large recording: exit $?"
for table in activities calls; do
	"$dagtap" export --format csv --table $table -f -o "$work/$table.csv" "$work/large.spool" || fail "export of $table"
done
python3 "$here/count_report.py" large "$dagtap" "$work" "$work/large.spool" || fail "report of a large recording"

# The steps can be chosen; a text with an end tag stays a text.
"$dagtap" report --json --step-of 'Thunk:*' "$recording" >"$work/data.json" || fail "report --step-of: exit $?"
expect "steps" "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["steps"]["scope"])' "$work/data.json")" "Thunk:*"
# Without a scope that repeats, the replays of the graph with the longest work are the steps.
record graphs "" "$examples/graph-update" 6
"$dagtap" report --json "$work/graphs.dagtap" >"$work/data.json" || fail "report of graphs: exit $?"
python3 "$here/count_report.py" graphs "$dagtap" "$work" "$work/graphs.dagtap" || fail "report of graphs"

sed 's|"aten::matmul"|"</script><b>matmul"|g' "$other" >"$work/tags.json"
cmp -s "$other" "$work/tags.json" && fail "no scope to rename"
"$dagtap" report -f -o "$work/page.html" "$work/tags.json" || fail "report of tags: exit $?"
expect "end tags" "$(grep -c '</script>' "$work/page.html")" 2

expect_code() { # WANT OPTIONS...
	local want=$1 code=0
	shift
	"$dagtap" report "$@" >"$work/out" 2>"$work/error" || code=$?
	expect "exit code of report $* ($(cat "$work/error"))" $code "$want"
}
expect_code 2 "$recording"
expect_code 2 -o "$work/new.html"
expect_code 2 -o "$work/new.html" a b c
expect_code 2 -o "$work/new.html" --step-of 'x *' "$recording" "$recording"
expect_code 1 -o "$work/page.html" "$recording"
grep -q -e '--force replaces it' "$work/error" || fail "not told of --force: $(cat "$work/error")"
expect_code 1 -o "$work/new.html" "$work/absent"
[ ! -e "$work/new.html" ] || fail "a page of nothing"
expect_code 0 -o - "$recording"
grep -q '<title>dagtap report' "$work/out" || fail "no page on standard output"
