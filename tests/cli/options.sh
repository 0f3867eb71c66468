#!/bin/bash
# options.sh: one table of options per command. The command line takes them as getopt_long does; the
# help, the manual page and the completion of bash name each of them.
. "$(dirname "$0")/lib.sh"
cd "$work"

commands="record stats control softgpu summary check graph path gaps scopes memory collectives diff report export merge info"

expect_code() { # WANT ARGS...
	local want=$1 code=0
	shift
	launch "$@" >out 2>err </dev/null || code=$?
	expect "exit code of dagtap $* ($(cat err))" $code "$want"
}
expect_line() { # FILE TEXT
	grep -qF -e "$2" "$1" || fail "no \"$2\" in: $(cat "$1")"
}

# What is taken: exit status 1, because there is no such file. Abbreviations, values in both forms,
# operands in front, and -- before a name that begins with a dash.
expect_code 1 summary --js --lim 3 no.dagtap
expect_code 1 summary --lim=3 --by=graph no.dagtap
expect_code 1 summary no.dagtap --json
expect_code 1 summary -- -no.dagtap
expect_code 1 summary --json --json no.dagtap
expect_code 1 check --str --json no.dagtap
expect_code 1 export --form csv -fo out.csv no.dagtap
expect_code 1 export -oout.csv --format=csv -f no.dagtap
expect_code 1 diff --threshold 5% --by node no.dagtap no.dagtap
expect_code 1 graph --graph=3 --dot no.dagtap
expect_code 1 path --scope step --nth 1 --limit 4 no.dagtap
expect_code 1 path --from -5 --to=7 no.dagtap
expect_code 0 record -fq --wait --capture-range step --skip 1 --count 2 --delay 0.5 --duration 3s -otaken.dagtap true
expect_code 0 record -fq --keep --back=hsa -otaken.dagtap true
expect_code 0 record -fq --stats --stats-interval 2.5 --outlier 3.5 --ring 8M -otaken.dagstats true
expect_code 1 stats --by node --lim 3 --js no.dagstats
# The first operand ends the options of record: what follows is the program's.
expect_code 0 record -q -o taken.dagtap sh -c 'test "$1" = --force' -- --force
expect_code 0 record -q -o taken.dagtap -- true --no-such-option

# What is refused, with the reason.
expect_code 2 summary --no-such-option no.dagtap
expect_line err "unrecognized option '--no-such-option'"
expect_line err "usage: dagtap summary"
expect_code 2 summary -x no.dagtap
expect_line err "invalid option -- 'x'"
expect_code 2 summary no.dagtap --limit
expect_line err "option '--limit' requires an argument"
expect_code 2 summary --json=yes no.dagtap
expect_line err "option '--json' doesn't allow an argument"
expect_code 2 record --r 5 true
expect_line err "option '--r' is ambiguous"
expect_code 2 export --format csv no.dagtap
expect_line err "-o OUT is missing"
expect_code 2 summary --by colour no.dagtap
expect_line err "colour"
expect_code 2 diff --by stream a b
expect_code 2 diff --threshold=-1 a b
expect_code 2 record --backend metal true
expect_code 2 record --outlier 3 true
expect_line err "need --stats"
expect_code 2 record --stats --outlier 0.5 true
expect_code 2 record --stats --outlier x true
expect_code 2 record --stats --stats-interval 0 true
expect_code 2 record --stats --sdk true
expect_line err "--stats cannot be combined"
expect_code 2 record --stats --metrics 192.168.0.1:80 true
expect_line err "neither unix:PATH nor 127.0.0.1:PORT"
expect_code 2 stats
expect_line err "FILE is missing"
expect_code 2 stats --by colour no.dagstats
expect_code 2 record --hsa-mode guess true
expect_code 2 record --calls some true
expect_code 2 record --skip 3 true
expect_line err "--skip and --count need --capture-range"
expect_code 2 record --capture-range "" true
expect_code 2 record --capture-range "$(printf '%1024s' x)" true
expect_code 2 record --capture-range step --count 0 true
expect_code 2 record --capture-range step --skip -1 true
expect_code 2 record --delay 1ms true
expect_line err "--delay 1ms: not a number of seconds"
expect_code 2 record --duration 0 true
expect_code 2 export --format kineto --rank x -o out.json no.dagtap
expect_code 2 softgpu --no-such-option true
expect_code 2 softgpu
expect_code 2 summary a b
expect_code 2 diff a

