#!/bin/bash
# preload.sh LIBRARY PROGRAM [ARGS...]: runs PROGRAM without and with libdagpatch-preload.so, and
# with it switched off; the output must be equal. With it, the file of statistics must say what the
# variable EXPECT does: a Python expression of the counters.
set -euo pipefail
library=$1
shift
stats=$(mktemp "${TMPDIR:-/tmp}/preload-XXXXXX")
trap 'rm -f "$stats" "$stats".*' EXIT
preloads=${PRELOAD_BEFORE:+$PRELOAD_BEFORE:}$library${PRELOAD_AFTER:+:$PRELOAD_AFTER}

LD_PRELOAD=${PRELOAD_BEFORE:-} "$@" >"$stats.plain"
LD_PRELOAD=$preloads DAGPATCH_PRELOAD_STATS=$stats "$@" >"$stats.preloaded"
LD_PRELOAD=$preloads DAGPATCH_PRELOAD=0 DAGPATCH_PRELOAD_STATS=$stats.off "$@" >"$stats.off.out"
cat "$stats"
[ -n "${PRELOAD_AFTER:-}" ] || cmp "$stats.plain" "$stats.preloaded"
[ ! -e "$stats.off" ]
python3 - "$stats" "${EXPECT:?}" <<'END'
import json
import sys

counters = [json.loads(line) for line in open(sys.argv[1])]
assert len(counters) == 1, "one process writes its counters"
assert eval(sys.argv[2], {}, counters[0]), (sys.argv[2], counters[0])
END
