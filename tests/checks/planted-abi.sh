#!/bin/bash
# planted-abi.sh COMPILER: scripts/abi.sh finds a function that is gone and a struct that has grown.
. "$(dirname "$0")/plant.sh"
compiler=$1
command -v abidw >/dev/null || exit 77

# check_changed EXPRESSION: compares libdagtap, made of sources that sed has changed.
check_changed() {
	rm -rf "$work/changed" "$work/build"
	mkdir -p "$work/build/lib" "$work/changed/src"
	cp -r "$SOURCE_DIR/include" "$work/changed"
	cp -r "$SOURCE_DIR"/src/{annotate,base,record} "$work/changed/src"
	sed -i "$1" "$work/changed/include/dagtap/annotate.h" "$work/changed/src/annotate/annotate.c"
	cp "$BUILD_DIR"/lib/libdagtap-trace.so.0 "$BUILD_DIR"/lib/libdagpatch.so.0 "$work/build/lib"
	"$compiler" -g -shared -fPIC -Wl,-soname,libdagtap.so.0 -D_GNU_SOURCE -fvisibility=hidden \
		-Wl,--version-script="$work/changed/src/annotate/annotate.map" \
		-I"$work/changed/include" -I"$work/changed/src" "$work/changed/src/annotate/annotate.c" \
		-o "$work/build/lib/libdagtap.so.0"
	"$SOURCE_DIR/scripts/abi.sh" check "$work/build"
}

check_changed 's/nothing changes//'
expect_fault "dagtap_scope_pop" check_changed 's/dagtap_scope_pop(void)/dagtap_scope_end(void)/'
expect_fault "struct dagtap_attribute" check_changed 's/^\tuint32_t kind;/\tuint32_t kind, unit, scale;/'
