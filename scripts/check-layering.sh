#!/bin/bash
# Fails on an include that breaks the order of the rooms (ARCHITECTURE.md): each room of src/ may
# include itself and the rooms listed for it; vendors' headers stay in their folders.
set -eu
cd "$(dirname "$0")/.."

rooms='
base
record base
annotate base record
capture base record vendor
trace base record
live base record trace
sdk base record trace live
merge base record trace
analyze base record trace
wire base
stats base record trace wire format
format base record trace wire
api base trace analyze format
jax
cli base record trace live merge analyze wire stats format
vendor base
patch base vendor
preload base vendor patch
softgpu base vendor
'
# Folders that may include hsa/ and hip/ headers.
vendor_folders='src/vendor/ src/softgpu/ src/capture/hsa/ src/capture/hip/ include/dagtap/softgpu.h'

find src include -name '*.[chS]' -print0 | sort -z |
	xargs -0 awk -v rooms="$rooms" -v vendor_folders="$vendor_folders" '
	function complain(text) {
		printf "%s:%d: %s\n", FILENAME, FNR, text
		failed = 1
	}
	function check_vendor(header,    i) {
		if (header !~ /^(hsa|hip|cuda|cupti)[\/.]/)
			return
		for (i = 1; i <= folders; i++)
			if (index(FILENAME, folder[i]) == 1)
				return
		complain("a vendor header, " header ", outside its folders")
	}
	function check_room(header,    path, target) {
		split(FILENAME, path, "/")
		if (path[1] != "src") {
			complain("a public header includes \"" header "\"")
			return
		}
		if (!((path[2]) in known)) {
			complain("room " path[2] " is not in scripts/check-layering.sh")
			return
		}
		if (!match(header, /\//)) {
			complain("\"" header "\" is not written from src/")
			return
		}
		target = substr(header, 1, RSTART - 1)
		if (target != path[2] && !((path[2], target) in allowed))
			complain(path[2] " may not include " header)
	}
	BEGIN {
		lines = split(rooms, line, "\n")
		for (i = 1; i <= lines; i++) {
			words = split(line[i], word, " ")
			known[word[1]]
			for (j = 2; j <= words; j++)
				allowed[word[1], word[j]]
		}
		folders = split(vendor_folders, folder, " ")
	}
	/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
		quoted = $0 ~ /"/
		header = $0
		sub(/^[^<"]*[<"]/, "", header)
		sub(/[>"].*/, "", header)
		check_vendor(header)
		if (quoted)
			check_room(header)
	}
	END { exit failed }'
