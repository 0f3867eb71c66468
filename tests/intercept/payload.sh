#!/bin/bash
# payload.sh: a traced program's packets as it wrote them, and as the device read them: byte for
# byte the same but for the completion signal of a dispatch that had none, and gains none when the
# tool only observes.
. "$SOURCE_DIR/tests/cli/lib.sh"

launch record --softgpu="kernel_ns=200,packets=$work/read" -o "$work/run.dagtap" -- \
	"$BUILD_DIR/tests/intercept-packets" "$work/written" >"$work/out" || fail "$(cat "$work/out")"
expect_closed "$work/run.dagtap"
python3 - "$work/written" "$work/read" "${DAGTAP_HSA_MODE:-}" <<-'END' || fail "packets differ"
	import sys

	written, read = ({tuple(line.split()[:2]): line.split()[2:] for line in open(path)} for path in sys.argv[1:3])
	mode = sys.argv[3]
	gained = 0
	for place, before in written.items():
	    after = read[place]
	    if before[:7] == after[:7] and before[7] != after[7]:
	        # Borrowing: a packet whose signal is in use already gets another one for the time
	        # being.
	        assert int(before[0], 16) & 0xff == 2, (place, before, after)
	        assert int(before[7], 16) == 0 or mode == "borrow", (place, before, after)
	        gained += 1
	    else:
	        assert before == after, (place, before, after)
	# What the program did not log are its own barrier packets, one a round.
	assert len(read) - len(written) == 200, (len(read), len(written))
	assert (gained == 0) if mode == "observe" else (gained > 500), gained
	print(len(written), "packets,", gained, "of them gained a completion signal")
END
