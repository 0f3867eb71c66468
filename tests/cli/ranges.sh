#!/bin/bash
# ranges.sh WAY FIRST LAST OPTIONS...: records a program that says what it did in each of its ranges
# (tests/capture_hip/ranged.c) with OPTIONS. The recordings hold the ranges from the FIRST to the
# LAST, each with its kernels, its graphs and their nodes and nothing else, and say so. LAST "all":
# the recordings together hold what the ranges hold together.
. "$(dirname "$0")/lib.sh"
way=$1 first=$2 last=$3
shift 3

launch record "--softgpu=kernel_ns=1000,report=$work/device.%p" --keep-spool "$@" -o "$work/run.dagtap" -- "$BUILD_DIR/tests/ranged" "$way" \
	>"$work/run.out" || fail "record $* exited with $?: $(cat "$work/run.out")"
expect_closed "$work/run.dagtap"
grep -q "capture range: begins with" "$work/check" || fail "no note of a begin: $(cat "$work/check")"
mapfile -t spools < <(ls -v "$work"/run.spool/*.spool)

kernels_of() { # SPOOL
	json "$1" summary '"%d %d" % (d["totals"]["kernels"], d["totals"]["graph_kernels"])'
}

if [ "$last" = all ]; then
	sum=0
	for spool in "${spools[@]}"; do
		expect_closed "$spool"
		read -r kernels _ < <(kernels_of "$spool")
		sum=$((sum + kernels))
	done
	expect "kernels" $sum "$(awk '/^range / { sum += $2 } END { print sum }' "$work/run.out")"
	exit 0
fi

# The device took what is recorded and what is said to have passed before it.
if [ "$way" = exit ]; then
	outside=$(sed -n 's/.*not recorded: \([0-9]*\) packets.*/\1/p' "$work/check")
	recorded=$(json "$work/run.dagtap" check '[s["expected"] for s in d["sources"] if s["name"] == "hsa.packet"][0]')
	taken=$(python3 - "$work"/device.* <<-'END'
		import json, sys
		report = json.load(open(sys.argv[1]))
		counters = report.get("counters", report)
		print(sum(n for name, n in counters.items() if name.startswith("packets_") and name != "packets_ended"))
	END
	)
	expect "packets of the device" "$taken" $((outside + recorded))
fi

expect "recordings" "${#spools[@]}" $((last - first + 1))
number=0
while read -r _ kernels graph_kernels; do
	spool=${spools[$number]}
	number=$((number + 1))
	expect_closed "$spool"
	expect "kernels of recording $number" "$(kernels_of "$spool")" "$kernels $graph_kernels"
	expect "named node counts of recording $number" \
		"$(json "$spool" graph 'sum(n["count"] for g in d["graphs"] for n in g["nodes"] if n.get("kernel"))')" "$graph_kernels"
done < <(grep '^range ' "$work/run.out" | sed -n "$first,${last}p")
expect "ranges" $number "${#spools[@]}"
