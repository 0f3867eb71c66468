#!/bin/bash
# doors.sh WRAPPED: what got in, by what each source says of itself: HIP's table where it is handed
# over and only there, WRAPPED of its functions, and HSA's either way, both whole; and the same
# calls and kernels are counted.
. "$SOURCE_DIR/tests/cli/lib.sh"

headers=$ROCM/usr/include/hip
version=$(sed -n 's/#define HIP_VERSION_M[AI][JN]OR //p' "$headers/hip_version.h" | paste -s -d.)
functions=$(python3 "$SOURCE_DIR/scripts/gen-tables.py" list "$headers/amd_detail/hip_api_trace.hpp" | grep -c '^[0-9]')

# Of the header of ROCr: the functions of a table are pointers behind 16 bytes of version.
table_bytes() { # STRUCT
	echo $((16 + 8 * $(awk "/^struct $1 /,/^};/" "$ROCM/usr/include/hsa/hsa_api_trace.h" | grep -c '_fn;')))
}
hsa_tables="core $(table_bytes CoreApiTable) bytes; extensions $(table_bytes AmdExtTable) bytes"

totals() {
	json "$work/$1.dagtap" summary '[d["totals"][what] for what in ("api_calls", "kernels", "graph_kernels", "orphan_activities")]'
}

record symbols "" "$examples/graph-bubbles" 50 10
RUN_WITH="$SOURCE_DIR/tests/rocm/handing-over.sh" record tables "" "$examples/graph-bubbles" 50 10
"$dagtap" info "$work/symbols.dagtap" >"$work/symbols.info"
"$dagtap" info "$work/tables.dagtap" >"$work/tables.info"
! grep -q 'hip.table' "$work/symbols.info" || fail "a table nobody handed over: $(cat "$work/symbols.info")"
grep -q "hip.table: on, $version: $1 of its $functions functions wrapped" "$work/tables.info" || fail "HIP's table: $(cat "$work/tables.info")"
for door in symbols tables; do
	grep -q "hsa.table: on, $hsa_tables\(,\|\$\)" "$work/$door.info" || fail "HSA's: $(cat "$work/$door.info")"
done
expect "calls, kernels, of graphs, without a call" "$(totals tables)" "$(totals symbols)"
