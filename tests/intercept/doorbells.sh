#!/bin/bash
# doorbells.sh PRODUCERS BATCH: many producers on one queue; as many packets of each type, barrier
# bits and doorbells reach the device with the tool as without it. The ring has room for all
# packets: a producer that finds it full rings once more, which is a matter of time.
. "$SOURCE_DIR/tests/cli/lib.sh"
producers=$1 batch=$2
program=("$examples/raw-driver" --packets 32000 --ring 65536 --producers "$producers" --batch "$batch"
	--completion none)
options="kernel_ns=200,report=$work/%s.report"

LD_PRELOAD=${SANITIZER_RUNTIME:-} "$dagtap" softgpu="${options//%s/bare}" -- "${program[@]}" \
	>"$work/out" || fail "${program[*]} exited with $?: $(cat "$work/out")"
launch record "--softgpu=${options//%s/traced}" -o "$work/run.dagtap" -- "${program[@]}" \
	>"$work/out" || fail "${program[*]}, traced, exited with $?: $(cat "$work/out")"
expect_closed "$work/run.dagtap"
python3 - "$work/bare.report" "$work/traced.report" <<-'END' || fail "not the same"
	import json, sys

	names = ("packets_kernel_dispatch", "packets_barrier_and", "barrier_bits", "doorbells")
	bare, traced = ([json.load(open(path))["counters"][name] for name in names] for path in sys.argv[1:])
	print(*(f"{name}: {one}, traced {other}" for name, one, other in zip(names, bare, traced)), sep="\n")
	sys.exit(bare != traced)
END
