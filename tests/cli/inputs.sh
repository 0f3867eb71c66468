#!/bin/bash
# inputs.sh: no command replaces a file that it reads or runs, under whatever name it is given, with
# --force or without.
. "$(dirname "$0")/lib.sh"
cd "$work"

keep=--keep-spool record a "" "$examples/graph-bubbles" 100 1
record b "" "$examples/eager" 3
mkdir other
ln a.dagtap other/hard.dagtap
ln -s ../a.dagtap other/symbolic.dagtap
spool=$(ls a.spool/*.spool)
ln "$spool" other/part.spool

# refuse WHAT ARGS...: the command fails, says WHAT, and changes no file.
refuse() {
	local what=$1 code=0
	shift
	state >before
	launch "$@" >out 2>err </dev/null || code=$?
	expect "exit code of dagtap $* ($(cat err))" $code 1
	grep -qF -- "$what" err || fail "dagtap $* does not say \"$what\": $(cat err)"
	state | cmp - before || fail "dagtap $* changed a file"
}

state() {
	find . -name '*.dagtap' -o -name '*.spool' -o -path './archive*' -o -name prog -o -name profile | LC_ALL=C sort |
		xargs stat -c '%n %i %s %Y'
}

for out in a.dagtap ./other/../a.dagtap other/hard.dagtap other/symbolic.dagtap; do
	for force in -f ""; do
		refuse "$out: is the input" export $force --format csv -o "$out" a.dagtap
		refuse "$out: is the input" report $force -o "$out" a.dagtap
		refuse "$out: is the input" report $force --json -o "$out" b.dagtap a.dagtap
		refuse "$out: is the input" report $force -o "$out" a.dagtap b.dagtap
		refuse "$out: is the input" merge $force -o "$out" a.dagtap b.dagtap
		refuse "$out: is the input" merge $force -o "$out" b.dagtap a.dagtap
	done
done

# A spool of a folder that is read, and anything that would be written into it.
for out in "$spool" other/part.spool a.spool/new.html; do
	what="is inside the input a.spool"
	[ $out != other/part.spool ] || what="is a part of the input a.spool"
	for force in -f ""; do
		refuse "$out: $what" export $force --format csv -o "$out" a.spool
		refuse "$out: $what" report $force -o "$out" a.spool
		refuse "$out: $what" report $force -o "$out" b.dagtap a.spool
	done
done
[ ! -e a.spool/new.html ] || fail "a file was written into the folder that is read"

# A profile that is joined with the recording.
: >profile
refuse "profile: is the input" export -f --format xspace --with profile -o profile a.dagtap

# A folder that an export wrote, and would replace, with the recording in it.
"$dagtap" export --format otf2 -o archive a.dagtap
cp a.dagtap archive/a.dagtap
refuse "archive: holds the input" export -f --format otf2 -o archive archive/a.dagtap

# What is no input is replaced as ever.
"$dagtap" report -f -o archive/a.dagtap b.dagtap
"$dagtap" export -f --format otf2 -o archive a.dagtap
[ ! -e archive/a.dagtap ] || fail "the folder was not replaced"
"$dagtap" report -o - a.dagtap >page || fail "report on standard output"

# The program that is recorded, by its path and by PATH.
cp "$examples/eager" prog
refuse "./prog: is the program" record -f --softgpu -o ./prog -- ./prog 1
refuse "prog: is the program" record -f --softgpu -o prog -- "$work/prog" 1
PATH=$work:$PATH refuse "./prog: is the program" record -f --softgpu -o ./prog -- prog 1
PATH=/nowhere:.:$PATH refuse "prog: is the program" record -f --softgpu --stats -o prog -- prog 1
PATH=:$PATH refuse "prog: is the program" record -f --softgpu -o prog -- prog 1
