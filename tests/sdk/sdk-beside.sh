#!/bin/bash
# sdk-beside.sh PROGRAM: where the user names a rocprofiler-sdk, dagtap's is not loaded, and dagtap
# says so. A copy of dagtap's in another folder stands for it. Another library in the same variable
# changes nothing.
. "$SOURCE_DIR/tests/cli/lib.sh"

ours=$BUILD_DIR/lib/dagtap/sdk/librocprofiler-sdk.so.1
theirs=$work/librocprofiler-sdk.so.1
other=$work/librocprofiler-register.so.0
cp "$ours" "$theirs"
cp "$ours" "$other"

# loaded: the SDKs in the program's process, as far as variable=$1 has an effect there.
loaded() {
	env "$1" "$dagtap" record --sdk --softgpu -f -q -o "$work/run.dagtap" -- bash -c \
		'"$0" >/dev/null; cat /proc/self/maps' "$2" >"$work/maps" 2>"$work/said" || fail "exit code $?"
	sed -n 's/.* \(.*librocprofiler-sdk.so.*\)/\1/p' "$work/maps" | sort -u
}

for variable in LD_PRELOAD ROCPROFILER_REGISTER_LIBRARY; do
	expected=
	[ $variable = ROCPROFILER_REGISTER_LIBRARY ] || expected=$theirs
	expect "$variable" "$(loaded "$variable=$theirs" "$1")" "$expected"
	expect "what it says" "$(grep -c "$variable names $theirs: it stays" "$work/said")" 1
	expect "$variable of another" "$(loaded "$variable=$other" "$1")" "$ours"
	expect "what it says" "$(grep -c 'it stays' "$work/said")" 0
done
