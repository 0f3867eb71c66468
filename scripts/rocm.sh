#!/bin/bash
# rocm.sh LINE FOLDER: the userland of ROCm as Debian builds it (HIP, rocBLAS and all they need,
# their own C library included), unpacked in FOLDER and nowhere else: nothing is installed, nothing
# needs root, the host's own packages are not asked. Programs that are linked for FOLDER's loader
# run there (tests/rocm).
#
#   7.2   ROCm 7.2.4 with RCCL, from Debian's experimental: 0.8 GB to fetch, 1.3 GB on the disk
#   7.2-jax   the same with what JAX needs beside it: hipBLASLt, MIOpen, hipFFT and rocFFT of
#             7.2.4, and Python 3.13
#             (scripts/jax-rocm.sh): 1.1 GB to fetch, 2.2 GB on the disk
#   6.4   HIP 6.4.3 and rocBLAS 6.4.4, from Debian's unstable: 0.35 GB to fetch, 3.1 GB on the disk
#
# The packages come from the host's mirror, or from DAGTAP_DEBIAN_MIRROR; they are kept in
# FOLDER/debs, or in DAGTAP_ROCM_DEBS, which both lines may share, with a list of each line's
# packages and their checksums: a run that finds those needs no network. Kernels of GPUs that no
# test shows are not unpacked. FOLDER/complete is there when all is. Exit status 77: they cannot be
# had here, or the disk has no room for them.
set -euo pipefail
usage='usage: rocm.sh 7.2|7.2-jax|6.4 FOLDER'
line=${1:?$usage}
folder=${2:?$usage}

# megabytes: packages and what they unpack to, with some room. pins: a version and the packages that
# are wanted in it, a line each; whatever they depend on is as unstable has it today. 6.4 has no
# RCCL: unstable's is 5.4.3, which depends on HIP 5.
case $line in
7.2 | 7.2-jax)
	wanted='libamdhip64-dev librocprofiler-register-0-dev libroctx-dev librccl-dev librocblas-dev'
	megabytes=2200
	[ "$line" = 7.2 ] || {
		wanted+=' python3.13 libhipblaslt1 libhipfft0 librocfft0 libmiopen1'
		megabytes=3500
	}
	hip=libamdhip64.so.7
	pins='7.2.4 libamdhip64-* libhiprtc* libhsa-runtime* librocprofiler-register* libamd-comgr* libroctx* librccl* librocblas* librocm-smi*
		7.2.4 libhipblas* libhipfft* librocfft* libmiopen*
		3.13 python3.13'
	;;
6.4)
	wanted='libamdhip64-dev librocprofiler-register-0-dev libroctx-dev librocblas-dev'
	megabytes=3600
	hip=libamdhip64.so.6
	pins='6.4.3 libamdhip64-* libhiprtc* libhsa-runtime*
		6.4 librocblas* libroctx*
		7.2.4 librocprofiler-register*'
	;;
*)
	echo "$usage" >&2
	exit 2
	;;
esac

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
mkdir -p "${DAGTAP_ROCM_DEBS:-$folder/debs}"
debs=$(cd "${DAGTAP_ROCM_DEBS:-$folder/debs}" && pwd)
packages=$debs/packages-$line

cannot() {
	echo "ROCm $line is not set up: $*" >&2
	exit 77
}

mirror() {
	apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
		awk '$1 == "Debian" && !/security/ && !found++ { print $2 }'
}

preferences() {
	printf 'Package: *\nPin: release a=experimental\nPin-Priority: 1\n'
	echo "$pins" | while read -r version names; do
		printf '\nPackage: %s\nPin: version %s*\nPin-Priority: 990\n' "$names" "$version"
	done
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
	preferences >"$folder/apt/etc/preferences"
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

# The version that apt would take is one that is pinned.
has_pinned_version() { # PACKAGE
	apt-cache policy "$1" |
		awk '$1 == "Candidate:" { candidate = $2 } $1 == candidate && $2 == 990 { found = 1 } END { exit !found }'
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
		has_pinned_version "$package" ||
			cannot "the mirror has $package in another version; a snapshot of Debian's archive keeps it (DAGTAP_DEBIAN_MIRROR=URL)"
	done
	file_names >"$folder/apt/names" || cannot "the packages do not go together"
	apt-get install -qq --yes --download-only $wanted || cannot "not all packages could be fetched"
	(cd "$debs" && xargs -a "$folder/apt/names" sha256sum) >"$packages"
	rm -rf "$folder/apt"
}

# What nobody reads here: documents, and the kernels of GPUs that no test shows (the libraries bring
# those of a dozen, most of what they take on the disk).
left_out=(./usr/share/doc ./usr/share/man 'gfx1*' 'gfx8*' 'gfx900*' 'gfx908*' '*_gfx1*' '*_gfx8*' '*_gfx900*' '*_gfx908*')

unpack() {
	rm -rf "$folder/unpacked"
	mkdir "$folder/unpacked"
	while read -r _ deb; do
		dpkg-deb --fsys-tarfile "$debs/$deb" |
			tar -x --no-same-owner -C "$folder/unpacked" "${left_out[@]/#/--exclude=}"
	done <"$packages"
	rm -rf "$folder/usr"
	mv "$folder/unpacked/usr" "$folder/usr"
	rm -rf "$folder/unpacked"
}

has_packages() {
	[ -s "$packages" ] && (cd "$debs" && sha256sum --check --quiet "$packages" >/dev/null 2>&1)
}

if [ -e "$folder/complete" ] && [ "$folder/complete" -nt "$0" ]; then
	exit 0
fi
free=$(df --output=avail -m "$folder" | tail -n 1 | tr -d " ")
[ "$free" -ge "$megabytes" ] || cannot "it takes up to $megabytes MiB on the disk, and $folder has $free left"
has_packages || fetch
unpack
"$folder/usr/lib64/ld-linux-x86-64.so.2" --library-path "$folder/usr/lib/x86_64-linux-gnu" --list \
	"$folder/usr/lib/x86_64-linux-gnu/$hip" >/dev/null ||
	cannot "its loader does not run on this machine"
touch "$folder/complete"
echo "ROCm $line: $(grep -c . "$packages") packages in $folder"
