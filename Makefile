# The short way in; CMakePresets.json holds the rest. Options: BUILD_JOBS, FUZZ_SECONDS, PREFIX,
# DESTDIR.

BUILD_JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 300
PREFIX ?= /usr/local

.PHONY: all demo check check-conformance check-spark check-rocm check-jax-rocm lint build bench stress fuzz fuzz-fixed install clean deps deps-build deps-check
all: build

# Debian packages, from the one list in scripts/packages.txt; nothing happens when all are there.
deps: deps-check
deps-build:
	@scripts/install-packages.sh build
deps-check:
	@scripts/install-packages.sh build check

build: deps-build
	@scripts/build.sh default $(BUILD_JOBS)

# Only what the demo runs, and the examples that it names: the tests take most of a build.
demo: deps-build
	@scripts/build.sh default $(BUILD_JOBS) dagtap dagtap_inject softgpu examples/hip/all
	@scripts/demo.sh

check: deps-check build
	@scripts/check.sh $(BUILD_JOBS)

# Readers that are not ours, from the package index; skipped, with a word, without one.
check-conformance: deps-check build
	ctest --preset default -L conformance --output-on-failure -j $(BUILD_JOBS)

# The queries of docs/fleet.md in Spark, in build/conformance/spark: 456 MB from the package index,
# once, and Java.
check-spark: deps-check build
	@scripts/check-spark.sh

# HIP 6.4.3 and 7.2.4, rocBLAS and RCCL, in folders of their own (build/rocm): 1.1 GB from Debian's
# mirror, once.
check-rocm: deps-check build
	@scripts/check-rocm.sh $(BUILD_JOBS)

# JAX for AMD GPUs as it is released, on the software GPU, in build/jax-rocm: 1.7 GB from Debian's
# mirror and the package index, once.
check-jax-rocm: deps-check build
	@scripts/check-jax-rocm.sh $(BUILD_JOBS)

lint: deps-check build
	@scripts/lint.sh build $(BUILD_JOBS)

bench: build
	build/bin/dagtap-bench all

stress: build
	DAGTAP_TEST_SEED=random ctest --test-dir build -C Long -L "long|stress" --output-on-failure

fuzz: deps-check
	@scripts/build.sh fuzz $(BUILD_JOBS) fuzz/all
	@scripts/fuzz.sh $(FUZZ_SECONDS) $(BUILD_JOBS)

# The same inputs on every machine, up to 60 s of each target; what continuous integration runs.
fuzz-fixed: deps-check
	@scripts/build.sh fuzz $(BUILD_JOBS) fuzz/all
	@scripts/fuzz.sh fixed $(BUILD_JOBS)

install: build
	cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-asan build-tsan build-fuzz
