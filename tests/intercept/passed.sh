#!/bin/bash
# passed.sh: the two calls of intercept-passed know what they have submitted, also where another
# thread has passed it to the device, and the recording misses nothing of them.
. "$(dirname "$0")/../cli/lib.sh"

record run "kernel_ns=2000," "$BUILD_DIR/tests/intercept-passed"
expect "what the calls have submitted" "$(sort "$work/run.out" | uniq -c | tr -s ' ')" \
	" 2 call: 1 kernels, 0 copies, 0 unknown"
expect_closed "$work/run.dagtap"
"$dagtap" export --format csv --table calls -o "$work/calls.csv" "$work/run.dagtap"
expect "activities expected of the calls" "$(python3 -c 'import csv, sys
print(*(row["activities_expected"] for row in csv.DictReader(open(sys.argv[1])) if row["api"] == "hipLaunchKernel"))' \
	"$work/calls.csv")" "2 2"
