/* Memory that is allocated apart from its address (hsa_amd_vmem_*, since ROCR 6). A handle stands
 * for a memfd. A reservation is a range of addresses without memory. Mapping maps the file into a
 * reservation. HIP's stream-ordered allocator (hipMallocAsync) takes its memory from here. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/device_memory.h"
#include "softgpu/handle.h"
#include "softgpu/pool.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

struct memory {
	uint64_t handle;
	int file;
	size_t bytes;
	struct softgpu_pool pool;
	hsa_amd_memory_pool_t pool_handle;
	hsa_amd_memory_type_t type;
	uint32_t references; /* holders and mappings: freed at 0 */
	uint32_t holders;    /* users of the handle: at 0 the handle becomes unknown */
};

/* A range of addresses: a reservation, or a mapping. */
struct range {
	uintptr_t begin;
	size_t bytes;
	struct memory *memory;				      /* of a mapping; else NULL */
	hsa_access_permission_t access[SOFTGPU_MAX_GPUS + 1]; /* by the agent's index */
	struct range *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static struct handle_table memories;
static struct range *reservations;
static struct range *mappings;

static void guard_lock(void)
{
	process_guard_lock(&lock);
}

static void lock_ranges(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
}

static bool is_whole_pages(uint64_t bytes)
{
	return bytes % POOL_GRANULE_BYTES == 0;
}

/* Under lock. Returns the link to the range of LIST that contains [ADDRESS, ADDRESS + BYTES). The
 * link holds NULL when there is none. */
static struct range **find_range(struct range **list, const void *address, size_t bytes)
{
	uintptr_t begin = (uintptr_t)address;

	while (*list && !(begin >= (*list)->begin && begin - (*list)->begin < (*list)->bytes &&
			  bytes <= (*list)->bytes - (begin - (*list)->begin)))
		list = &(*list)->next;
	return list;
}

/* Under lock. */
static bool overlaps_a_mapping(uintptr_t begin, size_t bytes)
{
	for (const struct range *range = mappings; range; range = range->next)
		if (begin < range->begin + range->bytes && range->begin < begin + bytes)
			return true;
	return false;
}

static struct range *add_range(struct range **list, void *address, size_t bytes)
{
	struct range *range = calloc(1, sizeof(*range));

	if (!range)
		return NULL;
	range->begin = (uintptr_t)address;
	range->bytes = bytes;
	range->next = *list;
	*list = range;
	return range;
}

/* Makes BYTES at ADDRESS a reserved range without memory. Returns it or MAP_FAILED. */
static void *map_nothing(void *address, size_t bytes, int flags)
{
	return mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags,
		    -1, 0);
}

/* Reserves BYTES with ALIGNMENT, at HINT if that is free and aligned. Maps more than needed if it
 * must, and unmaps the rest. Returns the range or MAP_FAILED. */
static void *reserve_aligned(void *hint, size_t bytes, size_t alignment)
{
	char *begin = map_nothing(hint, bytes, 0);
	char *aligned;

	if (begin == MAP_FAILED || (uintptr_t)begin % alignment == 0)
		return begin;
	munmap(begin, bytes);
	begin = map_nothing(NULL, bytes + alignment, 0);
	if (begin == MAP_FAILED)
		return begin;
	aligned = begin + (alignment - (uintptr_t)begin % alignment) % alignment;
	if (aligned > begin)
		munmap(begin, (size_t)(aligned - begin));
	munmap(aligned + bytes, alignment - (size_t)(aligned - begin));
	return aligned;
}

