#!/bin/bash
# stats.sh SCRIPT ARGS...: SCRIPT, one of stats*.py, in a work folder.
. "$(dirname "$0")/lib.sh"
script=$1
shift
PYTHONPATH=$here python3 -B "$here/$script" "$work" "$@" || fail "$script $*"
