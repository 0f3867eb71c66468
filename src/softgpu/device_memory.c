/* The registry of memory blocks by device address, and the HSA functions that allocate, free, lock,
 * describe, copy and fill memory. */
#include "softgpu/device_memory.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/pool.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

/* The flags of hsa_amd_memory_pool_flag_t (since ROCR 6): over PCIe, contiguous, executable,
 * uncached. All memory of the software GPU has these properties. */
#define POOL_FLAGS 0xfu

/* A deallocation callback. */
struct notifier {
	hsa_amd_deallocation_callback_t callback;
	void *user_data;
	struct notifier *next;
};

/* A range of device addresses: a pool allocation or a mapping of vmem.c, where the device address
 * is the host address, or a locked range, where it is an alias. Ranges are whole pages and do not
 * overlap. */
struct memory_block {
	uintptr_t begin; /* device address */
	size_t bytes;
	uintptr_t host_begin;
	bool is_locked;
	bool is_mapping;       /* of vmem.c, which owns the memory */
	size_t lock_lead;      /* offset in the first page of the memory that the program locked */
	size_t lock_bytes;     /* size of that memory */
	uint32_t lock_count;   /* locks of exactly that memory, which share this block */
	uint32_t global_flags; /* hsa_amd_memory_pool_global_flag_t, for pointer information */
	struct softgpu_agent *owner;
	struct agent_set access;    /* the agents that were given access */
	void *user_data;	    /* the program's */
	struct notifier *notifiers; /* owned */
	struct memory_block *next_locked;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static void *blocks;			   /* tsearch tree by device address, under lock */
static struct memory_block *locked_blocks; /* under lock */
/* The bounds of all aliases that ever existed, so that an address outside of them is known not to
 * be an alias without the lock. There are none while begin > end. */
static _Atomic uintptr_t alias_begin = UINTPTR_MAX;
static _Atomic uintptr_t alias_end;

static void guard_lock(void)
{
	process_guard_lock(&lock);
}

static void lock_blocks(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
}

/* Ranges that overlap compare as equal, so a range of one byte finds the block that contains it. */
static int compare_blocks(const void *a, const void *b)
{
	const struct memory_block *left = a;
	const struct memory_block *right = b;

	if (left->begin + left->bytes <= right->begin)
		return -1;
	return left->begin >= right->begin + right->bytes ? 1 : 0;
}

/* Under lock. */
static struct memory_block *find_block(const void *address)
{
	const struct memory_block key = {.begin = (uintptr_t)address, .bytes = 1};
	struct memory_block **node = tfind(&key, &blocks, compare_blocks);

	return node ? *node : NULL;
}

/* Under lock. Returns the locked block that contains a host address. This needs a scan, because the
 * host addresses of locked ranges may overlap. */
static struct memory_block *find_locked_host(const void *address)
{
	uintptr_t host = (uintptr_t)address;

