#!/bin/bash
# advise.sh: `graph --advise` reports the one node that a program updates before each replay,
# and no other node.
. "$(dirname "$0")/lib.sh"

record update "kernel_ns=20000," "$examples/graph-update" 20
record plain "kernel_ns=20000," "$examples/graph-forkjoin" 2 2 3

advise() { # NAME EXPRESSION over `d`
	"$dagtap" graph --advise --json "$work/$1.dagtap" >"$work/json" || fail "graph --advise --json: exit $?"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/json" "$2"
}

expect "updated nodes" "$(advise update '[[(n["name"], n["updates"]) for n in g["updated_nodes"]] for g in d["graphs"]]')" \
	"[[('reduce', 20)]]"
expect "calls" "$(advise update '[(g["replays"], g["calls"], g["host_ns"] > 0, g["others_are_fixed"]) for g in d["graphs"]]')" \
	"[(20, 20, True, True)]"
expect "calls of unknown graphs" "$(advise update 'd["unplaced_calls"]')" 0
"$dagtap" graph --advise "$work/update.dagtap" >"$work/text"
grep -q "1 of 6 nodes changes between replays, .* in 20 updates, .*: bind this as a slot (node 3); the others are fixed" \
	"$work/text" || fail "advice: $(cat "$work/text")"

code=0
"$dagtap" graph --advise --graph 99 "$work/update.dagtap" 2>"$work/error" || code=$?
expect "exit code for a graph that is not there" $code 1
grep -q "no graph 99" "$work/error" || fail "not told which: $(cat "$work/error")"
expect "without updates" "$("$dagtap" graph --advise "$work/plain.dagtap")" "no updates of graphs"
code=0
"$dagtap" graph --advise --dot "$work/update.dagtap" 2>"$work/err" || code=$?
expect "--advise --dot" $code 2
