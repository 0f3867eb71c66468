#!/bin/bash
# rocm7.sh FOLDER: the userland of ROCm 7.2.4 as Debian builds it (HIP, rocBLAS, RCCL and all they need, its own
# C library included), unpacked in FOLDER and nowhere else: nothing is installed, nothing needs root, the host's
# own packages are not asked. Programs that are linked for FOLDER's loader run there (tests/rocm7).
#
# The packages come from Debian's unstable and experimental by the host's mirror, or by DAGTAP_DEBIAN_MIRROR; they
# are kept in FOLDER/debs, or in DAGTAP_ROCM7_DEBS, with a list of them and their checksums: a run that finds those
# needs no network. Exit status 77: they cannot be had here. 0.8 GB to fetch, 2.4 GB on the disk.
set -euo pipefail
folder=${1:?usage: rocm7.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
mkdir -p "${DAGTAP_ROCM7_DEBS:-$folder/debs}"
debs=$(cd "${DAGTAP_ROCM7_DEBS:-$folder/debs}" && pwd)

# ROCm in this version from experimental; what it depends on as unstable has it today.
version='7.2.4*'
rocm='libamdhip64-* libhiprtc* libhsa-runtime* librocprofiler-register* libamd-comgr* libroctx* librccl* librocblas* librocm-smi*'
wanted='libamdhip64-dev librocprofiler-register-0-dev libroctx-dev librccl-dev librocblas-dev'

cannot() {
	echo "ROCm 7 is not set up: $*" >&2
	exit 77
}

mirror() {
	apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
		awk '$1 == "Debian" && !/security/ && !found++ { print $2 }'
}

# apt with a world of its own in FOLDER/apt, where no package is installed yet.
configure_apt() {
	local mirror=${DAGTAP_DEBIAN_MIRROR:-$(mirror)} keys=/usr/share/keyrings/debian-archive-keyring.gpg

	[ "$mirror" ] || cannot "apt knows no Debian mirror; name one in DAGTAP_DEBIAN_MIRROR"
	rm -rf "$folder/apt"
	mkdir -p "$folder/apt/lists/partial" "$folder/apt/etc/preferences.d" "$folder/apt/none/partial" "$debs/partial"
	: >"$folder/apt/status"
	for suite in sid experimental; do
		echo "deb [signed-by=$keys] $mirror $suite main"
	done >"$folder/apt/etc/sources.list"
	cat >"$folder/apt/etc/preferences" <<-END
		Package: *
		Pin: release a=experimental
		Pin-Priority: 1

		Package: $rocm
		Pin: version $version
		Pin-Priority: 990
	END
	cat >"$folder/apt/apt.conf" <<-END
		Dir::Etc "$folder/apt/etc";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::parts "/dev/null";
		Dir::State "$folder/apt";
		Dir::State::status "$folder/apt/status";
		Dir::Cache "$folder/apt";
		Dir::Cache::archives "$debs";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "";
		Acquire::Check-Valid-Until "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
	END
	export APT_CONFIG=$folder/apt/apt.conf
}

# The files that apt would unpack, a name a line; it names only what it would have to fetch first.
file_names() {
	apt-get install -qq --print-uris -o "Dir::Cache::archives=$folder/apt/none" $wanted | awk '{ print $2 }'
}

fetch() {
	command -v apt-get >/dev/null || cannot "there is no apt-get here to fetch Debian's packages with"
	configure_apt
	apt-get update -qq -o APT::Update::Error-Mode=any ||
		cannot "the mirror gives no index of sid and experimental; DAGTAP_DEBIAN_MIRROR=URL names another one"
	for package in $wanted; do
		apt-cache policy "$package" | grep "Candidate: ${version%\*}" >/dev/null ||
			cannot "the mirror has no $package $version; a snapshot of Debian's archive keeps it (DAGTAP_DEBIAN_MIRROR=URL)"
	done
	file_names >"$folder/apt/names"
	apt-get install -qq --yes --download-only $wanted || cannot "not all packages could be fetched"
	(cd "$debs" && xargs -a "$folder/apt/names" sha256sum) >"$debs/packages"
	rm -rf "$folder/apt"
}

unpack() {
	rm -rf "$folder/unpacked"
	mkdir "$folder/unpacked"
	while read -r _ deb; do
		dpkg-deb --fsys-tarfile "$debs/$deb" | tar -x --no-same-owner -C "$folder/unpacked" --exclude='./usr/share/doc' \
			--exclude='./usr/share/man'
	done <"$debs/packages"
	rm -rf "$folder/usr"
	mv "$folder/unpacked/usr" "$folder/usr"
	rm -rf "$folder/unpacked"
}

has_packages() {
	[ -s "$debs/packages" ] && (cd "$debs" && sha256sum --check --quiet "$debs/packages" >/dev/null 2>&1)
}

if [ -e "$folder/complete" ] && [ "$folder/complete" -nt "$0" ]; then
	exit 0
fi
has_packages || fetch
unpack
"$folder/usr/lib64/ld-linux-x86-64.so.2" --library-path "$folder/usr/lib/x86_64-linux-gnu" --list \
	"$folder/usr/lib/x86_64-linux-gnu/libamdhip64.so.7" >/dev/null ||
	cannot "its loader does not run on this machine"
touch "$folder/complete"
echo "ROCm 7: $(grep -c . "$debs/packages") packages in $folder"