hsa_status_t softgpu_hsa_amd_vmem_address_reserve_align(void **va, size_t size, uint64_t address,
							uint64_t alignment, uint64_t flags)
{
	struct range *range;
	void *begin;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (alignment == 0)
		alignment = POOL_GRANULE_BYTES;
	if (!va || size == 0 || !is_whole_pages(size) || alignment < POOL_GRANULE_BYTES ||
	    (alignment & (alignment - 1)) || size > SIZE_MAX / 2 || alignment > SIZE_MAX / 2)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	begin = reserve_aligned((void *)(uintptr_t)address, size, alignment);
	if (begin == MAP_FAILED)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	lock_ranges();
	range = add_range(&reservations, begin, size);
	pthread_mutex_unlock(&lock);
	if (!range) {
		munmap(begin, size);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*va = begin;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_vmem_address_reserve(void **va, size_t size, uint64_t address,
						  uint64_t flags)
{
	return softgpu_hsa_amd_vmem_address_reserve_align(va, size, address, 0, flags);
}

hsa_status_t softgpu_hsa_amd_vmem_address_free(void *va, size_t size)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;
	struct range **link;
	struct range *range;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	lock_ranges();
	link = find_range(&reservations, va, size);
	range = *link;
	if (!range || range->begin != (uintptr_t)va)
		status = (hsa_status_t)HSA_STATUS_ERROR_INVALID_ALLOCATION;
	else if (range->bytes != size)
		status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	else if (overlaps_a_mapping(range->begin, size))
		status = HSA_STATUS_ERROR_RESOURCE_FREE;
	else
		*link = range->next;
	pthread_mutex_unlock(&lock);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	munmap(va, size);
	free(range);
	return HSA_STATUS_SUCCESS;
}

static void memory_free(struct memory *memory)
{
	close(memory->file);
	memory_discharge(&memory->pool, memory->bytes);
	free(memory);
}

/* Creates a handle for FILE, with the other properties of LIKE. Takes FILE, also on failure. */
static hsa_status_t make_memory(const struct memory *like, int file, uint64_t *ret_handle)
{
	struct memory *memory = malloc(sizeof(*memory));
	int err;

	if (!memory || !memory_charge(&like->pool, like->bytes)) {
		free(memory);
		close(file);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*memory = *like;
	memory->file = file;
	memory->references = 1;
	memory->holders = 1;
	lock_ranges();
	err = handle_add(&memories, HANDLE_MEMORY, memory, &memory->handle);
	*ret_handle = memory->handle;
	pthread_mutex_unlock(&lock);
	if (!err)
		return HSA_STATUS_SUCCESS;
	memory_free(memory);
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t softgpu_hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size,
						hsa_amd_memory_type_t type, uint64_t flags,
						hsa_amd_vmem_alloc_handle_t *memory_handle)
{
	struct memory memory = {.bytes = size, .pool_handle = pool, .type = type};
	int file;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!memory_handle || size == 0 || !is_whole_pages(size))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(pool.handle, &memory.pool))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!memory.pool.allocatable || size > memory.pool.bytes)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	file = memfd_create("softgpu-memory", MFD_CLOEXEC);
	if (file < 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (ftruncate(file, (off_t)size) < 0) {
		close(file);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	return make_memory(&memory, file, &memory_handle->handle);
}

/* Under lock. Releases a reference. */
static void drop(struct memory *memory)
{
	if (--memory->references == 0)
		memory_free(memory);
}

hsa_status_t softgpu_hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle)
{
	struct memory *memory;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	lock_ranges();
	memory = handle_find(&memories, HANDLE_MEMORY, memory_handle.handle);
	if (memory) {
		if (--memory->holders == 0)
			handle_remove(&memories, HANDLE_MEMORY, memory->handle);
		drop(memory);
	}
	pthread_mutex_unlock(&lock);
	return memory ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* Under lock. The caller has checked the arguments. */
static hsa_status_t map_memory(struct memory *memory, void *address)
{
	struct range *range = add_range(&mappings, address, memory->bytes);

	if (!range)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (mmap(address, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 memory->file, 0) != MAP_FAILED &&
	    memory_enter_mapping(address, memory->bytes, &memory->pool)) {
		range->memory = memory;
		memory->references++;
		return HSA_STATUS_SUCCESS;
	}
	map_nothing(address, memory->bytes, MAP_FIXED);
	mappings = range->next;
	free(range);
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t softgpu_hsa_amd_vmem_map(void *va, size_t size, size_t in_offset,
				      hsa_amd_vmem_alloc_handle_t memory_handle, uint64_t flags)
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	struct memory *memory;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	lock_ranges();
	memory = handle_find(&memories, HANDLE_MEMORY, memory_handle.handle);
	if (memory && size == memory->bytes && in_offset == 0 && is_whole_pages((uintptr_t)va) &&
	    *find_range(&reservations, va, size) && !overlaps_a_mapping((uintptr_t)va, size))
		status = map_memory(memory, va);
	pthread_mutex_unlock(&lock);
	return status;
}

hsa_status_t softgpu_hsa_amd_vmem_unmap(void *va, size_t size)
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	struct range **link;
	struct range *range;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	lock_ranges();
	link = find_range(&mappings, va, 1);
	range = *link;
	if (range && range->begin == (uintptr_t)va)
		status = range->bytes == size ? HSA_STATUS_SUCCESS
					      : HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (status == HSA_STATUS_SUCCESS) {
		*link = range->next;
		memory_leave_mapping(va);
		map_nothing(va, size, MAP_FIXED);
		drop(range->memory);
		free(range);
	}
	pthread_mutex_unlock(&lock);
	return status;
}

