/* The reader of AMD GPU code objects (ELF64, machine 224, code object versions 3 to 6): parses,
 * checks and relocates them. The buffer may hold any bytes; every offset and size in it is checked.
 * Uses no global state, allocates the symbol table only, and knows nothing of agents and
 * executables (executable.c does). Threading: any thread. */
#ifndef SOFTGPU_CODE_OBJECT_H
#define SOFTGPU_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_object_symbol {
	const char *name; /* in the caller's buffer; the name of a kernel ends in ".kd" */
	uint64_t address; /* linked address; the run-time address needs the load delta added */
	uint64_t bytes;
	bool is_kernel; /* false: a variable */
	bool is_const;	/* in a segment that is not writable */
	uint32_t alignment;
	/* The fields below are set for kernels only, from the kernel descriptor. */
	uint32_t kernarg_bytes;
	uint32_t group_bytes;
	uint32_t private_bytes;
	bool dynamic_stack;
};

struct code_object {
	const uint8_t *bytes; /* the caller's buffer, which must outlive this struct */
	size_t size;
	uint32_t flags;	     /* e_flags, which name the ISA */
	uint8_t abi_version; /* EI_ABIVERSION: code object version 3 is 1, version 6 is 4 */
	uint64_t begin;	     /* linked addresses of the loadable segments, in whole pages */
	uint64_t end;
	struct code_object_symbol *symbols; /* owned; the defined global kernels and variables */
	size_t symbol_count;
};

/* Gives the address of variable NAME, which the code object does not define. DATA is the
 * resolve_data of code_object_load. Returns false when no such variable is known. */
typedef bool (*code_object_resolve_fn)(const char *name, void *data, uint64_t *ret_address);

/* Checks the code object in BYTES and reads its symbols. RET_OBJECT refers to BYTES, which must
 * outlive it; release it with code_object_release. Returns 0, -EINVAL when the buffer holds no
 * valid code object, or -ENOMEM. */
int code_object_parse(const void *bytes, size_t size, struct code_object *ret_object);
/* Frees the symbols. NULL and a zeroed object are allowed. */
void code_object_release(struct code_object *object);

/* Gives the INDEX-th note segment, which lies in the caller's buffer. Returns false when there are
 * no more. */
bool code_object_notes(const struct code_object *object, uint32_t index, const uint8_t **ret_bytes,
		       size_t *ret_size);

/* Copies the loadable segments to IMAGE, which is (end - begin) zeroed bytes of any alignment, and
 * relocates them for LOAD_ADDRESS. Returns 0, -EINVAL for an invalid relocation, or -ENOENT for a
 * variable that RESOLVE does not know; RESOLVE may be NULL. After a failure the content of IMAGE is
 * undefined. */
int code_object_load(const struct code_object *object, void *image, uint64_t load_address,
		     code_object_resolve_fn resolve, void *resolve_data);

/* Returns whether the code object can run on ISA, a full name such as
 * "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-". */
bool code_object_matches_isa(const struct code_object *object, const char *isa);

#endif