	for (struct memory_block *block = locked_blocks; block; block = block->next_locked) {
		if (host >= block->host_begin && host - block->host_begin < block->bytes)
			return block;
	}
	return NULL;
}

static bool in_alias_bounds(uintptr_t address)
{
	return address >= atomic_load_explicit(&alias_begin, memory_order_acquire) &&
	       address < atomic_load_explicit(&alias_end, memory_order_acquire);
}

void *memory_translate(const void *device_address)
{
	uintptr_t address = (uintptr_t)device_address;
	const struct memory_block *block;

	if (!in_alias_bounds(address))
		return (void *)address;
	lock_blocks();
	block = find_block(device_address);
	if (block)
		address = block->host_begin + (address - block->begin);
	pthread_mutex_unlock(&lock);
	return (void *)address;
}

void memory_translate_words(void *words, size_t bytes)
{
	char *at = words;

	for (size_t i = 0; i + sizeof(void *) <= bytes; i += sizeof(void *)) {
		void *word;

		memcpy(&word, at + i, sizeof(word));
		if (!in_alias_bounds((uintptr_t)word))
			continue;
		word = memory_translate(word);
		memcpy(at + i, &word, sizeof(word));
	}
}

bool memory_is_pool_address(const void *address)
{
	const struct memory_block *block;
	bool found;

	lock_blocks();
	block = find_block(address);
	found = block && !block->is_locked;
	pthread_mutex_unlock(&lock);
	return found;
}

bool memory_range_fits(const void *address, size_t bytes)
{
	const struct memory_block *block;
	bool fits = true;

	lock_blocks();
	block = find_block(address);
	if (block)
		fits = bytes <= block->bytes - ((uintptr_t)address - block->begin);
	pthread_mutex_unlock(&lock);
	return fits;
}

bool memory_is_reachable(const void *host_address, uint64_t bytes)
{
	const uintptr_t host = (uintptr_t)host_address;
	const struct memory_block *block;
	bool reachable;

	if (bytes == 0)
		return true;
	lock_blocks();
	block = find_block(host_address);
	reachable = block && !block->is_locked && bytes <= block->bytes - (host - block->begin);
	/* The host addresses of locked ranges may overlap: look for one that is long enough. */
	for (block = locked_blocks; block && !reachable; block = block->next_locked)
		reachable = host >= block->host_begin && host - block->host_begin < block->bytes &&
			    bytes <= block->bytes - (host - block->host_begin);
	pthread_mutex_unlock(&lock);
	return reachable;
}

static size_t round_up(size_t bytes)
{
	return (bytes + POOL_GRANULE_BYTES - 1) & ~(size_t)(POOL_GRANULE_BYTES - 1);
}

static void discharge(struct softgpu_agent *agent, size_t bytes)
{
	__atomic_sub_fetch(&agent->live_bytes, bytes, __ATOMIC_RELAXED);
}

/* A GPU has as much memory as is configured, however much the host has. The CPU has no limit
 * here. */
bool memory_charge(const struct softgpu_pool *pool, size_t bytes)
{
	struct softgpu_agent *agent = pool->agent;
	uint64_t live = __atomic_add_fetch(&agent->live_bytes, bytes, __ATOMIC_RELAXED);

	if (!agent->is_gpu || live <= pool->bytes)
		return true;
	discharge(agent, bytes);
	return false;
}

void memory_discharge(const struct softgpu_pool *pool, size_t bytes)
{
	discharge(pool->agent, bytes);
}

static bool enter_block(struct memory_block *block)
{
	bool entered;

	lock_blocks();
	entered = tsearch(block, &blocks, compare_blocks) != NULL;
	pthread_mutex_unlock(&lock);
	return entered;
}

/* Maps memory for BLOCK, of which bytes is set to whole pages, and enters it into the tree.
 * PROTECTION is PROT_NONE for an alias. */
static bool map_block(struct memory_block *block, int protection)
{
	void *address = mmap(NULL, block->bytes, protection,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (address == MAP_FAILED)
		return false;
	block->begin = (uintptr_t)address;
	if (!block->is_locked)
		block->host_begin = block->begin;
	if (enter_block(block))
		return true;
	munmap(address, block->bytes);
	return false;
}

bool memory_enter_mapping(void *address, size_t bytes, const struct softgpu_pool *pool)
{
	struct memory_block *block = calloc(1, sizeof(*block));

	if (!block)
		return false;
	block->begin = (uintptr_t)address;
	block->host_begin = block->begin;
	block->bytes = bytes;
	block->is_mapping = true;
	block->global_flags = pool->global_flags;
	block->owner = pool->agent;
	if (enter_block(block))
		return true;
	free(block);
	return false;
}

void memory_leave_mapping(void *address)
{
	struct memory_block *block;

	lock_blocks();
	block = find_block(address);
	if (block)
		tdelete(block, &blocks, compare_blocks);
	pthread_mutex_unlock(&lock);
	free(block);
}

void memory_set_access(void *address, const struct agent_set *access)
{
	struct memory_block *block;

	lock_blocks();
	block = find_block(address);
	if (block)
		block->access = *access;
	pthread_mutex_unlock(&lock);
}

static hsa_status_t allocate(const struct softgpu_pool *pool, size_t bytes, void **ret_address)
{
	struct memory_block *block;

	if (!pool->allocatable || bytes > pool->bytes)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	block = calloc(1, sizeof(*block));
	if (!block)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	block->bytes = round_up(bytes);
	block->global_flags = pool->global_flags;
	block->owner = pool->agent;
	agent_set_add(&block->access, pool->agent->index);
	if (!memory_charge(pool, block->bytes)) {
		free(block);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	if (!map_block(block, PROT_READ | PROT_WRITE)) {
		discharge(pool->agent, block->bytes);
		free(block);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*ret_address = (void *)block->begin;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t memory_allocate_local(struct softgpu_agent *agent, size_t bytes, void **ret_address)
{
	const struct softgpu_pool pool = pool_local(agent);
	hsa_status_t status = allocate(&pool, bytes, ret_address);

	return status == HSA_STATUS_ERROR_INVALID_ALLOCATION ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
							     : status;
}

hsa_status_t softgpu_hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size,
						  uint32_t flags, void **ptr)
{
	struct softgpu_pool pool;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || size == 0 || flags & ~POOL_FLAGS)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(handle.handle, &pool))
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	return allocate(&pool, size, ptr);
}

hsa_status_t softgpu_hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr)
{
	struct softgpu_pool pool;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || size == 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(region.handle, &pool))
		return HSA_STATUS_ERROR_INVALID_REGION;
	return allocate(&pool, size, ptr);
}

