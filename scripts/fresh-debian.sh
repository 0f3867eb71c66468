#!/bin/bash
# fresh-debian.sh FOLDER [TARGET...]: what a newcomer does, on a minimal Debian 12 made for it:
# debootstrap into FOLDER with git and make added, a clone of this tree's last commit, then each
# make target (demo and check unless others are named). Needs root and debootstrap; the mirror is
# the host's own.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: fresh-debian.sh FOLDER [TARGET...]}
shift
[ $# -gt 0 ] || set -- demo check

mirror() {
	apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Identifier: Packages' |
		awk '$1 == "Debian" && $2 == "bookworm" { print $3; exit }'
}

if [ ! -e "$folder/etc/debian_version" ]; then
	debootstrap --variant=minbase --include=git,make bookworm "$folder" "$(mirror)"
fi
cp /etc/resolv.conf /etc/hosts "$folder/etc/"
# How this machine reaches the package index: pip's own configuration, and whom it trusts there.
mkdir -p "$folder/usr/local/share/ca-certificates" "$folder/etc/ssl/certs"
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
find /usr/local/share/ca-certificates -name '*.crt' -exec cp -t "$folder/usr/local/share/ca-certificates" {} +
[ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$folder/etc/"
rm -rf "$folder/root/dagtap"
git clone --quiet --no-local "$top" "$folder/root/dagtap"

# A mount namespace of its own: /proc disappears with the last process of the run.
unshare --mount --fork bash -eu -c '
	folder=$1
	shift
	# A root that is a mount can have mount namespaces of its own.
	mount --bind "$folder" "$folder"
	mount -t proc proc "$folder/proc"
	mount -t sysfs sysfs "$folder/sys"
	mount -t tmpfs tmpfs "$folder/dev/shm" 2>/dev/null || true
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$folder/dev/pts"
	mount --bind "$folder/dev/pts/ptmx" "$folder/dev/ptmx"
	for target in "$@"; do
		env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
			chroot "$folder" make -C /root/dagtap "$target"
	done' fresh-debian "$folder" "$@"
