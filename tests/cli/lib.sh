# Sourced by the end-to-end tests: a temporary work folder, functions that run dagtap, and queries
# of its JSON. CTest sets BUILD_DIR, SOURCE_DIR and SANITIZER_RUNTIME, tests/run.sh TMPDIR;
# tests/rocm also EXAMPLES_DIR, and RUN_WITH to start them.
set -eu

dagtap=$BUILD_DIR/bin/dagtap
examples=${EXAMPLES_DIR:-$BUILD_DIR/examples}
here=$SOURCE_DIR/tests/cli
work=$(mktemp -d)
# In a test, tests/run.sh removes or keeps the folder.
[ -n "${DAGTAP_TEST_FOLDER:-}" ] || trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# draw LIMIT: a random number below LIMIT in $drawn, by the seed of the test. draw_any LIMIT: of any
# magnitude, from 1.
RANDOM=${DAGTAP_TEST_SEED:-1}
draw() {
	drawn=$(((RANDOM << 15 | RANDOM) % $1))
}
draw_any() {
	local bits=0
	while [ $((2 << bits)) -le "$1" ]; do bits=$((bits + 1)); done
	draw $bits
	bits=$drawn
	draw $((1 << bits))
	drawn=$(((1 << bits) + drawn))
}

# dagtap, starting a program: in a sanitizer build its runtime has to come before the injected
# library.
launch() {
	LD_PRELOAD="${SANITIZER_RUNTIME:-}${preload:+ $preload}" "$dagtap" "$@"
}

# record NAME SOFTGPU-OPTIONS PROGRAM ARGS...: makes $work/NAME.dagtap, and leaves the program's
# output in $work/NAME.out and the software GPU's counters in $work/NAME.softgpu.*;
# keep=--keep-spool leaves the spools in $work/NAME.spool too; preload= names a library of the
# test's.
record() {
	local name=$1 options=$2
	shift 2
	launch record ${keep:-} "--softgpu=${options}report=$work/$name.softgpu.%p" -o "$work/$name.dagtap" -- ${RUN_WITH:-} "$@" \
		>"$work/$name.out" || fail "record $* exited with $?: $(cat "$work/$name.out")"
}

# What the program itself says it launched.
launched() {
	sed -n 's/^kernels launched: //p' "$work/$1.out"
}

# The program's own dispatches by the software GPU's count, over all processes.
reached_device() {
	python3 - "$work/$1".softgpu.* <<-'END'
		import json, sys
		total = 0
		for path in sys.argv[1:]:
		    report = json.load(open(path))
		    counters = report.get("counters", report)
		    total += counters["packets_kernel_dispatch"] - counters["dispatches_blit"]
		print(total)
	END
}

# json FILE COMMAND EXPRESSION: prints a Python expression over `d`, the command's JSON for the
# file.
json() {
	local file=$1 command=$2 expression=$3
	"$dagtap" "$command" --json "$file" >"$work/json" || [ $? -eq 3 ] || fail "$command --json $file"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/json" "$expression"
}

expect() { # WHAT GOT WANT
	[ "$2" = "$3" ] || fail "$1: $2, not $3"
}

expect_closed() { # FILE
	"$dagtap" check "$1" >"$work/check" || fail "check exited with $?: $(cat "$work/check")"
}

# launches_in FILE: sets $kernels (recorded), $dropped (launches, because there was no room) and
# $state; the ledger closes.
launches_in() {
	"$dagtap" check --json "$1" >"$work/check" || fail "check exited with $?: $("$dagtap" check "$1")"
	"$dagtap" summary --json "$1" >"$work/json" || fail "summary --json $1"
	python3 - "$work/json" "$work/check" >"$work/launches" <<-'END'
		import json, sys
		summary, check = (json.load(open(path)) for path in sys.argv[1:])
		print(summary["totals"]["kernels"], sum(s["dropped"].get("no free chunk", 0) for s in check["sources"]
		                                        if s["name"] == "hsa.dispatch"), check["state"])
	END
	read -r kernels dropped state <"$work/launches"
}

# kill_at WHAT N PROGRAM PAGE ARGS...: records a program that counts its launches in PAGE, kills it
# with SIGKILL, and expects the exit status of that. WHAT is counted by killed.c, at full rate, or
# by the software GPU: then the thread that counted the Nth is held, and the others continue
# until they wait for it. keep= as for record.
kill_at() {
	local what=$1 number=$2 code=0 recorder pid
	shift 2
	rm -rf "$work/killed.dagtap" "$work/held"
	case $what in
	calls | launches)
		"$dagtap" record -q --softgpu=kernel_ns=0 -o "$work/killed.dagtap" ${keep:-} -- \
			"$BUILD_DIR/tests/killed" "$what" "$number" "$@" >"$work/out" 2>&1 || code=$?
		;;
	*)
		mkfifo "$work/held"
		"$dagtap" record -q --softgpu=kernel_ns=0,hold_at=$what:$number,hold_pipe="$work/held" \
			-o "$work/killed.dagtap" ${keep:-} -- "$@" >"$work/out" 2>&1 &
		recorder=$!
		read -r _ <"$work/held"
		pid=$(cat "/proc/$recorder/task/$recorder/children")
		kill -9 $pid
		wait $recorder || code=$?
		;;
	esac
	expect "exit code, killed at $what $number ($(cat "$work/out"))" $code 137
}

# Checks a killed program's launches: those that returned are recorded or counted as dropped, and
# none is recorded that was not begun.
expect_launches() { # RECORDED BEGUN RETURNED
	[ "$1" -ge "$3" ] || fail "lost $(($3 - $1)) launches"
	[ "$1" -le "$2" ] || fail "$(($1 - $2)) launches too many"
}