/* Under lock. */
static hsa_status_t set_access(struct range *range, const hsa_amd_memory_access_desc_t *desc,
			       size_t count)
{
	struct agent_set access = {0};

	for (size_t i = 0; i < count; i++)
		if (!agent_find(desc[i].agent_handle))
			return HSA_STATUS_ERROR_INVALID_AGENT;
	for (size_t i = 0; i < count; i++)
		range->access[agent_find(desc[i].agent_handle)->index] = desc[i].permissions;
	for (uint32_t i = 0; i < agent_count(); i++) {
		if (range->access[i] != HSA_ACCESS_PERMISSION_NONE)
			agent_set_add(&access, i);
	}
	memory_set_access((void *)range->begin, &access);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_vmem_set_access(void *va, size_t size,
					     const hsa_amd_memory_access_desc_t *desc,
					     size_t desc_cnt)
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
	struct range *range;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!desc || desc_cnt == 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_ranges();
	range = *find_range(&mappings, va, 1);
	if (range && range->begin == (uintptr_t)va)
		status = range->bytes == size ? set_access(range, desc, desc_cnt)
					      : HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_unlock(&lock);
	return status;
}

hsa_status_t softgpu_hsa_amd_vmem_get_access(void *va, hsa_access_permission_t *perms,
					     hsa_agent_t agent_handle)
{
	const struct softgpu_agent *agent = agent_find(agent_handle);
	const struct range *range;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!perms)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_ranges();
	range = *find_range(&mappings, va, 1);
	if (range)
		*perms = range->access[agent->index];
	pthread_mutex_unlock(&lock);
	return range ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

/* Exports a copy of the descriptor. The file keeps its pages as long as a process has it open. */
hsa_status_t softgpu_hsa_amd_vmem_export_shareable_handle(int *dmabuf_fd,
							  hsa_amd_vmem_alloc_handle_t handle,
							  uint64_t flags)
{
	const struct memory *memory;
	int file = -1;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!dmabuf_fd)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_ranges();
	memory = handle_find(&memories, HANDLE_MEMORY, handle.handle);
	if (memory)
		file = dup(memory->file);
	pthread_mutex_unlock(&lock);
	if (!memory)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	if (file < 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*dmabuf_fd = file;
	return HSA_STATUS_SUCCESS;
}

/* Creates another handle for the same pages. The file does not say which GPU they belong to, so
 * they count as memory of the first GPU. */
hsa_status_t softgpu_hsa_amd_vmem_import_shareable_handle(int dmabuf_fd,
							  hsa_amd_vmem_alloc_handle_t *handle)
{
	struct memory memory = {.pool = pool_local(agent_at(1))};
	struct stat status;
	int file;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (fstat(dmabuf_fd, &status) < 0 || status.st_size <= 0 ||
	    !is_whole_pages((uint64_t)status.st_size))
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	file = dup(dmabuf_fd);
	if (file < 0)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	memory.bytes = (size_t)status.st_size;
	memory.pool_handle.handle = pool_local_handle(memory.pool.agent);
	return make_memory(&memory, file, &handle->handle);
}

hsa_status_t softgpu_hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t *memory_handle,
						      void *addr)
{
	const struct range *range;
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!memory_handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_ranges();
	range = *find_range(&mappings, addr, 1);
	/* Mapped memory whose handle is unknown, because all holders released it, gets a new
	 * one. */
	if (range && !range->memory->holders &&
	    handle_add(&memories, HANDLE_MEMORY, range->memory, &range->memory->handle) < 0)
		range = NULL;
	if (range) {
		range->memory->holders++;
		range->memory->references++;
		memory_handle->handle = range->memory->handle;
		status = HSA_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

hsa_status_t
softgpu_hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t memory_handle,
						      hsa_amd_memory_pool_t *pool,
						      hsa_amd_memory_type_t *type)
{
	const struct memory *memory;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!pool || !type)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_ranges();
	memory = handle_find(&memories, HANDLE_MEMORY, memory_handle.handle);
	if (memory) {
		*pool = memory->pool_handle;
		*type = memory->type;
	}
	pthread_mutex_unlock(&lock);
	return memory ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
