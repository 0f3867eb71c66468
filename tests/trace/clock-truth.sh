#!/bin/bash
# clock-truth.sh: on a device clock with an offset that drifts by 50 ppm, the times in the trace are
# within 1 us of what the software GPU knows to be true.
. "$SOURCE_DIR/tests/cli/lib.sh"

compare() { # NAME
	"$dagtap" export --format csv -o "$work/$1.csv" "$work/$1.dagtap"
	python3 "$SOURCE_DIR/tests/trace/clock_truth.py" "$work/truth" "$work/$1.csv" || fail "$1"
}

for drift in 50 -50; do
	options="clock_drift_ppm=$drift,clock_offset_ticks=987654321,truth=$work/truth,"
	record "drift$drift" "$options" "$examples/eager" 20000
	compare "drift$drift"
	record "graph$drift" "$options" "$examples/graph-bubbles" 500 20
	compare "graph$drift"
done
