#!/bin/bash
# Fails when clang-format would change a C file. Version 14 only: others format differently.
set -eu
cd "$(dirname "$0")/.."
find src include tests examples bench fuzz -name '*.[ch]' -print0 |
	xargs -0 clang-format-14 --dry-run -Werror