/* Removes the pool allocation that begins at ADDRESS from the tree and returns it; NULL when there
 * is none. */
static struct memory_block *take_block(const void *address)
{
	struct memory_block *block;

	lock_blocks();
	block = find_block(address);
	if (block && (block->is_locked || block->is_mapping || block->begin != (uintptr_t)address))
		block = NULL;
	if (block)
		tdelete(block, &blocks, compare_blocks);
	pthread_mutex_unlock(&lock);
	return block;
}

hsa_status_t softgpu_hsa_amd_memory_pool_free(void *ptr)
{
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr)
		return HSA_STATUS_SUCCESS;
	block = take_block(ptr);
	if (!block)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	while (block->notifiers) {
		struct notifier *notifier = block->notifiers;

		block->notifiers = notifier->next;
		notifier->callback(ptr, notifier->user_data);
		free(notifier);
	}
	munmap(ptr, block->bytes);
	discharge(block->owner, block->bytes);
	free(block);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_memory_free(void *ptr)
{
	return softgpu_hsa_amd_memory_pool_free(ptr);
}

/* Gives the set of the COUNT AGENTS, or of all agents when COUNT is 0. Returns false when a handle
 * is unknown. */
static bool make_access(const hsa_agent_t *agents, uint32_t count, struct agent_set *ret_access)
{
	struct agent_set access = {0};

	for (uint32_t i = 0; count == 0 && i < agent_count(); i++)
		agent_set_add(&access, i);
	for (uint32_t i = 0; i < count; i++) {
		const struct softgpu_agent *agent = agent_find(agents[i]);

		if (!agent)
			return false;
		agent_set_add(&access, agent->index);
	}
	*ret_access = access;
	return true;
}

static void widen_alias_bounds(uintptr_t begin, uintptr_t end)
{
	uintptr_t seen = atomic_load(&alias_begin);

	while (begin < seen && !atomic_compare_exchange_weak(&alias_begin, &seen, begin))
		;
	seen = atomic_load(&alias_end);
	while (end > seen && !atomic_compare_exchange_weak(&alias_end, &seen, end))
		;
}

/* Locks memory that is already locked with the same begin and size; returns false when there is
 * none. All locks of it get the same address, as with the driver: HIP locks a registered range once
 * for each GPU and uses any of the addresses on any GPU. */
static bool relock_range(const void *host_ptr, size_t size, const struct agent_set *access,
			 void **ret_alias)
{
	struct memory_block *block;

	lock_blocks();
	for (block = locked_blocks; block; block = block->next_locked)
		if (block->host_begin + block->lock_lead == (uintptr_t)host_ptr &&
		    block->lock_bytes == size)
			break;
	if (block) {
		block->lock_count++;
		for (size_t i = 0; i < sizeof(access->words) / sizeof(access->words[0]); i++)
			block->access.words[i] |= access->words[i];
		*ret_alias = (void *)(block->begin + block->lock_lead);
	}
	pthread_mutex_unlock(&lock);
	return block != NULL;
}

static hsa_status_t lock_range(void *host_ptr, size_t size, const struct agent_set *access,
			       uint32_t global_flags, void **ret_alias)
{
	size_t lead = (uintptr_t)host_ptr % POOL_GRANULE_BYTES;
	struct memory_block *block;

	if (relock_range(host_ptr, size, access, ret_alias))
		return HSA_STATUS_SUCCESS;
	block = calloc(1, sizeof(*block));
	if (!block)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	block->bytes = round_up(lead + size);
	block->host_begin = (uintptr_t)host_ptr - lead;
	block->is_locked = true;
	block->lock_lead = lead;
	block->lock_bytes = size;
	block->lock_count = 1;
	block->global_flags = global_flags;
	block->owner = agent_at(0);
	block->access = *access;
	if (!map_block(block, PROT_NONE)) {
		free(block);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	widen_alias_bounds(block->begin, block->begin + block->bytes);
	lock_blocks();
	block->next_locked = locked_blocks;
	locked_blocks = block;
	pthread_mutex_unlock(&lock);
	*ret_alias = (void *)(block->begin + lead);
	return HSA_STATUS_SUCCESS;
}

static bool lock_arguments_ok(const void *host_ptr, size_t size, const hsa_agent_t *agents,
			      int num_agent, void *const *agent_ptr)
{
	return host_ptr && agent_ptr && size > 0 && num_agent >= 0 &&
	       (agents != NULL) == (num_agent > 0) &&
	       size <= UINTPTR_MAX / 2 - (uintptr_t)host_ptr % POOL_GRANULE_BYTES;
}

hsa_status_t softgpu_hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_agent_t *agents,
					 int num_agent, void **agent_ptr)
{
	struct agent_set access;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!lock_arguments_ok(host_ptr, size, agents, num_agent, agent_ptr))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!make_access(agents, (uint32_t)num_agent, &access))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return lock_range(host_ptr, size, &access, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
			  agent_ptr);
}

