#!/bin/bash
# path.sh: the critical path of recorded programs adds up, whatever the window; its options; what it
# cannot find.
. "$(dirname "$0")/lib.sh"

record forkjoin "kernel_ns=20000," "$examples/graph-forkjoin" 4 3 5
record events "kernel_ns=20000," "$examples/streams-and-events" 20
record steps "kernel_ns=20000," "$examples/modules-in-steps" 3

path() { # NAME OPTIONS... EXPRESSION over `d`
	local name=$1 expression=${!#}
	"$dagtap" path --json "${@:2:$#-2}" "$work/$name.dagtap" >"$work/json" || fail "path ${*:1:$#-1}: exit $?"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/json" "$expression"
}

# Every ns of the windows is of one kind, of one segment, and, for each stream and GPU, busy or idle
# for one reason.
adds_up='[sum(d["kinds"].values()) == d["total_ns"] == sum(w["end_ns"] - w["begin_ns"] for w in d["windows"]),
	sum(s["end_ns"] - s["begin_ns"] for s in d["segments"]) == d["total_ns"],
	all(l["busy_ns"] + sum(l["idle"].values()) == l["window_ns"] > 0 for l in d["streams"] + d["gpus"]),
	all(a["end_ns"] == b["begin_ns"] for a, b in zip(d["segments"], d["segments"][1:]) if a["window"] == b["window"])]'
adds_up=${adds_up//$'\n'/ }
good="[True, True, True, True]"
for name in forkjoin events steps; do
	expect "$name: everything adds up" "$(path $name "$adds_up")" "$good"
done
expect "steps: the second one adds up" "$(path steps --step 1 "$adds_up")" "$good"
expect "steps: each scope adds up" "$(path steps --scope train "$adds_up")" "$good"
expect "forkjoin: a replay adds up" "$(path forkjoin --replay 1:2 "$adds_up")" "$good"

expect "instances of a scope" "$(path steps --scope train 'd["window_count"]')" 3
expect "one of them" "$(path steps --scope train --nth 2 'd["window_count"]')" 1
expect "a step and its scope" "$(path steps --step 2 'd["windows"]')" "$(path steps --scope train --nth 2 'd["windows"]')"
expect "two halves" "$(path steps --scope train --nth 0 'd["windows"][0]["begin_ns"] < d["windows"][0]["end_ns"]')" True

# A replay of 4 branches of 3 kernels and what joins them: kernels, gaps between them, and perhaps
# the launch that was still handing them over.
expect "kinds within a replay" "$(path forkjoin --replay 1:2 \
	'sorted(k for k, ns in d["kinds"].items() if ns and k not in ("kernel", "dispatch", "launch_latency", "host_call"))')" "[]"
expect "nodes of replays" "$(path forkjoin \
	'(d["nodes_unknown"], d["dependencies"]["graph_edge"]["count"] > 0, d["dependencies"]["graph_edge"]["contradicted"])')" \
	"(0, True, 0)"

# streams-and-events: each wait is found, and none of them is contradicted by the times.
expect "waits" "$(path events '(d["waits_resolved"] > 20, d["waits_unresolved"], d["dependencies"]["event"]["count"] > 0,
	d["dependencies"]["event"]["contradicted"])' | tr -d '\n')" "(True, 0, True, 0)"
expect "blocking copies" "$(path events 'd["dependencies"]["blocking_copy"]["count"] > 0')" True
expect "rows of JSON" "$(path events --limit 2 '(len(d["segments"]), d["segment_count"] > 2)')" "(2, True)"

"$dagtap" path "$work/events.dagtap" >"$work/text" || fail "path: exit $?"
for line in "^window    everything: " "^critical path$" "^the path$" "^idle "; do
	grep -q "$line" "$work/text" || fail "no \"$line\" in $(cat "$work/text")"
done

expect_code() { # WANT OPTIONS...
	local want=$1 code=0
	shift
	"$dagtap" path "$@" >/dev/null 2>"$work/error" || code=$?
	expect "exit code of path $*" $code "$want"
	[ "$want" -ne 1 ] || expect "lines on stderr" "$(wc -l <"$work/error")" 1
}
file=$work/forkjoin.dagtap
expect_code 2
expect_code 2 "$file" "$file"
expect_code 2 --step many "$file"
expect_code 2 --replay 1 "$file"
expect_code 2 --limit -1 "$file"
expect_code 2 --step 1 --replay 1:1 "$file"
expect_code 2 --nth 1 "$file"
expect_code 1 "$work/absent"
expect_code 1 --scope "no such scope" "$file"
expect_code 1 --step 77 "$file"
expect_code 1 --replay 1:99 "$file"
expect_code 1 --replay 99:0 "$file"
expect_code 1 --from 10 --to 5 "$file"
grep -q -- "--to is not after --from" "$work/error" || fail "not told why: $(cat "$work/error")"
expect_code 1 --from 10 --to 20 "$file"
read -r first last <<<"$(path forkjoin 'str(d["windows"][0]["begin_ns"]) + " " + str(d["windows"][0]["end_ns"])')"
grep -q "it lasts from $first to $last ns" "$work/error" || fail "not told from when to when: $(cat "$work/error")"
expect_code 1 --from "$last" "$file"
expect_code 0 --from "$first" --to "$last" "$file"
# With a unit, since the begin; the same windows as in ns.
middle=$(((first + last) / 2))
since=$((middle - first))
for unit in "${since}ns" "$((since / 1000)).$(printf %03d $((since % 1000)))us"; do
	expect "from $unit" "$(path forkjoin --from "$unit" 'd["windows"]')" "$(path forkjoin --from $middle 'd["windows"]')"
	expect "up to $unit" "$(path forkjoin --to "$unit" 'd["windows"]')" "$(path forkjoin --to $middle 'd["windows"]')"
done
expect_code 0 --from 0s --to 1000s "$file"
expect_code 1 --from 1000s "$file"
expect_code 1 --from 2us --to 1us "$file"
grep -q -- "--to is not after --from" "$work/error" || fail "not told why: $(cat "$work/error")"
expect_code 2 --from 2h "$file"
grep -q -- "--from takes ns or a number with ns, us, ms or s, not \"2h\"" "$work/error" || fail "units: $(cat "$work/error")"
