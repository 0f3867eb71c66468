#!/bin/bash
# ring.sh REPLAYS KILLS: a graph replayed, with a ring that holds a small part of it. The spool
# stays small; every kernel that the device got is there or counted as dropped; what is there is the
# end of the run, with its nodes and scopes; spool and .dagtap say the same. Killed at any moment
# the ledger closes too.
. "$(dirname "$0")/lib.sh"
replays=$1 kills=$2
steps=2000
kernel_count=$((steps * replays))

of_ring() { # FILE SOURCE FIELDS
	json "$1" check "[[s['expected'], s['received'], s['dropped'].get('dropped by the ring', 0), s['unexplained'], sum(s['dropped'].values())]
		for s in d['sources'] if s['name'] == '$2'][0]$3"
}

# The program waits for room (paced_program.c), because a tool without CPU time prepares none.
keep="--keep-spool --ring 4M" preload=$BUILD_DIR/tests/paced_program.so record run kernel_ns=0, "$examples/graph-bubbles" \
	$steps "$replays" 10
expect_closed "$work/run.dagtap"
expect "kernels on the device" "$(reached_device run)" $kernel_count

# The ring, what is ready at most, two windows that were begun, and 1 MiB a thousand nodes.
bytes=$(stat -c %s "$work"/run.spool/*.spool)
[ "$bytes" -le $(((4 + 128 + 2 * 4 + 2) << 20)) ] || fail "the spool has $bytes bytes"

# Dropping old records is what a ring does: it does not count as a loss.
"$dagtap" check --strict "$work/run.dagtap" >"$work/check" || fail "check --strict of a ring: $(tail -1 "$work/check")"
grep -q '^ok: everything is accounted for (recording complete)$' "$work/check" || fail "$(tail -1 "$work/check")"

for file in run.dagtap run.spool; do
	expect "$file: expected" "$(of_ring "$work/$file" hsa.dispatch "[0]")" $kernel_count
	received=$(of_ring "$work/$file" hsa.dispatch "[1]")
	dropped=$(of_ring "$work/$file" hsa.dispatch "[2]")
	expect "$file: kept and dropped" $((received + dropped)) $kernel_count
	[ "$dropped" -gt 0 ] || fail "$file: nothing was dropped"
	[ "$received" -gt $((2 * steps)) ] || fail "$file: only $received kernels are left"
done
"$dagtap" check --json "$work/run.spool" | sed 1,3d >"$work/spool.json"
"$dagtap" check --json "$work/run.dagtap" | sed 1,3d >"$work/dagtap.json"
diff "$work/spool.json" "$work/dagtap.json" || fail "spool and .dagtap differ"

"$dagtap" export --format csv --table activities -o "$work/activities.csv" "$work/run.dagtap"
python3 - "$work/activities.csv" "$steps" "$replays" <<-'END' || fail "what is left"
	import csv, sys
	steps, replays = int(sys.argv[2]), int(sys.argv[3])
	rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["kind"] == "kernel"]
	launches = {}
	for row in rows:
	    if row["replay"]:
	        launches.setdefault(int(row["replay"]), set()).add(row["node"])
	whole = sorted(replay for replay, nodes in launches.items() if len(nodes) == steps)
	# The last ones, without a gap, each kernel with its node; the one at the edge alone may
	# lack some.
	assert whole and whole == list(range(whole[0], replays)), whole
	assert len(launches) - len(whole) <= 1, sorted(launches)
	named = [r for r in rows if r["replay"] and int(r["replay"]) in whole]
	assert {r["confidence"] for r in named} == {"exact"}
	assert {r["scope"] for r in named} == {"graph_launch"}, {r["scope"] for r in named}
END

# By age: a second's worth at most is kept, and the rest of what was ready.
keep="--ring 256M,1s" record aged kernel_ns=0, "$examples/graph-bubbles" 100 100 10
expect_closed "$work/aged.dagtap"

# The same through CUPTI, as the tests play it, by a program that waits for room.
export DAGTAP_CUPTI=$BUILD_DIR/tests/libmodel-cupti.so
launch record --backend cuda --ring 4M -q -o "$work/cuda.dagtap" -- "$BUILD_DIR/tests/cuda-program" 200000 paced >"$work/cuda.out"
expect_closed "$work/cuda.dagtap"
"$dagtap" check --json "$work/cuda.dagtap" >"$work/cuda.json"
python3 - "$work/cuda.json" <<-'END' || fail "CUDA: $(cat "$work/check")"
	import json, sys
	source, = [s for s in json.load(open(sys.argv[1]))["sources"] if s["name"] == "cuda"]
	assert source["expected"] == 600000, source
	assert source["received"] + sum(source["dropped"].values()) == 600000, source
	assert source["received"] and source["dropped"]["dropped by the ring"], source
	assert not source["orphan_activities"], source
END

# Killed at any moment once it has gone round: when it has dropped so many chunks as the seed says.
for ((n = 1; n <= kills; n++)); do
	draw 256
	code=0
	launch record --softgpu=kernel_ns=0 --ring 4M --ready 8M -f -o "$work/killed.dagtap" -- \
		python3 "$here/spool.py" kill "$work/killed.spool" $((65 + drawn)) "$examples/graph-bubbles" $steps 1000000 10 \
		>"$work/out" 2>&1 || code=$?
	expect "exit code, killed after $((65 + drawn)) chunks ($(cat "$work/out"))" $code 137
	expect_closed "$work/killed.dagtap"
	expect "state" "$(json "$work/killed.dagtap" check 'd["state"]')" truncated
	[ "$(of_ring "$work/killed.dagtap" hsa.dispatch "[2]")" -gt 0 ] || fail "killed before it went round: $(cat "$work/out")"
done

for how in 0 4X s 1s,4M 64M, 64M,0s; do
	code=0
	"$dagtap" record --ring "$how" -o "$work/no.dagtap" -- true 2>"$work/err" || code=$?
	expect "--ring $how" "$code" 2
	grep -q "neither a size" "$work/err" || fail "$(cat "$work/err")"
done

# In memory, where there is room: the folder is a link, and nothing of it is left afterwards.
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ] && [ "$(df --output=avail -k /dev/shm | tail -1)" -gt 1100000 ]; then
	launch record --ring 4M -q -o "$work/where.dagtap" -- bash -c 'readlink "$0"' "$work/where.spool" >"$work/where.out"
	grep -q '^/dev/shm/dagtap-' "$work/where.out" || fail "the ring is not in memory: $(cat "$work/where.out")"
	[ ! -e "$(cat "$work/where.out")" ] && [ ! -L "$work/where.spool" ] || fail "something of the ring is left"

	# Memory is the program's too: a ring that would take much of it stays on the disk.
	launch record --ring 9999G -q -o "$work/where.dagtap" -- bash -c 'readlink "$0" || echo none' "$work/where.spool" >"$work/where.out"
	expect "a ring beyond the memory" "$(cat "$work/where.out")" none

	# What is left of a recording from before the machine was started anew.
	ln -s /dev/shm/dagtap-gone00 "$work/where.spool"
	launch record --ring 4M -q -f -o "$work/where.dagtap" -- true
	[ ! -L "$work/where.spool" ] || fail "a link to nothing is left"
fi