hsa_status_t softgpu_hsa_amd_memory_lock_to_pool(void *host_ptr, size_t size, hsa_agent_t *agents,
						 int num_agent, hsa_amd_memory_pool_t handle,
						 uint32_t flags, void **agent_ptr)
{
	struct softgpu_pool pool;
	struct agent_set access;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (flags != 0 || !lock_arguments_ok(host_ptr, size, agents, num_agent, agent_ptr))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(handle.handle, &pool) || pool.agent->is_gpu)
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	if (!make_access(agents, (uint32_t)num_agent, &access))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return lock_range(host_ptr, size, &access, pool.global_flags, agent_ptr);
}

/* Removes a lock of the most recent block that begins at HOST_PTR. If it was the last lock, takes
 * the block out of the tree and returns it; otherwise returns NULL. */
static struct memory_block *take_locked(const void *host_ptr)
{
	struct memory_block **link = &locked_blocks;
	struct memory_block *block;

	lock_blocks();
	while (*link && (*link)->host_begin + (*link)->lock_lead != (uintptr_t)host_ptr)
		link = &(*link)->next_locked;
	block = *link;
	if (block && --block->lock_count > 0)
		block = NULL;
	if (block) {
		*link = block->next_locked;
		tdelete(block, &blocks, compare_blocks);
	}
	pthread_mutex_unlock(&lock);
	return block;
}

hsa_status_t softgpu_hsa_amd_memory_unlock(void *host_ptr)
{
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!host_ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	block = take_locked(host_ptr);
	/* The memory has other locks or was never locked: ROCr returns success. */
	if (!block)
		return HSA_STATUS_SUCCESS;
	munmap((void *)block->begin, block->bytes);
	free(block);
	return HSA_STATUS_SUCCESS;
}

static bool access_allowed(const struct memory_block *block, const struct agent_set *access)
{
	const struct softgpu_pool pool = pool_local(block->owner);

	for (uint32_t i = 0; i < agent_count(); i++) {
		if (agent_set_has(access, i) &&
		    pool_access(&pool, agent_at(i)) == HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED)
			return false;
	}
	return true;
}

