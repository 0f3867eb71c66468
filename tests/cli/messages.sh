#!/bin/bash
# messages.sh: what the commands say of a file that another command reads, of a damaged recording
# and of one that holds nothing: what it is, and what to do.
. "$(dirname "$0")/lib.sh"
cd "$work"

says() { # WANT-CODE PATTERN COMMAND...: one line on stderr, with the pattern in it
	local want=$1 pattern=$2 code=0
	shift 2
	"$dagtap" "$@" >output 2>error || code=$?
	expect "exit code of dagtap $* ($(cat error))" $code "$want"
	expect "lines on stderr of dagtap $* ($(cat error))" "$(wc -l <error)" 1
	grep -q -- "$pattern" error || fail "dagtap $*: no \"$pattern\" in $(cat error)"
}

launch record -q --softgpu --keep-spool -o run.dagtap -- "$examples/eager" 2000 >out
launch record -q --softgpu --stats -o counted.dagstats -- "$examples/eager" 20 >out

# A file of statistics and a recording, each given to the commands of the other one.
statistics="counted.dagstats: statistics of dagtap record --stats, not a recording; dagtap stats reads them$"
for command in summary check graph path gaps scopes memory collectives info "report -o page.html" \
	"export --format csv -o exported.csv" "diff run.dagtap" "merge -o merged.dagtap run.dagtap"; do
	# shellcheck disable=SC2086
	says 1 "$statistics" $command counted.dagstats
done
recording="a recording, not statistics of dagtap record --stats; dagtap summary reads it$"
says 1 "run.dagtap: $recording" stats run.dagtap
says 1 "run.dagtap: $recording" stats counted.dagstats run.dagtap
says 1 "spool: $recording" stats run.spool/*.spool
says 1 "run.spool: a folder, not a file of statistics; dagtap summary reads a folder of spools$" stats run.spool
says 1 "line 1: not a file of dagtap's statistics" stats "$SOURCE_DIR/tests/data/torch-small.json"
