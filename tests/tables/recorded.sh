#!/bin/bash
# recorded.sh: dagtap on made-up libraries that hand out their tables: the doors are open by what
# `record` sets, and the commands show what came in. They have no GPU: kernels that they launch are
# missed, and nothing else.
. "$SOURCE_DIR/tests/cli/lib.sh"

hand_out() { # SCENE LAUNCHES
	local code=0
	launch record -o "$work/$1.dagtap" -- "$BUILD_DIR/tests/tables-caller" "$1" >"$work/$1.out" 2>&1 ||
		fail "record $1: $(cat "$work/$1.out")"
	"$dagtap" check --json "$work/$1.dagtap" >"$work/$1.check" 2>/dev/null || code=$?
	expect "exit status of check of $1" $code "$(($2 ? 3 : 0))"
	expect "what is missing in $1" "$(json "$work/$1.dagtap" check \
		'[(s["name"], s["unexplained"]) for s in d["sources"] if s["unexplained"]]' 2>/dev/null)" \
		"$([ "$2" = 0 ] && echo "[]" || echo "[('hip.launch', $2)]")"
	"$dagtap" info "$work/$1.dagtap" >"$work/$1.info"
	"$dagtap" summary --by api --json "$work/$1.dagtap" >"$work/$1.calls"
}

says() { # FILE TEXT
	grep -q -- "$2" "$work/$1" || fail "$1 does not say \"$2\": $(cat "$work/$1")"
}

hand_out both-ways 3
hand_out rccl 7
hand_out other-major 3
hand_out shorter 3
hand_out longer 3
hand_out second-captures 2
says both-ways.info 'hip.table: on, 7.2: 5 of its 506 functions wrapped$'
says both-ways.calls '"hipMemcpyAsync", "count": 12,'
says both-ways.calls '"hipStreamSynchronize", "count": 6,'
says shorter.info 'hip.table: on, .*160 fewer than this tool knows$'
says longer.info 'hip.table: on, .*1 are newer than this tool$'
says other-major.info 'hip.table: absent, .* version 8.0 '
says other-major.calls '"hipMemcpyAsync", "count": 5,'
says rccl.info 'rccl.table: on, 2.27: 5 of its 41 functions wrapped$'
says rccl.calls '"ncclAllReduce", "count": 7,'
says rccl.calls '"hipLaunchKernel", "count": 7,'
expect "RCCL's line of the ledger" "$(json "$work/rccl.dagtap" check \
	'[(s["expected"], s["received"]) for s in d["sources"] if s["name"] == "rccl"]')" "[(10, 10)]"
expect "the source in info's JSON" "$(json "$work/rccl.dagtap" info \
	'[s["state"] for s in d["sources"] if s["name"] == "rccl.table"]')" "['on']"

# Functions that we stand in for and that only a plugin sees are still the plugin's.
launch record -o "$work/plugin.dagtap" -- "$BUILD_DIR/tests/plugin-host" "$BUILD_DIR/tests/models/libmodel_plugin.so" \
	>"$work/plugin.out" 2>&1 || fail "record plugin-host: $(cat "$work/plugin.out")"
says plugin.out '^version: 22707$'
