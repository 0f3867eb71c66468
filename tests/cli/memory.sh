#!/bin/bash
# memory.sh: the memory of programs on HIP, on HSA alone and on CUDA, reckoned again from the CSV of
# the same recordings. memory.sh SCENES: only of this program on HIP (tests/rocm).
. "$(dirname "$0")/lib.sh"
scenes=${1:-$BUILD_DIR/tests/hip-scenes}

compare() { # NAME [OPTION KEY=VALUE]
	local options=()
	[ $# -eq 1 ] || options=("$2")
	for table in memory scopes; do
		"$dagtap" export -f --format csv --table $table -o "$work/$table.csv" "$work/$1.dagtap" || fail "export"
	done
	"$dagtap" memory --json "${options[@]}" "$work/$1.dagtap" >"$work/memory.json" || fail "memory ${options[*]}: exit $?"
	python3 "$here/count_memory.py" "$work" "${@:3}" || fail "memory of $1 ${options[*]}"
}

record held "" "$scenes" held
expect "operations" "$(json "$work/held.dagtap" memory 'sum(d["allocations"] + d["releases"] for d in d["devices"])')" 600
compare held
compare held "--scope=layer 3" "scope=layer 3"
compare held --stream=1 stream=1
compare held --device=0 device=0
code=0
"$dagtap" memory --scope "no such layer" "$work/held.dagtap" >"$work/out" 2>"$work/error" || code=$?
expect "exit code where nothing is selected" $code 1

# Each kind, an allocation that fails, and arrays.
record kinds "" "$scenes" allocations
compare kinds
expect "kinds" "$(json "$work/kinds.dagtap" memory 'sorted({d["kind"] for d in d["devices"]})')" \
	"['array', 'device', 'host', 'managed']"
expect "what failed" "$(json "$work/kinds.dagtap" memory '[f["result"] for f in d["failed"]]')" "[2]"

[ $# -eq 0 ] || exit 0

# A reset of a device releases what HIP does not know afterwards: with one device all, with two what
# is the device's. The program resets its last device and then allocates 5000 bytes.
for gpus in 1 2; do
	record reset$gpus "gpus=$gpus," "$scenes" device-reset
	compare reset$gpus
	left=$(json "$work/reset$gpus.dagtap" memory 'sorted((l["kind"], l["bytes"], l["gpu"]) for l in d["leaks"])')
	if [ $gpus -eq 1 ]; then
		expect "what HIP knows" "$(paste -sd, "$work/reset$gpus.out")" "device 0,host 0,managed 0"
		expect "what is left" "$left" "[('device', 5000, 0)]"
	else
		expect "what HIP knows" "$(paste -sd, "$work/reset$gpus.out")" "device 1,device 0,host 1,managed 1"
		expect "what is left" "$left" \
			"[('array', 512, 0), ('device', 1000, 0), ('device', 5000, 1), ('host', 3000, None), ('managed', 4000, None)]"
	fi
	expect "arrays' devices" "$(json "$work/reset$gpus.dagtap" memory \
		'[(d["gpu"], d["allocated_bytes"], d["live_bytes"]) for d in d["devices"] if d["kind"] == "array"]')" \
		"$([ $gpus -eq 1 ] && echo "[(0, 512, 0)]" || echo "[(0, 512, 512), (1, 576, 0)]")"
done

# Without HIP, what is allocated from HSA's memory pools. The program releases all of it.
record raw "" "$examples/raw-driver" --packets 10
compare raw
expect "left at the end" "$(json "$work/raw.dagtap" memory '[d["live_bytes"] for d in d["devices"]]')" "[0]"
expect "leaks" "$(json "$work/raw.dagtap" memory 'd["leaks"]')" "[]"
! "$dagtap" memory "$work/raw.dagtap" | grep -q ' -[0-9]' || fail "a time before the recording"

# JAX on an H200: what CUPTI reported.
cp "$SOURCE_DIR/tests/data/jax-steps.dagtap" "$work/cuda.dagtap"
compare cuda
compare cuda --device=0 device=0

# Each table as CSV has a head and its rows.
for table in devices peak scopes leaks failed time; do
	"$dagtap" memory --csv --table $table "$work/kinds.dagtap" >"$work/table.csv" || fail "$table: exit $?"
	expect "rows of $table" "$(($(wc -l <"$work/table.csv") - 1))" "$(json "$work/kinds.dagtap" memory "len(d[\"$table\"])")"
done
