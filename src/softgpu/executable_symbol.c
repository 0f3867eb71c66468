/* The HSA functions on the symbols of executables: find, iterate and describe them. */
#include "softgpu/executable_parts.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/agent.h"
#include "softgpu/answer.h"
#include "softgpu/api.h"
#include "softgpu/handle.h"
#include "softgpu/system_state.h"

#define KERNARG_ALIGNMENT 16u

/* Under lock. Returns symbol INDEX of all symbols of the executable's code objects; NULL when there
 * is none. */
static const struct symbol *symbol_at(const struct executable *executable, uint32_t index)
{
	for (uint32_t i = 0; executable && i < executable->loaded_count; i++) {
		const struct loaded_object *loaded = executable->loaded[i];

		if (index - loaded->first_symbol < loaded->symbol_count)
			return &loaded->symbols[index - loaded->first_symbol];
	}
	return NULL;
}

/* Under lock. Gives the index of symbol NAME on AGENT (NULL: on any agent). Returns false when no
 * code object there defines it. */
static bool find_symbol(const struct executable *executable, const char *name,
			const struct softgpu_agent *agent, uint32_t *ret_index)
{
	const struct symbol key = {.info.name = name};

	for (uint32_t i = 0; i < executable->loaded_count; i++) {
		const struct loaded_object *loaded = executable->loaded[i];
		const struct symbol *symbol;

		if (agent && agent_find(loaded->info.agent) != agent)
			continue;
		symbol = bsearch(&key, loaded->symbols, loaded->symbol_count, sizeof(*symbol),
				 symbol_compare_names);
		if (symbol) {
			*ret_index = loaded->first_symbol + (uint32_t)(symbol - loaded->symbols);
			return true;
		}
	}
	return false;
}

hsa_status_t softgpu_hsa_executable_get_symbol_by_name(hsa_executable_t handle,
						       const char *symbol_name,
						       const hsa_agent_t *agent,
						       hsa_executable_symbol_t *symbol)
{
	const struct softgpu_agent *gpu = agent ? agent_find(*agent) : NULL;
	hsa_status_t status = HSA_STATUS_SUCCESS;
	const struct executable *executable;
	uint32_t index = 0;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!symbol_name || !symbol)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (agent && !gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	executable_lock();
	executable = executable_find(handle);
	if (!executable)
		status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	/* Without an agent the caller asks for a program symbol, but all symbols belong to an
	 * agent. */
	else if (!gpu || !find_symbol(executable, symbol_name, gpu, &index))
		status = HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
	else
		symbol->handle = handle_inner(handle.handle, HANDLE_SYMBOL, index);
	executable_unlock();
	return status;
}

hsa_status_t softgpu_hsa_executable_get_symbol(hsa_executable_t handle, const char *module_name,
					       const char *symbol_name, hsa_agent_t agent,
					       int32_t call_convention,
					       hsa_executable_symbol_t *symbol)
{
	return softgpu_hsa_executable_get_symbol_by_name(handle, symbol_name, &agent, symbol);
}

static hsa_status_t get_kernel_info(const struct symbol *symbol, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
		return answer(value, &symbol->info.address, sizeof(uint64_t));
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
		return answer_u32(value, symbol->info.kernarg_bytes);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
		return answer_u32(value, KERNARG_ALIGNMENT);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
		return answer_u32(value, symbol->info.group_bytes);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
		return answer_u32(value, symbol->info.private_bytes);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
		return answer_bool(value, symbol->info.dynamic_stack);
	case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
		return answer_u32(value, 0);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t get_variable_info(const struct symbol *symbol, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
		return answer(value, &symbol->info.address, sizeof(uint64_t));
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
		return answer_u32(value, (uint32_t)symbol->info.bytes);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
		return answer_u32(value, symbol->info.alignment);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
		return answer_u32(value, HSA_VARIABLE_ALLOCATION_AGENT);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
		return answer_u32(value, HSA_VARIABLE_SEGMENT_GLOBAL);
	case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
		return answer_bool(value, symbol->info.is_const);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t get_symbol_info(const struct symbol *symbol, uint32_t attribute, void *value)
{
	const size_t name_length = strlen(symbol->info.name);
	const hsa_agent_t agent = agent_handle(symbol->agent);

	switch (attribute) {
	case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
		return answer_u32(value, symbol->info.is_kernel ? HSA_SYMBOL_KIND_KERNEL
								: HSA_SYMBOL_KIND_VARIABLE);
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
		return answer_u32(value, (uint32_t)name_length);
	case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
		/* Without a NUL, as in ROCr: the caller has room for NAME_LENGTH characters. */
		return answer(value, symbol->info.name, name_length);
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
		return answer_u32(value, 0);
	case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
		return HSA_STATUS_SUCCESS;
	case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
		return answer(value, &agent, sizeof(agent));
	case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
		return answer_u32(value, HSA_SYMBOL_LINKAGE_PROGRAM);
	case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
		return answer_bool(value, true);
	default:
		return symbol->info.is_kernel ? get_kernel_info(symbol, attribute, value)
					      : get_variable_info(symbol, attribute, value);
	}
}

hsa_status_t softgpu_hsa_executable_symbol_get_info(hsa_executable_symbol_t handle,
						    hsa_executable_symbol_info_t attribute,
						    void *value)
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
	const struct symbol *symbol;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	executable_lock();
	symbol = symbol_at(executable_find_by_symbol(handle), handle_index(handle.handle));
	if (symbol)
		status = get_symbol_info(symbol, (uint32_t)attribute, value);
	executable_unlock();
	return status;
}

/* Gives the first symbol from *INDEX on that belongs to AGENT (NULL: to any), and moves *INDEX
 * behind it. Returns false at the end. */
static bool next_symbol(hsa_executable_t handle, const struct softgpu_agent *agent, uint32_t *index,
			hsa_executable_symbol_t *ret_symbol)
{
	const struct executable *executable;
	const struct symbol *symbol;

	executable_lock();
	executable = executable_find(handle);
	symbol = symbol_at(executable, *index);
	while (symbol && agent && symbol->agent != agent)
		symbol = symbol_at(executable, ++*index);
	if (symbol)
		ret_symbol->handle = handle_inner(handle.handle, HANDLE_SYMBOL, (*index)++);
	executable_unlock();
	return symbol != NULL;
}

hsa_status_t softgpu_hsa_executable_iterate_agent_symbols(
	hsa_executable_t handle, hsa_agent_t agent,
	hsa_status_t (*callback)(hsa_executable_t exec, hsa_agent_t agent,
				 hsa_executable_symbol_t symbol, void *data),
	void *data)
{
	const struct softgpu_agent *gpu = agent_find(agent);
	hsa_executable_symbol_t symbol;
	uint32_t index = 0;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!executable_exists(handle))
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	while (next_symbol(handle, gpu, &index, &symbol)) {
		hsa_status_t status = callback(handle, agent, symbol, data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_executable_iterate_symbols(
	hsa_executable_t handle,
	hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data),
	void *data)
{
	hsa_executable_symbol_t symbol;
	uint32_t index = 0;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!executable_exists(handle))
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	while (next_symbol(handle, NULL, &index, &symbol)) {
		hsa_status_t status = callback(handle, symbol, data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

/* Calls nothing back: code objects are loaded for an agent, so there are no program symbols. */
hsa_status_t softgpu_hsa_executable_iterate_program_symbols(
	hsa_executable_t handle,
	hsa_status_t (*callback)(hsa_executable_t exec, hsa_executable_symbol_t symbol, void *data),
	void *data)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return executable_exists(handle) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}
