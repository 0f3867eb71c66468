#!/bin/bash
# sdk-kernels.sh PROGRAM ARGS...: a profiler that wants no records is told of the kernels that ran.
. "$SOURCE_DIR/tests/cli/lib.sh"

launch record --sdk -q "--softgpu=kernel_ns=1000" -o "$work/run.dagtap" -- \
	bash -c 'CLIENT_KERNELS=1 CLIENT_OUT=$0 LD_PRELOAD="$LD_PRELOAD:$1" exec "${@:2}"' "$work/client" \
	"$BUILD_DIR/tests/sdk/libsdk-client.so" "$@" >"$work/run.out" || fail "$1 exited with $?"
"$dagtap" export --format csv -o "$work/activities.csv" "$work/run.dagtap"
expected=$(python3 -c 'import csv, sys
print(*sorted({row["name"] for row in csv.DictReader(open(sys.argv[1])) if row["kind"] == "kernel"}), sep="\n")' \
	"$work/activities.csv")
expect "kernels" "$(sed -n 's/^kernel [0-9]* \(.*\)\.kd$/\1/p' "$work/client" | sort)" "$expected"
expect "other lines" "$(grep -cv '^process\|^kernel\|^flushed\|^finished' "$work/client")" 0
