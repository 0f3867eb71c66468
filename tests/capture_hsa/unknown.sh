#!/bin/bash
# unknown.sh SCENE TABLES LINE COUNT: the device tells nothing of what it had, as a real one, and
# still `dagtap check` fails, by COUNT in LINE; without a LINE it is content. EXIT: of the program;
# 137: it is killed.
. "$SOURCE_DIR/tests/cli/lib.sh"
scene=$1 tables=$2 line=${3:-} count=${4:-} exit=${5:-0} code=0

launch record -q "--softgpu=gfx906,counters=0,rocr7_tables=$tables" -o "$work/run.dagtap" -- \
	"$BUILD_DIR/tests/hsa-scenes" "$scene" >"$work/out" 2>&1 || code=$?
expect "exit code of $scene ($(cat "$work/out"))" $code "$exit"
if [ -z "$line" ]; then
	expect_closed "$work/run.dagtap"
	exit
fi
code=0
"$dagtap" check "$work/run.dagtap" >"$work/check" 2>&1 || code=$?
expect "exit code of check ($(cat "$work/check"))" $code 3
expect "what is unexplained" "$(json "$work/run.dagtap" check \
	'[(s["name"], s["unexplained"]) for s in d["sources"] if s["unexplained"]]')" "[('$line', $count)]"
