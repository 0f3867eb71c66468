#!/bin/bash
# repeat.sh: two recordings of one program agree by kernel and by node; one spool gives the same
# bytes each time it is converted, in whatever order its chunks lie, packed or not.
. "$(dirname "$0")/lib.sh"

by_kernel='sorted((k["name"], k["count"]) for k in d["kernels"])'
by_node='[[(n["id"], n.get("kernel"), n["count"]) for n in g["nodes"]] for g in d["graphs"]]'
for name in first second; do
	keep=--keep-spool record $name "" "$examples/graph-forkjoin" 4 4 20
done
for question in "summary $by_kernel" "graph $by_node"; do
	command=${question%% *}
	expect "$command of a second recording" "$(json "$work/second.dagtap" "$command" "${question#* }")" \
		"$(json "$work/first.dagtap" "$command" "${question#* }")"
done

mv "$work/first.spool" "$work/plain.spool"
for number in 1 2 3; do
	draw 1000000
	python3 "$here/spool.py" shuffle "$work/plain.spool" "$work/shuffled$number.spool" "$drawn"
done
cp -r "$work/plain.spool" "$work/again.spool"
for format in csv perfetto; do
	for source in plain again shuffled1 shuffled2 shuffled3; do
		"$dagtap" export --format $format -o "$work/$source.$format" "$work/$source.spool" ||
			fail "export of $source as $format"
		cmp "$work/plain.$format" "$work/$source.$format" || fail "$format of $source differs"
	done
done
"$dagtap" export --format csv -o "$work/packed.csv" "$work/first.dagtap"
cmp "$work/plain.csv" "$work/packed.csv" || fail "csv of the packed recording differs"
for question in summary graph check; do
	"$dagtap" $question --json "$work/plain.spool" | grep -v '"command"\|"file"\|"exit_status"' >"$work/plain.json"
	"$dagtap" $question --json "$work/first.dagtap" | grep -v '"command"\|"file"\|"exit_status"' >"$work/packed.json"
	cmp "$work/plain.json" "$work/packed.json" || fail "$question of the packed recording differs"
done
