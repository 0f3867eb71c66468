/* Executables: keeps the hash table of kernels by kernel_object, and holds the HSA functions on
 * executables. loaded_object.c loads the code objects. */
#include "softgpu/executable.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/code_object.h"
#include "softgpu/code_object_reader.h"
#include "softgpu/device_memory.h"
#include "softgpu/executable_parts.h"
#include "softgpu/handle.h"
#include "softgpu/kernel.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

#define KERNEL_BUCKETS	  4096u
#define KERNEL_ALIGN_BITS 6 /* kernel descriptors are aligned to 64 bytes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static struct handle_table executables;
static struct symbol *kernels[KERNEL_BUCKETS];

static void guard_lock(void)
{
	process_guard_lock(&lock);
}

void executable_lock(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
}

void executable_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct executable *executable_find(hsa_executable_t handle)
{
	return handle_find(&executables, HANDLE_EXECUTABLE, handle.handle);
}

struct executable *executable_find_by_symbol(hsa_executable_symbol_t handle)
{
	return handle_find(&executables, HANDLE_SYMBOL, handle.handle);
}

static struct symbol **kernel_bucket(uint64_t kernel_object)
{
	return &kernels[(kernel_object >> KERNEL_ALIGN_BITS) % KERNEL_BUCKETS];
}

/* Copies the name without ".kd". A name that is longer than kernel->name is cut. */
static void copy_kernel_name(const struct symbol *symbol, struct softgpu_kernel *kernel)
{
	size_t length = strlen(symbol->info.name) - strlen(".kd");

	if (length > sizeof(kernel->name) - 1)
		length = sizeof(kernel->name) - 1;
	memcpy(kernel->name, symbol->info.name, length);
	kernel->name[length] = '\0';
}

bool executable_find_kernel(uint64_t kernel_object, struct softgpu_kernel *ret_kernel)
{
	const struct symbol *symbol;

	executable_lock();
	symbol = *kernel_bucket(kernel_object);
	while (symbol && symbol->info.address != kernel_object)
		symbol = symbol->next_kernel;
	if (symbol) {
		copy_kernel_name(symbol, ret_kernel);
		ret_kernel->kernarg_bytes = symbol->info.kernarg_bytes;
		ret_kernel->group_bytes = symbol->info.group_bytes;
		ret_kernel->private_bytes = symbol->info.private_bytes;
		if (symbol->layout)
			ret_kernel->layout = *symbol->layout;
	}
	executable_unlock();
	return symbol != NULL;
}

/* Under lock. */
static void enter_kernels(const struct loaded_object *loaded)
{
	for (uint32_t i = 0; i < loaded->symbol_count; i++) {
		struct symbol *symbol = &loaded->symbols[i];
		struct symbol **bucket = kernel_bucket(symbol->info.address);

		if (!symbol->info.is_kernel)
			continue;
		symbol->next_kernel = *bucket;
		*bucket = symbol;
	}
}

/* Under lock. */
static void remove_kernels(const struct loaded_object *loaded)
{
	for (uint32_t i = 0; i < loaded->symbol_count; i++) {
		struct symbol *symbol = &loaded->symbols[i];
		struct symbol **link = kernel_bucket(symbol->info.address);

		while (*link && *link != symbol)
			link = &(*link)->next_kernel;
		if (*link)
			*link = symbol->next_kernel;
	}
}

/* Looks up the host functions of all kernels. The thread that loads does it, not the queue's thread
 * (see kernel_resolve). */
static void resolve_kernels(const struct loaded_object *loaded)
{
	struct softgpu_kernel kernel;

	for (uint32_t i = 0; i < loaded->symbol_count; i++) {
		if (loaded->symbols[i].info.is_kernel &&
		    executable_find_kernel(loaded->symbols[i].info.address, &kernel))
			kernel_resolve(kernel.name);
	}
}

static void free_executable(struct executable *executable)
{
	for (uint32_t i = 0; i < executable->loaded_count; i++)
		loaded_object_destroy(executable->loaded[i]);
	free(executable->loaded);
	while (executable->externals) {
		struct external *external = executable->externals;

		executable->externals = external->next;
		free(external->name);
		free(external);
	}
	free(executable);
}

