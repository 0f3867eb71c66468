#!/bin/bash
# run.sh FOLDER REPEAT PROGRAM ARGS...: runs one test and returns its exit status. The test's
# temporary files go to a new folder, FOLDER.XXXXXX, which is removed when the test passes or is
# skipped (77) and kept when it fails. Its random numbers come from DAGTAP_TEST_SEED: 1 unless it is
# set, drawn here if it is "random". REPEAT is the command that runs this test alone. Prints what to
# do after a failure first and last: CTest kills the test and this script when the time is over.
set -u
umask 022 # dagtap refuses folders that others may write to
name=${1##*/} folder=$1 repeat=$2
shift 2

mkdir -p "${folder%/*}" && folder=$(mktemp -d "$folder.XXXXXX") || exit 1
export TMPDIR=$folder DAGTAP_TEST_FOLDER=$folder
export DAGTAP_TEST_SEED=${DAGTAP_TEST_SEED:-1}
# HIP's compiler, with a cache in front (tests/comgr_cache.c).
[ -z "${COMGR_FOLDER:-}" ] || export LD_LIBRARY_PATH=$COMGR_FOLDER${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# As on a real device: recordings have no counters of the software GPU.
[ "${DAGTAP_TEST_WITNESS:-}" != hidden ] || export DAGTAP_COUNTERS=0
# A loss that only these counters show is a defect of the ledger: dagtap check then ends with 1
# instead of 3.
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
# Keeps the folder only if the test has left files in it.
rmdir "$folder" 2>/dev/null
tell
exit $code
