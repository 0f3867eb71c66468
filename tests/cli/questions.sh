#!/bin/bash
# questions.sh: the outputs in docs/questions.md are what dagtap prints of the recordings in
# tests/data.
. "$(dirname "$0")/lib.sh"

python3 "$SOURCE_DIR/scripts/gen-questions.py" check "$dagtap" "$SOURCE_DIR/docs/questions.md" || fail "docs/questions.md"
