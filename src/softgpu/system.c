/* The runtime as a whole: hsa_init and hsa_shut_down, information on the system, and the
 * extensions. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/counted_queue.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/fault.h"
#include "softgpu/handler.h"
#include "softgpu/loader_ext.h"
#include "softgpu/queue.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/softgpu_tools.h"
#include "softgpu/system_state.h"
#include "softgpu/work_log.h"

#define EXTENSION_BITMAP_BYTES 128

static struct {
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	pthread_once_t once;
	uint32_t references; /* hsa_init without hsa_shut_down */
	bool is_loading;     /* a thread, LOADER, is loading the tools */
	pthread_t loader;
} runtime = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.loaded = PTHREAD_COND_INITIALIZER,
	.once = PTHREAD_ONCE_INIT,
};

static void runtime_init(void)
{
	process_guard_lock(&runtime.lock);
}

/* With the lock held, which is released while the tools are loaded: they may call hsa_init. A call
 * of hsa_init by another thread waits until all are loaded. */
static void load_tools_unlocked(void)
{
	runtime.is_loading = true;
	runtime.loader = pthread_self();
	pthread_mutex_unlock(&runtime.lock);
	tools_load();
	pthread_mutex_lock(&runtime.lock);
	runtime.is_loading = false;
	pthread_cond_broadcast(&runtime.loaded);
}

/* hsa.h declares these two without prototypes. */
hsa_status_t softgpu_hsa_init(void);
hsa_status_t softgpu_hsa_shut_down(void);

hsa_status_t softgpu_hsa_init(void)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (config_error())
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (process_is_forked_child())
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	pthread_once(&runtime.once, runtime_init);
	pthread_mutex_lock(&runtime.lock);
	while (runtime.is_loading && !pthread_equal(runtime.loader, pthread_self()))
		pthread_cond_wait(&runtime.loaded, &runtime.lock);
	if (runtime.references == UINT32_MAX) {
		status = HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
	} else if (runtime.references == 0 && work_log_open()) {
		status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	} else if (runtime.references++ == 0) {
		system_set_up(true);
		load_tools_unlocked();
	}
	pthread_mutex_unlock(&runtime.lock);
	return status;
}

hsa_status_t softgpu_hsa_shut_down(void)
{
	bool is_last;

	pthread_mutex_lock(&runtime.lock);
	if (!runtime.references) {
		pthread_mutex_unlock(&runtime.lock);
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	}
	is_last = runtime.references == 1;
	if (!is_last)
		runtime.references--;
	pthread_mutex_unlock(&runtime.lock);
	if (!is_last)
		return HSA_STATUS_SUCCESS;
	/* The runtime is still up, because tools destroy here what they have created. The order is
	 * that of ROCr's Runtime::Unload. */
	tools_unload();
	queue_destroy_all();
	counted_forget();
	fault_handlers_forget();
	handler_shut_down();
	tools_close();
	pthread_mutex_lock(&runtime.lock);
	runtime.references--;
	system_set_up(runtime.references != 0);
	pthread_mutex_unlock(&runtime.lock);
	return HSA_STATUS_SUCCESS;
}

static void set_extension_bit(uint8_t *bitmap, unsigned int extension)
{
	bitmap[extension / 8] |= (uint8_t)(1u << extension % 8);
}

hsa_status_t softgpu_hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch ((unsigned int)attribute) {
	case HSA_SYSTEM_INFO_VERSION_MAJOR:
	case HSA_SYSTEM_INFO_VERSION_MINOR:
		*(uint16_t *)value = 1;
		break;
	case HSA_SYSTEM_INFO_TIMESTAMP:
		softgpu_count(timestamps_read, 1);
		*(uint64_t *)value = clock_host_ns();
		break;
	case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
		*(uint64_t *)value = CLOCK_HOST_HZ;
		break;
	case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
		*(uint64_t *)value = UINT64_MAX;
		break;
	case HSA_SYSTEM_INFO_ENDIANNESS:
		*(hsa_endianness_t *)value = HSA_ENDIANNESS_LITTLE;
		break;
	case HSA_SYSTEM_INFO_MACHINE_MODEL:
		*(hsa_machine_model_t *)value = HSA_MACHINE_MODEL_LARGE;
		break;
	case HSA_SYSTEM_INFO_EXTENSIONS:
		memset(value, 0, EXTENSION_BITMAP_BYTES);
		set_extension_bit(value, HSA_EXTENSION_AMD_PROFILER);
		set_extension_bit(value, HSA_EXTENSION_AMD_LOADER);
		break;
	case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
		*(const char **)value = "softgpu " DAGTAP_VERSION;
		break;
	case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
	case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
	case HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED:
		*(bool *)value = false;
		break;
	case HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED:
		*(bool *)value = true;
		break;
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	return HSA_STATUS_SUCCESS;
}

