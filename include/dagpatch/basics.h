/* What every call of dagpatch uses: the version, sized structs, errors.
 *
 * Part of dagpatch/dagpatch.h, which says what holds for all calls. */
#ifndef DAGPATCH_BASICS_H
#define DAGPATCH_BASICS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No node, no slot, or no byte, where one of these is expected. */
#define DAGPATCH_NONE UINT32_MAX

/* The version of this header; dagpatch_version() returns the library's. Both are major * 10000 +
 * minor * 100 + patch. The library serves every program that was built with a header of the same
 * major number. */
#define DAGPATCH_VERSION 100
/* Returns DAGPATCH_VERSION as it was when the library was built. Any thread. */
uint32_t dagpatch_version(void);

/* Makes a struct of type dagpatch_NAME with its size set and the given fields, in C:
 * DAGPATCH_SIZED(kernel, .function = f, .grid = {1}) is a struct dagpatch_kernel. The other fields
 * are 0. */
#define DAGPATCH_SIZED(name, ...)                                                                  \
	((struct dagpatch_##name){.size = sizeof(struct dagpatch_##name), __VA_ARGS__})

/* What went wrong in a call, for a person to read. NODE and BYTE are DAGPATCH_NONE when the error
 * is not about a node or a byte. */
struct dagpatch_error {
	int code;	   /* negative errno, as the call returned it */
	int driver_code;   /* CUresult or hipError_t; 0 when the driver was not the cause */
	uint32_t node;	   /* number of the node in the recording; nested nodes are counted too */
	uint32_t byte;	   /* offset in the node's parameters; for a kernel, in its arguments */
	char message[256]; /* one line, ended by 0 */
};

#ifdef __cplusplus
}
#endif

#endif
