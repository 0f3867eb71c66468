#!/bin/bash
# scopes.sh: the instances of scopes in a recording of JAX on an H200 (tests/data), reckoned again
# from the CSV of the same file; the command's options; what it cannot find.
. "$(dirname "$0")/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
"$dagtap" export --format csv --table activities -o "$work/activities.csv" "$recording" || fail "export of activities"
"$dagtap" export --format csv --table scopes -o "$work/scopes.csv" "$recording" || fail "export of scopes"
"$dagtap" scopes --json "$recording" >"$work/groups.json" || fail "scopes: exit $?"
for pattern in "XlaModule:#hlo_module=jit_train*" "Thunk:*" "XlaCompile*"; do
	"$dagtap" scopes --json "$recording" "$pattern" >"$work/instances.json" || fail "scopes $pattern: exit $?"
	python3 "$here/count_scopes.py" "$work" "$pattern" || fail "scopes $pattern"
done

"$dagtap" scopes "$recording" "XlaModule:#hlo_module=jit_train*" >"$work/text" || fail "scopes: exit $?"
for line in '^scope "XlaModule:.*": 3 instances, 3 with timed work on a GPU$' "^GPU projection  *3 " "median  XlaModule:"; do
	grep -q "$line" "$work/text" || fail "no \"$line\" in $(cat "$work/text")"
done
"$dagtap" scopes --limit 2 --nth 1 "$recording" "XlaModule:#hlo_module=jit_train*" >"$work/text" || fail "scopes --nth: exit $?"
grep -q '^instance 1, "XlaModule:.*": .* against .* of the median instance' "$work/text" || fail "no comparison in $(cat "$work/text")"
grep -q '^\.\.\. 1 more (--limit 0 shows all)$' "$work/text" || fail "not told of more: $(cat "$work/text")"
"$dagtap" path --json --scope "XlaModule:#hlo_module=jit_train*" "$recording" >"$work/json" || fail "path --scope PATTERN: exit $?"
expect "windows of a pattern" "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["window_count"])' "$work/json")" 3

expect_code() { # WANT OPTIONS...
	local want=$1 code=0
	shift
	"$dagtap" scopes "$@" >/dev/null 2>"$work/error" || code=$?
	expect "exit code of scopes $*" $code "$want"
	[ "$want" -ne 1 ] || expect "lines on stderr" "$(wc -l <"$work/error")" 1
}
expect_code 2
expect_code 2 "$recording" a b
expect_code 2 --nth 1 "$recording"
expect_code 2 --limit -1 "$recording"
expect_code 1 "$work/absent"
expect_code 1 "$recording" "no such scope"
grep -q 'no scope "no such scope"; `dagtap scopes .*` lists them' "$work/error" || fail "not told what to do: $(cat "$work/error")"
expect_code 1 --nth 3 "$recording" "XlaModule:#hlo_module=jit_train*"
grep -q "has 3 instances, the last one is 2" "$work/error" || fail "not told how many: $(cat "$work/error")"
expect_code 0 --nth 2 "$recording" "XlaModule:#hlo_module=jit_train*"
