#!/bin/bash
# sdk-other.sh STAND_IN PROGRAM ARGS...: beside another rocprofiler-sdk in the process dagtap's
# configures no tool and says so in the recording, whichever was loaded first. Of two copies of
# dagtap's one has the tool.
. "$SOURCE_DIR/tests/cli/lib.sh"
stand_in=$1
shift

ours=$BUILD_DIR/lib/dagtap/sdk/librocprofiler-sdk.so.1
client=$BUILD_DIR/tests/sdk/libsdk-client.so
copy=$work/librocprofiler-sdk.so.1
cp "$ours" "$copy"

# beside NAME LIBRARIES VARIABLE PROGRAM ARGS...: records the program with LIBRARIES in it, in this
# order.
beside() {
	launch record --calls all -f -q "--softgpu=kernel_ns=1000" -o "$work/$1.dagtap" -- env "$3" CLIENT_OUT="$work/$1.client" \
		LD_PRELOAD="$2:$client:$BUILD_DIR/lib/dagtap/libdagtap-inject.so:$BUILD_DIR/lib/dagtap/softgpu/libhsa-runtime64.so.1" "${@:4}" \
		>"$work/$1.out" 2>"$work/$1.err" || fail "$1: exit code $?: $(cat "$work/$1.err")"
	"$dagtap" info "$work/$1.dagtap" >"$work/$1.info"
}
said() { # NAME OTHER: how often the recording says that dagtap's gives no records
	grep -c "rocprofiler-sdk: $ours gives no records beside $2" "$work/$1.info" || :
}

for order in "before $stand_in:$ours" "after $ours:$stand_in"; do
	read -r name libraries <<<"$order"
	beside "$name" "$libraries" CLIENT_WAITS=1 "$@"
	expect "$name: lines" "$(wc -l <"$work/$name.client")" 0
	expect "$name: notes" "$(said "$name" "$stand_in")" 1
	expect "$name: printed" "$(cat "$work/$name.err")" ""
done
beside refused "$ours:$stand_in" CLIENT_REFUSED=1 "$@"
expect "refused: lines" "$(wc -l <"$work/refused.client")" 0
expect "refused: notes" "$(said refused "$stand_in")" 1

for order in "first $ours:$copy" "second $copy:$ours"; do
	read -r name libraries <<<"$order"
	for variable in CLIENT_WAITS=1 CLIENT_OTHER=1; do
		beside "$name" "$libraries" $variable "$@"
		expect "$name, $variable: ends" "$(grep -c ^finished "$work/$name.client")" 1
		expect "$name, $variable: kernels and copies" "$(grep -c "^dispatch\|^copy" "$work/$name.client")" \
			"$(sed -n 's/^activities *//p' "$work/$name.info")"
	done
done
