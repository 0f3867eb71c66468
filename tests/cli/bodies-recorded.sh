#!/bin/bash
# A recording of tests/capture_cuda/device_bodies.cu with the CUPTI of CUDA 13.4 on an H100
# (tests/data): activities in the bodies of conditional nodes name the call of their launch.
. "$SOURCE_DIR/tests/cli/lib.sh"

recording=$SOURCE_DIR/tests/data/conditional-bodies.dagtap
printf 'graph_rows: 58\nbody_rows: 69\n' >"$work/said"
expect_closed "$recording"
grep "launches not judged" "$work/check" && fail "launches that are not judged"
grep -q "^graph: on: 69 activities of conditional bodies, not judged how many$" "$work/check" || fail "$(cat "$work/check")"
expect "graphs" "$(json "$recording" check '[[s[k] for k in ("expected", "received", "joined", "orphan_activities", "unexplained")]
	for s in d["sources"] if s["name"] == "graph"]')" "[[58, 58, 58, 0, 0]]"
python3 "$SOURCE_DIR/tests/capture_cuda/compare_bodies.py" "$dagtap" "$recording" "$work/said" || fail "what nodes hold"
