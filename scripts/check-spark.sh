#!/bin/bash
# check-spark.sh: the queries of docs/fleet.md in Spark besides the other engines
# (tests/conformance/test_conformance_fleet.py), with the build in build/. Spark is installed in
# build/conformance/spark, once: 456 MB from the package index. It needs Java 17 or later (Debian's
# openjdk-17-jre-headless). Exit status 77, with the reason: one of them cannot be had here.
set -eu
cd "$(dirname "$0")/.."
spark=build/conformance/spark
requirements=tests/conformance/requirements-spark.txt

command -v java >/dev/null || {
	echo "skipped: there is no java (Debian's openjdk-17-jre-headless)"
	exit 77
}
if ! cmp -s "$requirements" "$spark/requirements.txt"; then
	rm -rf "$spark"
	python3 -m pip install --quiet --no-deps --require-hashes --target "$spark" -r "$requirements" || {
		rm -rf "$spark"
		echo "skipped: Spark could not be installed"
		exit 77
	}
	cp "$requirements" "$spark/requirements.txt"
fi
# With FLEET_NEEDS_SPARK the case of Spark cannot be skipped. The whole test can, without a network.
set -o pipefail
told=$(FLEET_NEEDS_SPARK=1 ctest --preset default -R '^conformance_fleet$' --output-on-failure | tee /dev/stderr)
case $told in
*'***Skipped'*)
	echo "skipped: the other readers could not be installed"
	exit 77
	;;
esac
