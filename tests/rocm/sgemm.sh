#!/bin/bash
# sgemm.sh "GPU..." M N K COUNT: rocBLAS's kernels are recorded by their names, each with its call
# and its dimensions; one a product when the matrices are small.
. "$SOURCE_DIR/tests/cli/lib.sh"

gpus=$1
shift
for gpu in $gpus; do
	record $gpu "$gpu,kernel_ns=1000," "$examples/sgemm" "$@"
	expect "kernels that reached $gpu" "$(reached_device $gpu)" "$4"
	"$dagtap" export --format csv -o "$work/$gpu.csv" "$work/$gpu.dagtap"
	python3 - "$work/$gpu.csv" "$4" "$gpu" <<-'END' || fail "the rows of $gpu"
		import csv, sys
		path, want, gpu = sys.argv[1:]
		rows = [row for row in csv.DictReader(open(path)) if row["kind"] == "kernel"]
		assert len(rows) == int(want), f"{len(rows)} kernels, not {want}"
		for row in rows:
		    assert row["name"].startswith("Cijk_"), row["name"]
		    assert f"_ISA{gpu[3:]}" in row["name"], row["name"]
		    assert row["api"] == "hipExtModuleLaunchKernel", row["api"]
		    grid, group = ([int(row[f"{what}_{axis}"]) for axis in "xyz"] for what in ("grid", "workgroup"))
		    assert grid[0] >= group[0] >= 64 and min(grid + group) >= 1, (grid, group)
	END
	expect_closed "$work/$gpu.dagtap"
done
