#!/bin/bash
# waits.sh WAITS RECORDS PROGRAM ARGS...: a program that says for each of its waits which record of
# an event it is for (--print-waits), against the rows of the recording.
. "$(dirname "$0")/lib.sh"
waits=$1 records=$2 program=$3
shift 3

record run "" "$examples/$program" "$@" --print-waits
expect_closed "$work/run.dagtap"
for table in waits events; do
	"$dagtap" export --format csv --table $table -o "$work/$table.csv" "$work/run.dagtap" || fail "export of $table"
done
python3 "$here/expected_waits.py" "$waits" "$records" "$work/run.out" "$work/waits.csv" "$work/events.csv" || fail "waits"
