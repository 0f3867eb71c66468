#!/bin/bash
# check-rocm.sh JOBS [LINE...]: tests/rocm with the build in build/, once for each line of ROCm (6.4
# and 7.2), whose userland rocm.sh unpacks in build/rocm/LINE; then dagpatch's 10,000 rebinds with
# HIP 5.2.3. Exit status 77, with the reason: a userland cannot be had here, and the tests with the
# others pass.
set -eu
cd "$(dirname "$0")/.."
jobs=$1
shift
[ $# -gt 0 ] || set -- 6.4 7.2
export DAGTAP_ROCM_DEBS=${DAGTAP_ROCM_DEBS:-build/rocm/debs}
absent=0
tests=()

for line in "$@"; do
	folder=$PWD/build/rocm/$line
	scripts/rocm.sh "$line" "$folder" || {
		code=$?
		[ $code -eq 77 ] || exit $code
		absent=77
		continue
	}
	cmake -S tests/rocm -B "$folder-tests" -G Ninja "-DROCM=$folder" "-DROCM_LINE=$line" "-DDAGTAP_BUILD=$PWD/build" >/dev/null
	ninja -C "$folder-tests"
	tests+=("subdirs($line-tests)")
done
# And of HIP 5.2.3 what `make check` has no time for. All in one run of CTest, so that no processor
# is idle while the last test of one line runs.
mkdir -p build/rocm
cat >build/rocm/CTestTestfile.cmake <<-END
	$(printf '%s\n' "${tests[@]}")
	add_test(patch_suite_hip_long ctest --test-dir "$PWD/build" -C Long -R ^patch_suite_hip_long$ --output-on-failure)
	set_tests_properties(patch_suite_hip_long PROPERTIES COST 2000)
END
ctest --test-dir build/rocm --output-on-failure -j "$jobs"
exit $absent