# What may be meant.
expect_code 2 sumary no.dagtap
expect_line err 'no command "sumary"; did you mean summary?'
expect_code 2 xyzzy
expect_line err 'no command "xyzzy"; dagtap --help lists them'
expect_code 2 help gasp
expect_line err 'did you mean gaps?'
expect_code 2 summary --kernal x no.dagtap
expect_line err "did you mean --kernel?"
expect_code 2 export --fromat=csv no.dagtap
expect_line err "did you mean --format?"
expect_code 2 summary --xyzzy no.dagtap
expect_line err "see dagtap help summary"
expect_code 0 version
expect_line out "dagtap "
expect_code 0 help
expect_line out "usage: dagtap COMMAND"

# The help of each command, in three forms, names its options; so does its manual page.
for command in $commands; do
	expect_code 0 $command --help
	mv out $command.help
	expect_line $command.help "usage: dagtap $command"
	expect_code 0 $command -h
	cmp -s out $command.help || fail "$command -h is not $command --help"
	expect_code 0 $command --hel
	expect_code 0 help $command
	cmp -s out $command.help || fail "help $command is not $command --help"
	expect_code 0 --man $command "$SOURCE_DIR/docs/man/dagtap-$command.man"
	mv out dagtap-$command.1
	expect_line dagtap-$command.1 ".TH DAGTAP-${command^^} 1"
	while read -r option; do
		expect_line dagtap-$command.1 "${option//-/\\-}"
	done < <(grep -oE '^ +(-., )?--[a-z-]+' $command.help | grep -oE -e '--[a-z-]+')
done
expect_line record.help "--hsa-mode MODE"
expect_line record.help "intercept"
expect_line export.help "perfetto"
expect_line softgpu.help "kernel_ns"
expect_code 0 --man dagtap "$SOURCE_DIR/docs/man/dagtap.man"
mv out dagtap.1
for command in $commands; do
	expect_line dagtap.1 "dagtap\\-$command"
done
expect_line dagtap-record.1 DAGTAP_HSA_MODE
! grep '[?!]\.$' dagtap*.1 || fail "a sentence ends twice"
if type groff >/dev/null 2>&1; then
	for page in dagtap*.1; do
		groff -man -Tutf8 -z -ww "$page" 2>warnings || fail "groff $page"
		[ ! -s warnings ] || fail "$page: $(head -3 warnings)"
	done
fi
# A text that names an option which the command lacks is refused.
printf '@options\n@option no-such-option\ntext\n' >stale.man
expect_code 1 --man check stale.man
expect_line err "no-such-option"
expect_code 2 --man no-such-command stale.man
expect_code 1 --man check no.man

# Completion.
expect_code 0 --completion bash
mv out completion
expect_code 2 --completion tcsh
. ./completion
completes() { # WANT WORDS...: what the last of WORDS is completed to, separated by spaces
	local want=$1
	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	# Fails where nothing matches.
	_dagtap dagtap "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || :
	expect "completion of $*" "${COMPREPLY[*]}" "$want"
}
completes "stats softgpu summary scopes" dagtap s
completes "check" dagtap ch
completes "help" dagtap he
completes "check" dagtap help ch
completes "" dagtap help check ch
completes "--json" dagtap summary --j
completes "kernel" dagtap summary --by k
completes "kernel" dagtap summary --by = k
completes "kernel stream graph scope api copy" dagtap summary --by =
completes "csv" dagtap export --format c
completes "intercept" dagtap record --hsa-mode i
completes "all" dagtap record --calls a
completes "" dagtap summary run
completes "" dagtap record -- --qu
