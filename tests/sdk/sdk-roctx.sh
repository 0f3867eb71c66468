#!/bin/bash
# sdk-roctx.sh: a profiler in a program that calls each function of a made-up roctx by its symbol,
# which goes on through its tables, gets each call once: callbacks, arguments and a record.
. "$SOURCE_DIR/tests/cli/lib.sh"

launch record --sdk -q -o "$work/run.dagtap" -- bash -c \
	'CLIENT_OUT=$0 LD_PRELOAD="$1:$LD_PRELOAD" exec "${@:2}"' "$work/client" "$BUILD_DIR/tests/sdk/libsdk-client.so" \
	"$BUILD_DIR/tests/tables-caller" all-of-roctx >"$work/run.out" 2>&1 || fail "the program: $(cat "$work/run.out")"
sed -n 's/^\(begin\|end\|control_enter\|control_exit\) [0-9]* /\1 /p' "$work/client" >"$work/callbacks"
sed -n 's/^\(range_enter\|range_exit\) [0-9]* /\1 /p' "$work/client" >"$work/ranges"
# The operation, and the message or the arguments.
cat >"$work/made" <<-'END'
	begin op 0 a mark
	end op 0 a mark
	begin op 1 a range
	end op 1 a range
	begin op 2 -
	end op 2 -
	begin op 3 another range
	end op 3 another range
	begin op 4 -
	end op 4 -
	begin op 5 -
	end op 5 -
	control_enter roctxProfilerPause tid=9 returns 0
	control_exit roctxProfilerPause tid=9 returns 1
	control_enter roctxProfilerResume tid=9 returns 0
	control_exit roctxProfilerResume tid=9 returns 1
	control_enter roctxNameOsThread name=a thread returns 0
	control_exit roctxNameOsThread name=a thread returns 1
	control_enter roctxNameHsaAgent name=an agent agent=0xa0 returns 0
	control_exit roctxNameHsaAgent name=an agent agent=0xa0 returns 2
	control_enter roctxNameHipDevice name=a device device_id=3 returns 0
	control_exit roctxNameHipDevice name=a device device_id=3 returns 3
	control_enter roctxNameHipStream name=a stream stream=0x50 returns 0
	control_exit roctxNameHipStream name=a stream stream=0x50 returns 4
	control_enter roctxNameOsThread name=by pointer returns 0
	control_exit roctxNameOsThread name=by pointer returns 5
END
diff "$work/made" "$work/callbacks" || fail "callbacks"
ids() { # WORD...: the correlation ids of the lines that begin so
	awk -v words=" $* " 'index(words, " " $1 " ") { print $2 }' "$work/client"
}
expect "correlation ids of the records" "$(ids mark control)" "$(ids begin control_enter)"
# The same calls as ranges: one that begins in one call and ends in another has the first one's id.
cat >"$work/made" <<-'END'
	range_enter roctxMarkA message=a mark returns 0
	range_exit roctxMarkA message=a mark returns 0
	range_enter roctxThreadRangeA message=a range returns 0
	range_exit roctxThreadRangeA message=a range returns 0
	range_enter roctxProcessRangeA message=another range returns 0
	range_exit roctxProcessRangeA message=another range returns 100
END
grep -v roctxGetThreadId "$work/ranges" | diff "$work/made" - || fail "ranges"
expect "entries and returns of roctxGetThreadId" "$(grep -c roctxGetThreadId "$work/ranges")" 2
expect "correlation ids of the ranges" "$(ids range)" "$(ids range_enter)"
expect "ranges that are calls, too" "$(ids range_enter | grep -cxFf <(ids begin))" 4
