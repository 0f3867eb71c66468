/* The wrappers of executables: they record the kernels that an executable brings when it is frozen,
 * and forget them when it is destroyed. */
#include "capture/hsa/hsa_kernels.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/hsa/hsa_agents.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"

#define KERNEL_SUFFIX ".kd"

/* Byte offsets in a kernel descriptor (LLVM's AMDGPU usage guide, "Kernel Descriptor"). */
#define DESCRIPTOR_RSRC1      48
#define DESCRIPTOR_PROPERTIES 56

struct object_map hsa_kernel_map;

/* A kernel of a loaded executable. Guarded by kernels_lock. */
struct loaded_kernel {
	struct loaded_kernel *next;
	uint64_t executable;
	uint64_t kernel_object;
	hsa_executable_symbol_t symbol; /* valid as long as the executable exists */
	hsa_agent_t agent;
	uint32_t id;
};

static pthread_mutex_t kernels_lock = PTHREAD_MUTEX_INITIALIZER;
static struct loaded_kernel *loaded_kernels;
static uint32_t last_kernel_id;

struct symbol_visit {
	hsa_executable_t executable;
	hsa_agent_t agent;
};

static uint32_t symbol_u32(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute)
{
	uint32_t value = 0;

	hsa_next.hsa_executable_symbol_get_info(symbol, attribute, &value);
	return value;
}

/* Returns the symbol's name without ".kd", to be freed by the caller; NULL without memory. */
static char *symbol_name(hsa_executable_symbol_t symbol)
{
	uint32_t length = symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH);
	size_t suffix = strlen(KERNEL_SUFFIX);
	char *name = calloc(1, (size_t)length + 1);

	if (!name)
		return NULL;
	hsa_next.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
	length = (uint32_t)strlen(name);
	if (length > suffix && !strcmp(name + length - suffix, KERNEL_SUFFIX))
		name[length - suffix] = 0;
	return name;
}

/* A kernel object is the device address of the kernel's descriptor. Returns the address at which
 * the host can read it in the loaded code object, or NULL. */
static const unsigned char *find_descriptor(uint64_t kernel_object)
{
	hsa_ven_amd_loader_1_00_pfn_t loader = {0};
	const void *host_address = NULL;
	hsa_status_t status = hsa_next.hsa_system_get_major_extension_table(
		HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader), &loader);

	if (status != HSA_STATUS_SUCCESS || !loader.hsa_ven_amd_loader_query_host_address)
		return NULL;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): that is how HSA gives a kernel's address */
	status = loader.hsa_ven_amd_loader_query_host_address((const void *)kernel_object,
							      &host_address);
	return status == HSA_STATUS_SUCCESS ? host_address : NULL;
}

static void read_descriptor(uint64_t kernel_object, struct record_kernel *r)
{
	const unsigned char *descriptor = find_descriptor(kernel_object);
	uint16_t properties;

	if (!descriptor)
		return;
	memcpy(&r->rsrc1, descriptor + DESCRIPTOR_RSRC1, sizeof(r->rsrc1));
	memcpy(&properties, descriptor + DESCRIPTOR_PROPERTIES, sizeof(properties));
	r->properties = properties;
}

static void kernel_record(const struct loaded_kernel *kernel)
{
	hsa_executable_symbol_t symbol = kernel->symbol;
	char *name = symbol_name(symbol);
	size_t length = name ? strlen(name) : 0;
	struct record_kernel r = {
		.ns = session_now_ns(),
		.kernel_object = kernel->kernel_object,
		.agent = kernel->agent.handle,
		.kernarg_bytes =
			symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE),
		.group_bytes =
			symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE),
		.private_bytes =
			symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE),
		.name_bytes = writer_text_bytes(length),
	};

	read_descriptor(kernel->kernel_object, &r);
	writer_put_text(session_writer(), RECORD_KERNEL, kernel->id, &r, sizeof(r),
			name ? name : "", length);
	free(name);
}

void hsa_kernels_record(void)
{
	pthread_mutex_lock(&kernels_lock);
	for (const struct loaded_kernel *kernel = loaded_kernels; kernel; kernel = kernel->next)
		kernel_record(kernel);
	pthread_mutex_unlock(&kernels_lock);
}

static bool kernel_remember(const struct loaded_kernel *kernel)
{
	struct loaded_kernel *copy = malloc(sizeof(*copy));

	if (!copy || !object_map_put(&hsa_kernel_map, kernel->kernel_object, OBJECT_KERNEL, NULL,
				     kernel->id)) {
		free(copy);
		return false;
	}
	*copy = *kernel;
	copy->next = loaded_kernels;
	loaded_kernels = copy;
	return true;
}

/* Called by the runtime for each symbol of an executable, under kernels_lock. */
static hsa_status_t symbol_add(hsa_executable_t executable, hsa_agent_t agent,
			       hsa_executable_symbol_t symbol, void *data)
{
	struct loaded_kernel kernel = {
		.executable = executable.handle, .symbol = symbol, .agent = agent};

	(void)data;
	if (symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) != HSA_SYMBOL_KIND_KERNEL)
		return HSA_STATUS_SUCCESS;
	hsa_next.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
						&kernel.kernel_object);
	if (!kernel.kernel_object)
		return HSA_STATUS_SUCCESS;
	kernel.id = ++last_kernel_id;
	/* The record is written before the kernel can be found, because a dispatch may name the id
	 * from then on. */
	kernel_record(&kernel);
	if (!kernel_remember(&kernel))
		session_note("no memory for a kernel: its dispatches are unnamed");
	return HSA_STATUS_SUCCESS;
}

hsa_status_t wrap_hsa_executable_freeze(hsa_executable_t executable, const char *options)
{
	hsa_status_t status = hsa_next.hsa_executable_freeze(executable, options);
	uint32_t count;
	struct hsa_agent_entry *agents = hsa_agents_get(&count);

	if (status != HSA_STATUS_SUCCESS || !hsa_is_live() || !session_may_record())
		return status;
	pthread_mutex_lock(&kernels_lock);
	for (uint32_t i = 0; i < count; i++)
		hsa_next.hsa_executable_iterate_agent_symbols(executable, agents[i].handle,
							      symbol_add, NULL);
	pthread_mutex_unlock(&kernels_lock);
	return status;
}

static void kernel_forget(const struct loaded_kernel *kernel)
{
	struct object *entry = object_map_find(&hsa_kernel_map, kernel->kernel_object);
	struct record_kernel_gone gone = {.ns = session_now_ns()};

	/* The entry may be another kernel's that has been loaded at the same address. */
	if (entry && atomic_load_explicit(&entry->word, memory_order_relaxed) == kernel->id)
		object_map_remove(entry);
	writer_put(session_writer(), RECORD_KERNEL_GONE, kernel->id, &gone, sizeof(gone));
}

hsa_status_t wrap_hsa_executable_destroy(hsa_executable_t executable)
{
	struct loaded_kernel **link = &loaded_kernels;

	if (!hsa_is_live())
		return hsa_next.hsa_executable_destroy(executable);
	/* Before the runtime destroys the executable: afterwards its addresses may be used
	 * again. */
	pthread_mutex_lock(&kernels_lock);
	while (*link) {
		struct loaded_kernel *kernel = *link;

		if (kernel->executable != executable.handle) {
			link = &kernel->next;
			continue;
		}
		*link = kernel->next;
		kernel_forget(kernel);
		free(kernel);
	}
	pthread_mutex_unlock(&kernels_lock);
	return hsa_next.hsa_executable_destroy(executable);
}
