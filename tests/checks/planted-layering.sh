#!/bin/bash
# planted-layering.sh: scripts/check-layering.sh finds an include that leaves its room.
. "$(dirname "$0")/plant.sh"
plant_tree
mkdir -p "$work/tree/include" "$work/tree/src/base"
file=$work/tree/src/base/a.c
check=$work/tree/scripts/check-layering.sh
"$check"
echo '#include "trace/load.h"' >"$file"
expect_fault "src/base/a.c:1: base may not include trace/load.h" "$check"
echo '#include <hip/hip_runtime.h>' >"$file"
expect_fault "src/base/a.c:1: a vendor header, hip/hip_runtime.h, outside its folders" "$check"
