#!/bin/bash
# jax-rocm.sh FOLDER [RELEASE...]: JAX for AMD GPUs in FOLDER, as it is released, to run on the
# software GPU: real XLA, on the HIP, rocBLAS, hipBLASLt, MIOpen, rocFFT, RCCL and Python of Debian
# (scripts/rocm.sh 7.2-jax). Nothing is installed, nothing needs root. The default is the newest
# release that tests/jax_rocm/releases names.
#
#   FOLDER/RELEASE/python train.py    under `dagtap record --softgpu=gfx90a`, or `dagtap softgpu`
#
# The wheels come from the package index; they are kept in FOLDER/wheels, or in DAGTAP_JAX_WHEELS,
# with their checksums, and the packages in DAGTAP_ROCM_DEBS: a run that finds those needs no
# network. Exit status 77: they cannot be had here. 0.27 GB for each release beside the 1.1 GB of
# packages, 1 GB on the disk beside 2.2.
set -euo pipefail
project=$(cd "$(dirname "$0")/.." && pwd)
here=$project/tests/jax_rocm
folder=${1:?usage: jax-rocm.sh FOLDER [RELEASE...]}
shift
[ $# -gt 0 ] || set -- "$(head -n 1 "$here/releases")"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
mkdir -p "${DAGTAP_JAX_WHEELS:-$folder/wheels}"
wheels=$(cd "${DAGTAP_JAX_WHEELS:-$folder/wheels}" && pwd)

cannot() {
	echo "JAX for ROCm is not set up: $*" >&2
	exit 77
}

has_wheels() { # RELEASE
	[ -s "$wheels/$1/checksums" ] && (cd "$wheels/$1" && sha256sum --check --quiet checksums >/dev/null 2>&1)
}

fetch() { # RELEASE
	rm -rf "${wheels:?}/$1"
	python3 -m pip download --quiet --disable-pip-version-check --dest "$wheels/$1" --only-binary=:all: \
		--implementation cp --python-version 3.13 --platform manylinux_2_28_x86_64 \
		--platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 \
		"jax==$1" "jaxlib==$1" "jax-rocm7-pjrt==$1" "jax-rocm7-plugin==$1" ||
		cannot "the package index gives no wheels of release $1"
	(cd "$wheels/$1" && sha256sum ./*.whl >checksums)
}

expect_room() { # RELEASE
	local free

	free=$(df --output=avail -m "$folder" | tail -n 1 | tr -d " ")
	[ "$free" -ge 1500 ] || cannot "release $1 takes up to 1500 MiB on the disk, and $folder has $free left"
}

unpack() { # RELEASE
	local place=$folder/$1

	rm -rf "$place"
	mkdir -p "$place/site" "$place/stubs"
	for wheel in "$wheels/$1"/*.whl; do
		python3 -m zipfile -e "$wheel" "$place/site"
	done
	python3 "$here/make-stubs.py" "$place/site/jax_plugins/xla_rocm7/xla_rocm_plugin.so" \
		"$folder/rocm/usr/lib/x86_64-linux-gnu" "$place/stubs"
	cp "$here/python.sh" "$place/python"
	chmod +x "$place/python"
	touch "$place/complete"
	echo "JAX $1 for ROCm: $place/python"
}

is_complete() { # RELEASE
	local place=$folder/$1

	for source in "$0" "$here/make-stubs.py" "$here/python.sh"; do
		[ "$place/complete" -nt "$source" ] || return 1
	done
}

for program in gcc nm readelf unshare; do
	command -v $program >/dev/null || cannot "there is no $program here"
done
python3 -m pip --version >/dev/null 2>&1 || cannot "python3 has no pip here (Debian: python3-pip)"

make_shared() {
	cp "$project/tests/rocm/make-topology.sh" "$folder/"
	gcc -shared -fPIC -O1 -w -D_GNU_SOURCE -D__HIP_PLATFORM_AMD__ -isystem "$folder/rocm/usr/include" \
		-o "$folder/libhand-over.so" "$project/tests/rocm/hand-over.c" \
		"$folder/rocm/usr/lib/x86_64-linux-gnu/librocprofiler-register.so.0" -Wl,--allow-shlib-undefined
}

"$project/scripts/rocm.sh" 7.2-jax "$folder/rocm"
make_shared
for release; do
	is_complete "$release" && continue
	expect_room "$release"
	has_wheels "$release" || fetch "$release"
	unpack "$release"
done
