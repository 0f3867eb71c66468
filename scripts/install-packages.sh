#!/bin/bash
# install-packages.sh PURPOSE...: installs the packages of scripts/packages.txt that have one of the
# purposes and are missing. Debian only; elsewhere, or when nothing is missing, it leaves apt alone.
set -eu
cd "$(dirname "$0")"

wanted() {
	local purpose
	for purpose in "$@"; do
		awk -v purpose="$purpose" '$1 == purpose { print $2 }' packages.txt
	done
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

if ! command -v apt-get >/dev/null; then
	echo "no apt-get here: the packages needed are listed in scripts/packages.txt" >&2
	exit 0
fi
missing=()
for package in $(wanted "$@"); do
	is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# Without apt's lists, as in a container's image, no package can be located.
echo "apt-get update, then installing: ${missing[*]}"
as_root apt-get update -qq
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
