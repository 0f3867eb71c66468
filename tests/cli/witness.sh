#!/bin/bash
# witness.sh: `check` fails for launches without a recorded packet, on a device without counters,
# and gives the reason: the tool saw no HSA runtime, refused its table, or the packets bypassed the
# tool. Packets that one of HIP's own threads submits are explained.
. "$(dirname "$0")/lib.sh"
tool=$BUILD_DIR/tests/deaf_tool.so

# refused NAME LINE COUNT REASON: check of the recording ends with 3, names LINE's COUNT, and says
# why.
refused() {
	local code=0
	"$dagtap" check "$work/$1.dagtap" >"$work/check" 2>"$work/told" || code=$?
	expect "$1: exit status of check ($(cat "$work/check"))" $code 3
	grep -q "$2: $3 unexplained.*$4" "$work/told" || fail "$1: check says: $(cat "$work/told")"
}

# deaf HOW NAME PROGRAM ARGS...
deaf() {
	local name=$2
	export DEAF=$1 HSA_TOOLS_LIB=$tool
	shift 2
	record "$name" counters=0, "$@"
	unset DEAF HSA_TOOLS_LIB
}

with=${RUN_WITH:-}
RUN_WITH="env -u HSA_TOOLS_LIB $with"
record absent counters=0, "$examples/eager" 1000
refused absent hip.launch 1000 "HSA is not recorded: no runtime handed its table to the tool"
record graphs counters=0, "$examples/graph-bubbles" 10 5
RUN_WITH=$with
refused graphs graph 50 ""
deaf refuse refused "$examples/eager" 1000
refused refused hip.launch 1000 "HSA is not recorded: unknown major version of the core table"
deaf bypass bypassed "$examples/eager" 1000
refused bypassed hip.launch 1000 "launches brought no kernel into any queue that is watched"
deaf bypass bypassed-graphs "$examples/graph-bubbles" 10 5
refused bypassed-graphs graph 50 ""

AMD_DIRECT_DISPATCH=0 record threaded counters=0, "$examples/eager" 1000
expect_closed "$work/threaded.dagtap"
export DAGTAP_COUNTERS=0
record plain "" "$examples/eager" 1000
expect_closed "$work/plain.dagtap"
grep -q "^softgpu" "$work/check" && fail "the device's counters are not hidden from the tracer"
unset DAGTAP_COUNTERS
record hidden counters=0, "$examples/eager" 1000
expect_closed "$work/hidden.dagtap"
grep -q "^softgpu" "$work/check" && fail "the device's counters are not hidden"
expect "launches" "$(json "$work/hidden.dagtap" check '[s["received"] for s in d["sources"] if s["name"] == "hip.launch"]')" "[1000]"