hsa_status_t softgpu_hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t *agents,
						 const uint32_t *flags, const void *ptr)
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	struct memory_block *block;
	struct agent_set access;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (num_agents == 0 || !agents || flags || !ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!make_access(agents, num_agents, &access))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	lock_blocks();
	block = find_block(ptr);
	if (block && !block->is_locked && access_allowed(block, &access)) {
		block->access = access;
		agent_set_add(&block->access, block->owner->index);
		status = HSA_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

static void fill_info(const struct memory_block *block, hsa_amd_pointer_info_t *info)
{
	info->type = block->is_locked ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA;
	if (block->is_mapping)
		info->type = (hsa_amd_pointer_type_t)HSA_EXT_POINTER_TYPE_HSA_VMEM;
	info->agentBaseAddress = (void *)(block->begin + block->lock_lead);
	info->hostBaseAddress = (void *)(block->host_begin + block->lock_lead);
	info->sizeInBytes = block->is_locked ? block->lock_bytes : block->bytes;
	info->userData = block->user_data;
	info->agentOwner = agent_handle(block->owner);
	info->global_flags = block->global_flags;
}

/* Copies what is known about an address. Returns false for an unknown address. */
static bool describe(const void *ptr, hsa_amd_pointer_info_t *ret_info,
		     struct agent_set *ret_access)
{
	const struct memory_block *block;
	bool known;

	lock_blocks();
	block = find_block(ptr);
	if (!block)
		block = find_locked_host(ptr);
	known = block != NULL;
	if (known) {
		fill_info(block, ret_info);
		*ret_access = block->access;
	}
	pthread_mutex_unlock(&lock);
	return known;
}

static hsa_status_t list_accessible(const struct agent_set *access, void *(*alloc)(size_t),
				    uint32_t *ret_count, hsa_agent_t **ret_agents)
{
	uint32_t count = 0;
	hsa_agent_t *list;

	for (uint32_t i = 0; i < agent_count(); i++)
		count += agent_set_has(access, i);
	*ret_count = count;
	if (!alloc || !ret_agents)
		return HSA_STATUS_SUCCESS;
	list = alloc((count ? count : 1) * sizeof(*list));
	if (!list)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*ret_agents = list;
	for (uint32_t i = 0; i < agent_count(); i++) {
		if (agent_set_has(access, i))
			*list++ = agent_handle(agent_at(i));
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_pointer_info(const void *ptr, hsa_amd_pointer_info_t *info,
					  void *(*alloc)(size_t), uint32_t *num_agents_accessible,
					  hsa_agent_t **accessible)
{
	hsa_amd_pointer_info_t found = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
	struct agent_set access = {0};

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || !info || info->size < offsetof(hsa_amd_pointer_info_t, agentBaseAddress))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	describe(ptr, &found, &access);
	/* A program that was compiled with an older header has a shorter structure. */
	found.size = info->size < sizeof(found) ? info->size : (uint32_t)sizeof(found);
	memcpy(info, &found, found.size);
	if (!num_agents_accessible)
		return HSA_STATUS_SUCCESS;
	return list_accessible(&access, alloc, num_agents_accessible, accessible);
}

hsa_status_t softgpu_hsa_amd_pointer_info_set_userdata(const void *ptr, void *userdata)
{
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_blocks();
	block = find_block(ptr);
	if (!block)
		block = find_locked_host(ptr);
	if (block)
		block->user_data = userdata;
	pthread_mutex_unlock(&lock);
	return block ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t
softgpu_hsa_amd_register_deallocation_callback(void *ptr, hsa_amd_deallocation_callback_t callback,
					       void *user_data)
{
	struct notifier *notifier;
	struct memory_block *block;
	bool known;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || !callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	notifier = malloc(sizeof(*notifier));
	if (!notifier)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*notifier = (struct notifier){.callback = callback, .user_data = user_data};
	lock_blocks();
	block = find_block(ptr);
	known = block && !block->is_locked;
	if (known) {
		notifier->next = block->notifiers;
		block->notifiers = notifier;
	}
	pthread_mutex_unlock(&lock);
	if (known)
		return HSA_STATUS_SUCCESS;
	free(notifier);
	return HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t
softgpu_hsa_amd_deregister_deallocation_callback(void *ptr,
						 hsa_amd_deallocation_callback_t callback)
{
	struct notifier *notifier = NULL;
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	lock_blocks();
	block = find_block(ptr);
	for (struct notifier **link = block ? &block->notifiers : NULL; link && *link;
	     link = &(*link)->next) {
		if ((*link)->callback == callback) {
			notifier = *link;
			*link = notifier->next;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	if (!notifier)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	free(notifier);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_memory_copy(void *dst, const void *src, size_t size)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!dst || !src || !memory_range_fits(dst, size) || !memory_range_fits(src, size))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memmove(memory_translate(dst), memory_translate(src), size);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
	const struct memory_block *block;
	uint32_t *words;
	bool fits = false;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || (uintptr_t)ptr % sizeof(uint32_t) != 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_blocks();
	block = find_block(ptr);
	if (block)
		fits = count <= (block->bytes - ((uintptr_t)ptr - block->begin)) / sizeof(uint32_t);
	pthread_mutex_unlock(&lock);
	if (!fits)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	words = memory_translate(ptr);
	for (size_t i = 0; i < count; i++)
		words[i] = value;
	return HSA_STATUS_SUCCESS;
}

/* Does nothing: registration is only a hint where GPUs access memory through pools. */
hsa_status_t softgpu_hsa_memory_register(void *ptr, size_t size)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	return ptr && size > 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t softgpu_hsa_memory_deregister(void *ptr, size_t size)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_memory_assign_agent(void *ptr, hsa_agent_t agent,
					     hsa_access_permission_t access)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent_find(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!ptr || access < HSA_ACCESS_PERMISSION_RO || access > HSA_ACCESS_PERMISSION_RW)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}
