/* Loads a code object into an agent's memory, with a copy of its symbols. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/blit_kernels.h"
#include "softgpu/code_object.h"
#include "softgpu/code_object_reader.h"
#include "softgpu/device_memory.h"
#include "softgpu/executable_parts.h"
#include "softgpu/handle.h"

int symbol_compare_names(const void *a, const void *b)
{
	const struct symbol *left = a;
	const struct symbol *right = b;

	return strcmp(left->info.name, right->info.name);
}

/* Reads where one of ROCclr's own kernels has its arguments; does nothing for other symbols. */
static int read_layout(const struct code_object *object, struct symbol *symbol)
{
	if (!symbol->info.is_kernel ||
	    strncmp(symbol->info.name, BLIT_PREFIX, strlen(BLIT_PREFIX)) != 0)
		return 0;
	symbol->layout = malloc(sizeof(*symbol->layout));
	if (!symbol->layout)
		return -ENOMEM;
	blit_read_layout(object, symbol->info.name, symbol->layout);
	return 0;
}

/* Copies the symbols with their names, because they outlive the reader's bytes. */
static int copy_symbols(const struct code_object *object, struct loaded_object *loaded)
{
	struct softgpu_agent *agent = agent_find(loaded->info.agent);

	if (object->symbol_count > HANDLE_MAX_INDEX)
		return -ENOMEM;
	loaded->symbols = calloc(object->symbol_count + 1, sizeof(*loaded->symbols));
	if (!loaded->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < object->symbol_count; i++) {
		struct symbol *symbol = &loaded->symbols[i];

		symbol->info = object->symbols[i];
		symbol->agent = agent;
		symbol->info.address += (uint64_t)loaded->info.load_delta;
		symbol->info.name = strdup(object->symbols[i].name);
		if (!symbol->info.name)
			return -ENOMEM;
		loaded->symbol_count++;
		if (read_layout(object, symbol) < 0)
			return -ENOMEM;
	}
	qsort(loaded->symbols, loaded->symbol_count, sizeof(*loaded->symbols),
	      symbol_compare_names);
	return 0;
}

static hsa_status_t status_of(int err)
{
	switch (err) {
	case 0:
		return HSA_STATUS_SUCCESS;
	case -ENOMEM:
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	case -ENOENT:
		return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
	default:
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	}
}

static void describe_reader(const struct code_object_reader *reader, struct executable_loaded *info)
{
	info->is_file = reader->is_file;
	info->file = reader->file;
	info->storage = reader->is_file ? NULL : reader->bytes;
	info->storage_bytes = reader->size;
	snprintf(info->uri, sizeof(info->uri), "%s", reader->uri);
}

/* Loads a parsed code object into memory of AGENT. */
static hsa_status_t load_object(const struct code_object *object, struct softgpu_agent *agent,
				const struct external_resolver *resolver,
				struct loaded_object *loaded)
{
	size_t bytes = object->end - object->begin;
	void *image;
	hsa_status_t status = memory_allocate_local(agent, bytes, &image);
	int err;

	if (status != HSA_STATUS_SUCCESS)
		return status;
	loaded->info.load_base = (uintptr_t)image;
	loaded->info.load_bytes = bytes;
	loaded->info.load_delta = (int64_t)((uintptr_t)image - object->begin);
	err = code_object_load(object, image, (uintptr_t)image, resolver->resolve, resolver->data);
	if (err == 0)
		err = copy_symbols(object, loaded);
	return status_of(err);
}

void loaded_object_destroy(struct loaded_object *loaded)
{
	if (!loaded)
		return;
	for (uint32_t i = 0; i < loaded->symbol_count; i++) {
		free((char *)loaded->symbols[i].info.name);
		free(loaded->symbols[i].layout);
	}
	free(loaded->symbols);
	softgpu_hsa_amd_memory_pool_free((void *)loaded->info.load_base);
	free(loaded);
}

hsa_status_t loaded_object_create(const struct code_object_reader *reader,
				  hsa_executable_t executable, struct softgpu_agent *agent,
				  const struct external_resolver *resolver,
				  struct loaded_object **ret_loaded)
{
	struct loaded_object *loaded;
	struct code_object object;
	hsa_status_t status;
	int err = code_object_parse(reader->bytes, reader->size, &object);

	if (err < 0)
		return status_of(err);
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded) {
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	} else if (!code_object_matches_isa(&object, agent->isa_name)) {
		status = HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
	} else {
		loaded->info.executable = executable;
		loaded->info.agent = agent_handle(agent);
		describe_reader(reader, &loaded->info);
		status = load_object(&object, agent, resolver, loaded);
	}
	code_object_release(&object);
	if (status != HSA_STATUS_SUCCESS) {
		loaded_object_destroy(loaded);
		return status;
	}
	*ret_loaded = loaded;
	return HSA_STATUS_SUCCESS;
}
