#!/bin/bash
# threads.sh: every command and every export gives the same bytes, messages and exit status for any
# number of threads: of recordings, of other tools' traces, and of damaged files.
. "$(dirname "$0")/lib.sh"

bench=$BUILD_DIR/bin/dagtap-bench

commands=(check summary "summary --by scope" "summary --by stream" "summary --by api" scopes "scopes --nth 0 step*" graph path gaps info)
formats=(csv xspace kineto perfetto)

# answers FOLDER FILE THREADS: runs all of $commands and $formats on FILE.
answers() {
	local command format status=0
	mkdir "$1"
	for command in "${commands[@]}"; do
		set -f
		"$dagtap" $command --threads "$3" --json "$2" >"$1/$command" 2>"$1/$command.messages" || status=$?
		set +f
		echo "exit $status" >>"$1/$command.messages"
		status=0
	done
	for format in "${formats[@]}"; do
		"$dagtap" export --threads "$3" --format $format -o "$1/$format" "$2" >"$1/$format.messages" 2>&1 || status=$?
		sed -i "s|$1/||" "$1/$format.messages"
		echo "exit $status" >>"$1/$format.messages"
		status=0
	done
}

# same FILE: compares the answers.
same() {
	local threads
	answers "$work/1" "$1" 1
	for threads in 2 3 4 16; do
		answers "$work/$threads" "$1" $threads
		diff -r "$work/1" "$work/$threads" || fail "$1: $threads threads give something else"
	done
	rm -r "$work"/{1,2,3,4,16}
}

# damage FILE COUNT: changes bytes behind the first MiB, by the seed.
damage() {
	local size i
	size=$(stat -c %s "$1")
	for ((i = 0; i < $2; i++)); do
		draw $((size - (1 << 20)))
		printf '\x5a' | dd of="$1" bs=1 seek=$(((1 << 20) + drawn)) conv=notrunc status=none
	done
}

"$bench" reference --scale 0.02 --keep "$work/whole.spool" --generate-only >"$work/bench.out" || fail "generating"
same "$work/whole.spool"
record threads "" "$examples/threads"
same "$work/threads.dagtap"
for file in jax-small.xplane.pb jax-steps.dagtap torch-small.json; do
	same "$SOURCE_DIR/tests/data/$file"
done

# What the file's damage and its repeated ids decide shows in these.
commands=(check summary scopes)
formats=(csv)
cp "$work/whole.spool" "$work/damaged.spool"
damage "$work/damaged.spool" 40
same "$work/damaged.spool"
cp "$work/whole.spool" "$work/repeated.spool"
"$BUILD_DIR/tests/repeated_ids" "$work/repeated.spool" >"$work/repeated.out" || fail "repeated_ids"
same "$work/repeated.spool"
head -c 20000000 "$work/whole.spool" >"$work/cut.spool"
same "$work/cut.spool"
