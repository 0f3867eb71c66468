#!/bin/bash
# messages.sh: what the commands say of a file that another command reads, of a damaged recording
# and of one that holds nothing: what it is, and what to do.
. "$(dirname "$0")/lib.sh"
cd "$work"

# WANT-CODE PATTERN COMMAND...: one line on stderr, with the pattern in it; of wrong usage more
says() {
	local want=$1 pattern=$2 code=0
	shift 2
	launch "$@" >output 2>error || code=$?
	expect "exit code of dagtap $* ($(cat error))" $code "$want"
	[ "$want" -eq 2 ] || expect "lines on stderr of dagtap $* ($(cat error))" "$(wc -l <error)" 1
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

# A recording of which a part cannot be read: each head says it, not only the line on stderr.
spool=$(echo run.spool/*.spool)
mkdir damaged.spool
for file in run.dagtap "$spool"; do
	damaged=damaged.dagtap
	[ "$file" = run.dagtap ] || damaged=damaged.spool/1.1.spool
	cp "$file" "$damaged"
	# 1,000 bytes of records: where not all are 0.
	python3 - "$damaged" <<-'END'
		import os, sys
		with open(sys.argv[1], "r+b") as file:
		    content = file.read()
		    at = len(content) // 3
		    while content.count(0, at, at + 1000) > 900:
		        at += 1000
		    file.seek(at)
		    file.write(b"\xa5" * 1000)
	END
	for command in summary check info; do
		code=0
		"$dagtap" $command "$damaged" >output 2>error || code=$?
		expect "exit code of $command $damaged" $code 3
		grep -q "recording damaged\|^process .*, damaged$" output || fail "$command $damaged: $(cat output)"
		! grep -q "complete" output || fail "$command $damaged calls it complete: $(cat output)"
		expect "state of $command --json $damaged" "$(json "$damaged" $command 'd["state"]')" damaged
	done
	expect "states of processes in $damaged" "$(json "$damaged" info '[row["state"] for row in d["processes"]]')" "['damaged']"
done
head -c 4096 run.dagtap >cut.dagtap
says 1 "cut.dagtap: offset 4096: cut off here: the header says [0-9]* bytes; copy it again.*every command reads" \
	summary cut.dagtap

# Nothing was recorded: what to do, and --softgpu where there is no GPU and it was not given.
says 2 "--softgpu is a GPU for HIP and HSA" record --softgpu --backend cuda -o none.dagtap -- true
! compgen -G "none.*" || fail "something is left of a command that was refused"
info="true used no GPU: nothing recorded; dagtap info says what can be recorded here"
offer="; there is no GPU, and --softgpu runs HIP programs on a software GPU"
[ ! -e /dev/kfd ] && ! compgen -G "/dev/nvidia*" >/dev/null || offer=
says 0 "$info$offer$" record -o none.dagtap -- true
says 0 "$info$offer$" record --stats -o none.dagstats -- true
says 0 "$info$" record --softgpu -o none.dagtap -- true
says 0 "$info$" record --softgpu --stats -o none.dagstats -- true
