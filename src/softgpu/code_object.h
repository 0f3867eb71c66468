/* AMD GPU code objects (ELF64, machine 224, code object versions 3 to 6): parsed, checked and
 * relocated from a buffer that may hold anything. No globals, no allocation but the symbol table,
 * no knowledge of agents or executables; any thread. */
#ifndef SOFTGPU_CODE_OBJECT_H
#define SOFTGPU_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_object_symbol {
	const char *name; /* in the buffer; a kernel's ends in ".kd" */
	uint64_t address; /* as linked: add the load delta */
	uint64_t bytes;
	bool is_kernel; /* else a variable */
	bool is_const;
	uint32_t alignment;
	uint32_t kernarg_bytes; /* these four: kernels only, from the descriptor */
	uint32_t group_bytes;
	uint32_t private_bytes;
	bool dynamic_stack;
};

struct code_object {
	const uint8_t *bytes; /* the caller's; must outlive this */
	size_t size;
	uint32_t flags; /* e_flags: the ISA */
	uint8_t abi_version;
	uint64_t begin; /* span of the loadable segments, in whole pages */
	uint64_t end;
	struct code_object_symbol *symbols; /* defined global kernels and variables */
	size_t symbol_count;
};

/* The address of a variable that the code object does not define; false when there is none. */
typedef bool (*code_object_resolve_fn)(const char *name, void *data, uint64_t *ret_address);

/* Checks BYTES and reads its symbols. -EINVAL: not a valid code object; -ENOMEM. */
int code_object_parse(const void *bytes, size_t size, struct code_object *ret_object);
void code_object_release(struct code_object *object);

/* The INDEX-th of its note segments, inside the caller's bytes; false when it has no more. */
bool code_object_notes(const struct code_object *object, uint32_t index, const uint8_t **ret_bytes,
		       size_t *ret_size);

/* Copies the segments to IMAGE (end - begin zeroed bytes, any alignment) and relocates them to run
 * at LOAD_ADDRESS. -EINVAL: a broken relocation; -ENOENT: a variable that RESOLVE (may be NULL)
 * does not know. IMAGE may hold half of the work after a failure. */
int code_object_load(const struct code_object *object, void *image, uint64_t load_address,
		     code_object_resolve_fn resolve, void *resolve_data);

/* True when the code object may run on ISA: a full name such as
 * "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-". */
bool code_object_matches_isa(const struct code_object *object, const char *isa);

#endif