static bool extension_is_known(uint16_t extension)
{
	return extension <= HSA_EXTENSION_STD_LAST || (extension >= HSA_EXTENSION_AMD_PROFILER &&
						       extension <= HSA_EXTENSION_AMD_AQLPROFILE);
}

/* Returns the highest supported minor version of EXTENSION with MAJOR, or -1. */
static int extension_minor(uint16_t extension, uint16_t major)
{
	if (extension == HSA_EXTENSION_AMD_LOADER && major == LOADER_EXT_MAJOR)
		return LOADER_EXT_MINOR;
	return extension == HSA_EXTENSION_AMD_PROFILER && major == 1 ? 0 : -1;
}

hsa_status_t softgpu_hsa_system_major_extension_supported(uint16_t extension,
							  uint16_t version_major,
							  uint16_t *version_minor, bool *result)
{
	int minor = extension_minor(extension, version_major);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!extension_is_known(extension) || !version_minor || !result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = minor >= 0;
	if (*result)
		*version_minor = (uint16_t)minor;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_system_extension_supported(uint16_t extension, uint16_t version_major,
						    uint16_t version_minor, bool *result)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!extension_is_known(extension) || !result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = extension_minor(extension, version_major) >= (int)version_minor;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent,
							 uint16_t version_major,
							 uint16_t *version_minor, bool *result)
{
	if (!agent_find(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return softgpu_hsa_system_major_extension_supported(extension, version_major, version_minor,
							    result);
}

hsa_status_t softgpu_hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent,
						   uint16_t version_major, uint16_t version_minor,
						   bool *result)
{
	if (!agent_find(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return softgpu_hsa_system_extension_supported(extension, version_major, version_minor,
						      result);
}

hsa_status_t softgpu_hsa_system_get_major_extension_table(uint16_t extension,
							  uint16_t version_major,
							  size_t table_length, void *table)
{
	size_t bytes = sizeof(*loader_ext_table());

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!table || extension != HSA_EXTENSION_AMD_LOADER || version_major != LOADER_EXT_MAJOR)
		return HSA_STATUS_ERROR;
	memcpy(table, loader_ext_table(), table_length < bytes ? table_length : bytes);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_system_get_extension_table(uint16_t extension, uint16_t version_major,
						    uint16_t version_minor, void *table)
{
	static const size_t bytes[] = {
		sizeof(hsa_ven_amd_loader_1_00_pfn_t),
		sizeof(hsa_ven_amd_loader_1_01_pfn_t),
		sizeof(hsa_ven_amd_loader_1_02_pfn_t),
		sizeof(hsa_ven_amd_loader_1_03_pfn_t),
	};

	if (version_minor > LOADER_EXT_MINOR)
		return HSA_STATUS_ERROR;
	return softgpu_hsa_system_get_major_extension_table(extension, version_major,
							    bytes[version_minor], table);
}

hsa_status_t softgpu_hsa_extension_get_name(uint16_t extension, const char **name)
{
	static const char *const standard[] = {
		"HSA_EXTENSION_FINALIZER",
		"HSA_EXTENSION_IMAGES",
		"HSA_EXTENSION_PERFORMANCE_COUNTERS",
		"HSA_EXTENSION_PROFILING_EVENTS",
	};
	static const char *const amd[] = {
		"HSA_EXTENSION_AMD_PROFILER",
		"HSA_EXTENSION_AMD_LOADER",
		"HSA_EXTENSION_AMD_AQLPROFILE",
	};

	if (!name || !extension_is_known(extension))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*name = extension <= HSA_EXTENSION_STD_LAST ? standard[extension]
						    : amd[extension - HSA_EXTENSION_AMD_PROFILER];
	return HSA_STATUS_SUCCESS;
}

/* Does nothing: the software GPU logs nothing. */
hsa_status_t softgpu_hsa_amd_enable_logging(uint8_t *flags, void *file)
{
	return system_is_up() ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

/* As in ROCr, all registered handlers are called for each event. */
hsa_status_t softgpu_hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback,
							   void *data)
{
	return fault_handler_add(callback, data);
}
