#!/bin/bash
# planted.sh: record -f follows no link and removes nothing but the user's own spools, whatever
# other files are in the places of the spools and the recording.
. "$(dirname "$0")/lib.sh"
cd "$work"

refuse() { # WHAT-IT-SAYS NAME
	local code=0
	launch record --softgpu -q -f -o "$2.dagtap" -- touch ran 2>err || code=$?
	expect "exit code of record -f -o $2.dagtap" $code 1
	[ ! -e ran ] || fail "the program ran beside $2.spool"
	grep -q -- "$1" err || fail "not told why: $(cat err)"
}

# Everything in FOLDER, with its contents, to be compared.
state() { # FOLDER
	(cd "$1" && find . -printf '%p %y %l %s %m\n' | sort && find . -type f -exec cat {} + | cksum)
}

keep=--keep-spool record good "" "$examples/eager" 20
spool=$(ls good.spool/*.spool)

# A link to another folder, where spools of another recording and other files of that name are.
mkdir mine
cp "$spool" mine/1.1.spool
echo "a list of bobbins" >mine/silk.spool
state mine >mine.before
ln -s mine linked.spool
refuse "is a link" linked
state mine | cmp - mine.before || fail "a file behind the link was touched"
[ -L linked.spool ] || fail "the link was removed"

# Links that resemble the link to a ring in memory: too deep, with another name, to something else.
for target in /dev/shm/dagtap-abc/def "$work/mine" /dev/shm/../../"$work"/mine /dev/shm/dagtap-../..; do
	ln -sfn "$target" looks.spool
	refuse "is a link" looks
done
state mine | cmp - mine.before || fail "a file behind a link was touched"

# Spools are gone by what they hold: none of these is one, and so the spool beside them stays, too.
plant() { # planted.spool, with one spool in it
	rm -rf planted.spool
	mkdir planted.spool
	cp "$spool" planted.spool/1.1.spool
}
plant && echo "a list of bobbins" >planted.spool/silk.spool
state planted.spool >before
refuse "other files" planted
state planted.spool | cmp - before || fail "something in the folder was touched"
plant && ln -s ../mine/1.1.spool planted.spool/2.1.spool
state planted.spool >before
refuse "other files" planted
state planted.spool | cmp - before || fail "something in the folder was touched"
plant && echo "why it was lost" >planted.spool/1.28.lost
refuse "other files" planted
plant && mkfifo planted.spool/2.1.spool
refuse "other files" planted
plant && mkdir planted.spool/2.1.spool
refuse "other files" planted
plant && echo "a list of bobbins" >planted.spool/2.1.spool.new
refuse "other files" planted
[ -s planted.spool/1.1.spool ] || fail "a spool was removed beside what is none"

# A folder of another user is not cleared; root can make one for the test.
if [ "$(id -u)" = 0 ]; then
	plant
	chown 12345 planted.spool planted.spool/*
	refuse "not yours" planted
	plant
	chown 12345 planted.spool/*
	refuse "other files" planted
	plant
	chmod 777 planted.spool
	refuse "others may write" planted
fi

# What is left of an earlier recording goes: spools, one that was being made, words of a process
# that had none.
plant && : >planted.spool/2.1.spool.new && : >planted.spool/3.28.lost
head -c 4096 /dev/zero >planted.spool/4.1.spool.new
launch record --softgpu -q -f -o planted.dagtap -- "$examples/eager" 7 >out
expect "kernels of the new recording" "$(json planted.dagtap summary 'd["totals"]["kernels"]')" 7
[ ! -e planted.spool ] || fail "the folder stayed: $(ls planted.spool)"

# A program may leave links in the folder of its own recording: they are neither followed nor
# gathered.
code=0
launch record --softgpu -q -o inside.dagtap -- sh -c "'$examples/eager' 7 >out
	ln -s '$work/mine/silk.spool' inside.spool/9.9.spool" 2>err || code=$?
expect "exit code beside a link in the folder" $code 1
grep -q "9.9.spool: .*left out" err || fail "not told: $(cat err)"
expect "kernels beside the link" "$(json inside.dagtap summary 'd["totals"]["kernels"]')" 7
state mine | cmp - mine.before || fail "a file behind a link in the folder was touched"

# The recording is written under a name of its own first: what somebody put there is not written to,
# and it replaces a link by itself, not what the link leads to. Only we may read it, and the spools
# meanwhile.
echo precious >precious
ln -s precious through.dagtap
launch record --softgpu -q -f -o through.dagtap -- sh -c "umask 0; '$examples/eager' 7 >out; stat -c %a through.spool through.spool/*.spool >modes"
expect "what the link led to" "$(cat precious)" precious
[ ! -L through.dagtap ] || fail "the recording was written through a link"
expect "modes of the folder and the spool" "$(tr '\n' ' ' <modes)" "700 600 "
(umask 0; launch record --softgpu -q -f -o through.dagtap -- "$examples/eager" 7 >out)
expect "mode of the recording" "$(stat -c %a through.dagtap)" 600
