#!/bin/bash
# gaps.sh: the gaps of the GPU in recordings of JAX and PyTorch on an H200 (tests/data), with what
# the host did in them, reckoned again from the CSV of the same files.
. "$(dirname "$0")/lib.sh"

recording=$SOURCE_DIR/tests/data/jax-steps.dagtap
for file in "$recording" "$SOURCE_DIR/tests/data/torch-small.json"; do
	for table in activities calls scopes; do
		"$dagtap" export -f --format csv --table $table -o "$work/$table.csv" "$file" || fail "export of $table"
	done
	"$dagtap" gaps --json --limit 0 "$file" >"$work/gaps.json" || fail "gaps: exit $?"
	python3 "$here/count_gaps.py" "$work" || fail "gaps of $file"
done

# The longest gap is that of a compilation, and it is named.
"$dagtap" gaps "$recording" >"$work/text" || fail "gaps: exit $?"
sed -n 3p "$work/text" | grep -q " host  XlaCompileBackend:#module=jit_train" ||
	fail "the compilation is not named: $(cat "$work/text")"
expect "rows" "$(sed 1,2d "$work/text" | grep -vc '^\.\.\.')" 10
grep -q '^\.\.\. 297 more (--limit 0 shows all)$' "$work/text" || fail "not told of more: $(cat "$work/text")"

# The gaps before some work: those of the whole, not those that would be there without the other
# work.
"$dagtap" gaps --json --limit 0 "$recording" >"$work/all.json"
"$dagtap" gaps --json --limit 0 --kernel "loop_*" "$recording" >"$work/some.json" || fail "gaps --kernel: exit $?"
expect "gaps before some kernels" "$(python3 -c 'import json, sys
everything, some = (json.load(open(path))["gaps"] for path in sys.argv[1:])
print(some == [gap for gap in everything if gap["after"]["name"].startswith("loop_")] != [])' "$work/all.json" "$work/some.json")" True
code=0
"$dagtap" gaps --kernel "no such kernel" "$recording" >"$work/out" 2>"$work/error" || code=$?
expect "exit code where nothing is selected" $code 1
