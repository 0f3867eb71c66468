/* The functions of the loader extension (loader_ext.h). */
#include "softgpu/loader_ext.h"

#include <stdbool.h>
#include <string.h>

#include "softgpu/answer.h"
#include "softgpu/code_object_reader.h"
#include "softgpu/device_memory.h"
#include "softgpu/executable.h"
#include "softgpu/system_state.h"

static hsa_status_t query_host_address(const void *device_address, const void **host_address)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!device_address || !host_address)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*host_address = memory_translate(device_address);
	return HSA_STATUS_SUCCESS;
}

/* A position in the sequence of the loaded code objects of all executables. Zeroed at first. */
struct cursor {
	uint32_t next_executable;
	hsa_executable_t executable;
	bool in_executable;
	uint32_t next_loaded;
};

static bool next_loaded(struct cursor *cursor, struct executable_loaded *ret_loaded)
{
	hsa_loaded_code_object_t handle;

	for (;;) {
		if (!cursor->in_executable) {
			if (!executable_next(&cursor->next_executable, &cursor->executable))
				return false;
			cursor->in_executable = true;
			cursor->next_loaded = 0;
		}
		while (executable_loaded_at(cursor->executable, cursor->next_loaded, &handle)) {
			cursor->next_loaded++;
			if (executable_get_loaded(handle, ret_loaded))
				return true;
		}
		cursor->in_executable = false;
	}
}

static size_t count_loaded(void)
{
	struct executable_loaded loaded;
	struct cursor cursor = {0};
	size_t count = 0;

	while (next_loaded(&cursor, &loaded))
		count++;
	return count;
}

static hsa_ven_amd_loader_segment_descriptor_t
make_descriptor(const struct executable_loaded *loaded)
{
	/* A file has no storage here: its path would have to outlive this call. The URI of the
	 * loaded code object names it. */
	return (hsa_ven_amd_loader_segment_descriptor_t){
		.agent = loaded->agent,
		.executable = loaded->executable,
		.code_object_storage_type =
			loaded->is_file ? HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE
					: HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
		.code_object_storage_base = loaded->storage,
		.code_object_storage_size = loaded->is_file ? 0 : loaded->storage_bytes,
		.segment_base = (const void *)loaded->load_base,
		.segment_size = loaded->load_bytes,
	};
}

static hsa_status_t
query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t *segment_descriptors,
			  size_t *num_segment_descriptors)
{
	struct executable_loaded loaded;
	struct cursor cursor = {0};
	size_t count = 0;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!num_segment_descriptors ||
	    (segment_descriptors != NULL) != (*num_segment_descriptors != 0))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!segment_descriptors) {
		*num_segment_descriptors = count_loaded();
		return HSA_STATUS_SUCCESS;
	}
	while (next_loaded(&cursor, &loaded)) {
		if (count == *num_segment_descriptors)
			return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
		segment_descriptors[count++] = make_descriptor(&loaded);
	}
	return count == *num_segment_descriptors ? HSA_STATUS_SUCCESS
						 : HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
}

static hsa_status_t query_executable(const void *device_address, hsa_executable_t *executable)
{
	struct executable_loaded loaded;
	struct cursor cursor = {0};

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!device_address || !executable)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	while (next_loaded(&cursor, &loaded)) {
		if ((uintptr_t)device_address - loaded.load_base < loaded.load_bytes) {
			*executable = loaded.executable;
			return HSA_STATUS_SUCCESS;
		}
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t iterate_loaded_code_objects(
	hsa_executable_t executable,
	hsa_status_t (*callback)(hsa_executable_t executable,
				 hsa_loaded_code_object_t loaded_code_object, void *data),
	void *data)
{
	hsa_loaded_code_object_t handle;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!executable_exists(executable))
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	for (uint32_t i = 0; executable_loaded_at(executable, i, &handle); i++) {
		hsa_status_t status = callback(executable, handle, data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

/* Gives the attributes that depend on where the code object was loaded from. */
static hsa_status_t get_storage_info(const struct executable_loaded *loaded, uint32_t attribute,
				     void *value)
{
	switch (attribute) {
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
		return answer_u32(value,
				  loaded->is_file
					  ? HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE
					  : HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
		if (loaded->is_file)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		return answer_u64(value, (uint64_t)(uintptr_t)loaded->storage);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
		if (loaded->is_file)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		return answer_u64(value, loaded->storage_bytes);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE:
		if (!loaded->is_file)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		return answer(value, &loaded->file, sizeof(loaded->file));
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
		return answer_u32(value, (uint32_t)strlen(loaded->uri));
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
		/* Without a NUL, as in ROCr. */
		return answer(value, loaded->uri, strlen(loaded->uri));
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t
loaded_code_object_get_info(hsa_loaded_code_object_t loaded_code_object,
			    hsa_ven_amd_loader_loaded_code_object_info_t attribute, void *value)
{
	struct executable_loaded loaded;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!executable_get_loaded(loaded_code_object, &loaded))
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
	switch ((uint32_t)attribute) {
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
		return answer(value, &loaded.executable, sizeof(loaded.executable));
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
		return answer_u32(value, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
		return answer(value, &loaded.agent, sizeof(loaded.agent));
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
		return answer(value, &loaded.load_delta, sizeof(loaded.load_delta));
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
		return answer_u64(value, loaded.load_base);
	case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
		return answer_u64(value, loaded.load_bytes);
	default:
		return get_storage_info(&loaded, (uint32_t)attribute, value);
	}
}

static hsa_status_t create_reader_with_offset_size(hsa_file_t file, size_t offset, size_t size,
						   hsa_code_object_reader_t *code_object_reader)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!code_object_reader)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return reader_create_from_file(file, offset, size, code_object_reader);
}

static hsa_status_t
iterate_executables(hsa_status_t (*callback)(hsa_executable_t executable, void *data), void *data)
{
	hsa_executable_t executable;
	uint32_t cursor = 0;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	while (executable_next(&cursor, &executable)) {
		hsa_status_t status = callback(executable, data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

const hsa_ven_amd_loader_1_03_pfn_t *loader_ext_table(void)
{
	static const hsa_ven_amd_loader_1_03_pfn_t table = {
		.hsa_ven_amd_loader_query_host_address = query_host_address,
		.hsa_ven_amd_loader_query_segment_descriptors = query_segment_descriptors,
		.hsa_ven_amd_loader_query_executable = query_executable,
		.hsa_ven_amd_loader_executable_iterate_loaded_code_objects =
			iterate_loaded_code_objects,
		.hsa_ven_amd_loader_loaded_code_object_get_info = loaded_code_object_get_info,
		.hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size =
			create_reader_with_offset_size,
		.hsa_ven_amd_loader_iterate_executables = iterate_executables,
	};

	return &table;
}