static hsa_status_t create(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
			   bool is_frozen, hsa_executable_t *ret_executable)
{
	struct executable *executable;
	uint64_t handle = 0;
	int err;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ret_executable || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL) ||
	    (uint32_t)rounding > HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	executable = calloc(1, sizeof(*executable));
	if (!executable)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	executable->profile = profile;
	executable->rounding = rounding;
	executable->is_frozen = is_frozen;
	executable_lock();
	err = handle_add(&executables, HANDLE_EXECUTABLE, executable, &handle);
	executable->handle = handle;
	executable_unlock();
	if (err < 0) {
		free(executable);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	ret_executable->handle = handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t
softgpu_hsa_executable_create_alt(hsa_profile_t profile,
				  hsa_default_float_rounding_mode_t default_float_rounding_mode,
				  const char *options, hsa_executable_t *executable)
{
	return create(profile, default_float_rounding_mode, false, executable);
}

hsa_status_t softgpu_hsa_executable_create(hsa_profile_t profile,
					   hsa_executable_state_t executable_state,
					   const char *options, hsa_executable_t *executable)
{
	return create(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
		      executable_state == HSA_EXECUTABLE_STATE_FROZEN, executable);
}

hsa_status_t softgpu_hsa_executable_destroy(hsa_executable_t handle)
{
	struct executable *executable;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	executable_lock();
	executable = handle_remove(&executables, HANDLE_EXECUTABLE, handle.handle);
	for (uint32_t i = 0; executable && i < executable->loaded_count; i++)
		remove_kernels(executable->loaded[i]);
	executable_unlock();
	if (!executable)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	free_executable(executable);
	return HSA_STATUS_SUCCESS;
}

/* The data of resolve_external. */
struct resolver {
	hsa_executable_t executable;
	const struct softgpu_agent *agent;
};

/* A code_object_resolve_fn: finds the variables that the program has defined. */
static bool resolve_external(const char *name, void *data, uint64_t *ret_address)
{
	const struct resolver *resolver = data;
	const struct executable *executable;
	const struct external *external = NULL;

	executable_lock();
	executable = executable_find(resolver->executable);
	if (executable)
		external = executable->externals;
	while (external && (strcmp(external->name, name) != 0 ||
			    (external->agent && external->agent != resolver->agent)))
		external = external->next;
	if (external)
		*ret_address = external->address;
	executable_unlock();
	return external != NULL;
}

static hsa_status_t check_unfrozen(hsa_executable_t handle)
{
	const struct executable *executable;
	hsa_status_t status = HSA_STATUS_SUCCESS;

	executable_lock();
	executable = executable_find(handle);
	if (!executable)
		status = HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	else if (executable->is_frozen)
		status = HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	executable_unlock();
	return status;
}

/* Under lock. */
static hsa_status_t append_loaded(struct executable *executable, struct loaded_object *loaded,
				  hsa_loaded_code_object_t *ret_handle)
{
	struct loaded_object **row;

	if (!executable)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (executable->symbol_count > HANDLE_MAX_INDEX - loaded->symbol_count)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	row = table_add((void **)&executable->loaded, &executable->loaded_count, sizeof(*row));
	if (!row)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*row = loaded;
	loaded->first_symbol = executable->symbol_count;
	executable->symbol_count += loaded->symbol_count;
	if (ret_handle)
		ret_handle->handle = handle_inner(executable->handle, HANDLE_LOADED_OBJECT,
						  executable->loaded_count - 1);
	enter_kernels(loaded);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_executable_load_agent_code_object(
	hsa_executable_t handle, hsa_agent_t agent, hsa_code_object_reader_t code_object_reader,
	const char *options, hsa_loaded_code_object_t *loaded_code_object)
{
	struct softgpu_agent *gpu = agent_find(agent);
	struct resolver variables = {handle, gpu};
	const struct external_resolver resolver = {resolve_external, &variables};
	struct loaded_object *loaded = NULL;
	struct code_object_reader *reader;
	hsa_status_t status = check_unfrozen(handle);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!gpu || !gpu->is_gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	reader = reader_retain(code_object_reader);
	if (!reader)
		return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
	status = loaded_object_create(reader, handle, gpu, &resolver, &loaded);
	reader_release(reader);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	executable_lock();
	status = append_loaded(executable_find(handle), loaded, loaded_code_object);
	executable_unlock();
	if (status == HSA_STATUS_SUCCESS)
		resolve_kernels(loaded);
	else
		loaded_object_destroy(loaded);
	return status;
}

hsa_status_t softgpu_hsa_executable_freeze(hsa_executable_t handle, const char *options)
{
	hsa_status_t status = check_unfrozen(handle);
	struct executable *executable;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (status != HSA_STATUS_SUCCESS)
		return status;
	executable_lock();
	executable = executable_find(handle);
	if (executable)
		executable->is_frozen = true;
	executable_unlock();
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_executable_validate_alt(hsa_executable_t handle, const char *options,
						 uint32_t *result)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!executable_exists(handle))
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = 0;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_executable_validate(hsa_executable_t handle, uint32_t *result)
{
	return softgpu_hsa_executable_validate_alt(handle, NULL, result);
}

hsa_status_t softgpu_hsa_executable_get_info(hsa_executable_t handle,
					     hsa_executable_info_t attribute, void *value)
{
	const struct executable *executable;
	uint32_t number = 0;
	bool known = true;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	executable_lock();
	executable = executable_find(handle);
	if (!executable)
		known = false;
	else if (attribute == HSA_EXECUTABLE_INFO_PROFILE)
		number = executable->profile;
	else if (attribute == HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE)
		number = executable->rounding;
	else
		number = executable->is_frozen ? HSA_EXECUTABLE_STATE_FROZEN
					       : HSA_EXECUTABLE_STATE_UNFROZEN;
	executable_unlock();
	if (!known)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if ((uint32_t)attribute < HSA_EXECUTABLE_INFO_PROFILE ||
	    (uint32_t)attribute > HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(value, &number, sizeof(number));
	return HSA_STATUS_SUCCESS;
}

/* Under lock. Adds EXTERNAL, and owns it then, unless the variable is already defined. */
static hsa_status_t enter_external(struct executable *executable, struct external *external)
{
	if (!executable)
		return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
	if (executable->is_frozen)
		return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
	for (const struct external *e = executable->externals; e; e = e->next) {
		if (e->agent == external->agent && strcmp(e->name, external->name) == 0)
			return HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED;
	}
	external->next = executable->externals;
	executable->externals = external;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t define_external(hsa_executable_t handle, struct softgpu_agent *agent,
				    const char *name, const void *address)
{
	struct external *external;
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!name)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	external = calloc(1, sizeof(*external));
	if (external)
		external->name = strdup(name);
	if (!external || !external->name) {
		free(external);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	external->agent = agent;
	external->address = (uint64_t)(uintptr_t)address;
	executable_lock();
	status = enter_external(executable_find(handle), external);
	executable_unlock();
	if (status != HSA_STATUS_SUCCESS) {
		free(external->name);
		free(external);
	}
	return status;
}

hsa_status_t softgpu_hsa_executable_agent_global_variable_define(hsa_executable_t handle,
								 hsa_agent_t agent,
								 const char *variable_name,
								 void *address)
{
	if (!agent_find(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return define_external(handle, agent_find(agent), variable_name, address);
}

hsa_status_t softgpu_hsa_executable_readonly_variable_define(hsa_executable_t handle,
							     hsa_agent_t agent,
							     const char *variable_name,
							     void *address)
{
	return softgpu_hsa_executable_agent_global_variable_define(handle, agent, variable_name,
								   address);
}

hsa_status_t softgpu_hsa_executable_global_variable_define(hsa_executable_t handle,
							   const char *variable_name, void *address)
{
	return define_external(handle, NULL, variable_name, address);
}

bool executable_exists(hsa_executable_t handle)
{
	bool exists;

	executable_lock();
	exists = executable_find(handle) != NULL;
	executable_unlock();
	return exists;
}

bool executable_get_loaded(hsa_loaded_code_object_t handle, struct executable_loaded *ret_loaded)
{
	const struct executable *executable;
	uint32_t index = handle_index(handle.handle);
	bool known;

	executable_lock();
	executable = handle_find(&executables, HANDLE_LOADED_OBJECT, handle.handle);
	known = executable && index < executable->loaded_count;
	if (known)
		*ret_loaded = executable->loaded[index]->info;
	executable_unlock();
	return known;
}

bool executable_next(uint32_t *cursor, hsa_executable_t *ret_executable)
{
	const struct executable *executable = NULL;

	executable_lock();
	while (!executable && *cursor < executables.count)
		executable = executables.slots[(*cursor)++].item;
	if (executable)
		ret_executable->handle = executable->handle;
	executable_unlock();
	return executable != NULL;
}

bool executable_loaded_at(hsa_executable_t handle, uint32_t index,
			  hsa_loaded_code_object_t *ret_handle)
{
	const struct executable *executable;
	bool known;

	executable_lock();
	executable = executable_find(handle);
	known = executable && index < executable->loaded_count;
	if (known)
		ret_handle->handle = handle_inner(handle.handle, HANDLE_LOADED_OBJECT, index);
	executable_unlock();
	return known;
}
