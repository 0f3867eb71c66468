#!/bin/bash
# run.sh FOLDER REPEAT PROGRAM ARGS...: runs one test and hands its exit status through. The test's
# temporary files go to a new folder, FOLDER.XXXXXX, which is removed when the test passes or is
# skipped (77) and kept when it fails. Its random numbers come from DAGTAP_TEST_SEED: 1 unless it is
# set, drawn here if it is "random". REPEAT is the command that runs this test alone. What to do
# when the test fails is told first and last: CTest kills a test that runs out of time, and us.
set -u
name=${1##*/} folder=$1 repeat=$2
shift 2

mkdir -p "${folder%/*}" && folder=$(mktemp -d "$folder.XXXXXX") || exit 1
export TMPDIR=$folder DAGTAP_TEST_FOLDER=$folder
export DAGTAP_TEST_SEED=${DAGTAP_TEST_SEED:-1}
# As on a real device: what the software GPU counts is in no recording, and nothing may need it.
[ "${DAGTAP_TEST_WITNESS:-}" != hidden ] || export DAGTAP_COUNTERS=0
# What it alone finds to be wrong is a hole in the ledger: check then ends with another status than
# 3.
export DAGTAP_CHECK_WITNESS=ledger
[ "$DAGTAP_TEST_SEED" != random ] || DAGTAP_TEST_SEED=$SRANDOM

tell() {
	echo "repeat: DAGTAP_TEST_SEED=$DAGTAP_TEST_SEED $repeat"
	echo "files:  $([ -d "$folder" ] && echo "$folder" || echo none)"
	echo "seed:   $DAGTAP_TEST_SEED"
}
tell

code=0
"$@" || code=$?
if [ $code -eq 0 ] || [ $code -eq 77 ]; then
	rm -rf "$folder"
	exit $code
fi

how="exit status $code"
if [ $code -gt 128 ] && signal=$(kill -l $code 2>/dev/null); then
	how+=", as of SIG$signal"
fi
echo "FAILED: $name ($how): $*"
# An empty folder tells nothing.
rmdir "$folder" 2>/dev/null
tell
exit $code
