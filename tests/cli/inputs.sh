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
	find . -name '*.dagtap' -o -name '*.spool' -o -path './archive*' -o -name '*.py' -o -name prog -o -name profile | LC_ALL=C sort |
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

# What the program is given: its script, or the input of a reader. rm would remove it, so it does
# not run either.
echo 'print("a script")' >train.py
ln train.py other/hard.py
ln -s ../train.py other/symbolic.py
cp b.dagtap run.outlier-16.dagtap
for force in -f ""; do
	for out in train.py ./other/../train.py other/hard.py other/symbolic.py; do
		for argument in train.py --data=train.py "$work/train.py" k=other/hard.py; do
			refuse "$out: is the program's argument $argument; give OUT another name" \
				record $force --softgpu -o $out -- rm -f $argument
		done
	done
	refuse "b.dagtap: is the program's argument b.dagtap" record $force --softgpu -o b.dagtap -- rm -f prog b.dagtap
	refuse "train.py: is the program's argument train.py" record $force --softgpu --stats -o train.py -- rm train.py
	refuse "/a.spool: is the program's argument a.spool" record $force --softgpu -o a -- rm -r a.spool
	refuse "/a.spool: holds the program's argument --in=$spool" record $force --softgpu -o a.dagtap -- rm --in=$spool
done
for out in run run.dagstats; do
	refuse "run.outlier-16.dagtap: is the program's argument run.outlier-16.dagtap" \
		record -f --softgpu --stats -o $out -- rm run.outlier-16.dagtap
done

# accept ARGS...: the command succeeds, and changes no file.
accept() {
	state >before
	launch "$@" >out 2>err </dev/null || fail "dagtap $* exited with $?: $(cat err)"
	state | cmp - before || fail "dagtap $* changed a file"
}

# No recording of an outlier is replaced without --force, or if none is made. A folder with the
# output in it, and a name that no file has, are no reason to refuse.
accept record --softgpu --stats -o run.dagstats -- cat run.outlier-16.dagtap
accept record -f --softgpu --stats --outlier 0 -o run.dagstats -- cat run.outlier-16.dagtap
accept record -f --softgpu -o run.dagtap -- cat run.outlier-16.dagtap
accept record -f --softgpu -o b.dagtap -- echo . "" = --in=. other/
accept record -f --softgpu -o absent -- echo absent --out=absent absent.spool
