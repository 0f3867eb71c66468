#!/bin/sh
# Assembles ticket.S into the code objects checked in beside it. Needs clang-14 and lld-15.
set -eu
cd "$(dirname "$0")"
object=$(mktemp)
trap 'rm -f "$object"' EXIT

assemble() { # ISA TARGET-ID [OPTION]
	clang-14 -target amdgcn-amd-amdhsa -nogpulib -mcpu="$2" ${3:-} -c ticket.S -o "$object"
	ld.lld-15 -shared --strip-all "$object" -o "ticket-$1.co"
}

assemble gfx906 gfx906:sramecc+:xnack-
assemble gfx90a gfx90a:sramecc+:xnack- -DACCUM
assemble gfx1030 gfx1030 -DWAVE32
