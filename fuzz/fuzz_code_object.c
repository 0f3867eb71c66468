/*
 * Fuzzes the code object loader: arbitrary bytes are parsed, matched, loaded and relocated, or
 * refused, and their kernels' arguments are read.
 */
#include <stdlib.h>
#include <string.h>

#include "softgpu/code_object.h"
#include "softgpu/metadata.h"

#define IMAGE_MAX_BYTES (16u << 20)
#define LOAD_ADDRESS	0x7f0000000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool resolve_by_length(const char *name, void *data, uint64_t *ret_address)
{
	*ret_address = strlen(name);
	return *ret_address % 2 == 0;
}

/* Reads every byte that a symbol refers to. */
static void check_symbols(const struct code_object *object)
{
	for (size_t i = 0; i < object->symbol_count; i++) {
		const struct code_object_symbol *symbol = &object->symbols[i];

		if (strlen(symbol->name) >= object->size || symbol->address < object->begin ||
		    symbol->bytes > object->end - symbol->address)
			abort();
	}
}

/* Reads every byte of the name. */
static void check_argument(const struct metadata_argument *argument, void *data)
{
	if (argument->name && memchr(argument->name, 1, argument->name_length) == data)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_object object;
	void *image;

	if (code_object_parse(data, size, &object) < 0)
		return 0;
	check_symbols(&object);
	for (size_t i = 0; i < object.symbol_count; i++)
		metadata_each_argument(&object, object.symbols[i].name, check_argument, &object);
	code_object_matches_isa(&object, "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-");
	if (object.end - object.begin <= IMAGE_MAX_BYTES) {
		image = calloc(1, object.end - object.begin);
		if (image)
			code_object_load(&object, image, LOAD_ADDRESS, resolve_by_length, NULL);
		free(image);
	}
	code_object_release(&object);
	return 0;
}
