#!/bin/bash
# sdk-functions.sh LIBRARY: the library has each function of src/sdk/functions.list and no other
# symbol, and docs/rocprofiler-sdk.md has a row for each.
set -eu
cd "$SOURCE_DIR"
listed=$(sed -n 's/^\(have\|part\|not\|door\) \([A-Za-z0-9_]*\).*/\2/p' src/sdk/functions.list | sort)
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort)
diff <(echo "$listed") <(echo "$exported") || { echo "FAILED: symbols of $1" >&2; exit 1; }
diff <(python3 scripts/gen-sdk-functions.py table src/sdk/functions.list) <(sed -n '/^| function /,$p' docs/rocprofiler-sdk.md) ||
	{ echo "FAILED: the table of docs/rocprofiler-sdk.md" >&2; exit 1; }
