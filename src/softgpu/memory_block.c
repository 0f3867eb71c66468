/* The registry of memory blocks: a tree by device address, and the list of the locked ones. */
#include "softgpu/memory_block.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/device_memory.h"
#include "softgpu/pool.h"
#include "softgpu/softgpu_threads.h"

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

void blocks_lock(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
}

void blocks_unlock(void)
{
	pthread_mutex_unlock(&lock);
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

struct memory_block *block_find(const void *address)
{
	const struct memory_block key = {.begin = (uintptr_t)address, .bytes = 1};
	struct memory_block **node = tfind(&key, &blocks, compare_blocks);

	return node ? *node : NULL;
}

struct memory_block *block_find_locked_host(const void *address)
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
	blocks_lock();
	block = block_find(device_address);
	if (block)
		address = block->host_begin + (address - block->begin);
	blocks_unlock();
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

	blocks_lock();
	block = block_find(address);
	found = block && !block->is_locked;
	blocks_unlock();
	return found;
}

bool memory_range_fits(const void *address, size_t bytes)
{
	const struct memory_block *block;
	bool fits = true;

	blocks_lock();
	block = block_find(address);
	if (block)
		fits = bytes <= block->bytes - ((uintptr_t)address - block->begin);
	blocks_unlock();
	return fits;
}

bool memory_is_reachable(const void *host_address, uint64_t bytes)
{
	const uintptr_t host = (uintptr_t)host_address;
	const struct memory_block *block;
	bool reachable;

	if (bytes == 0)
		return true;
	blocks_lock();
	block = block_find(host_address);
	reachable = block && !block->is_locked && bytes <= block->bytes - (host - block->begin);
	/* The host addresses of locked ranges may overlap: look for one that is long enough. */
	for (block = locked_blocks; block && !reachable; block = block->next_locked)
		reachable = host >= block->host_begin && host - block->host_begin < block->bytes &&
			    bytes <= block->bytes - (host - block->host_begin);
	blocks_unlock();
	return reachable;
}

static bool enter_block(struct memory_block *block)
{
	bool entered;

	blocks_lock();
	entered = tsearch(block, &blocks, compare_blocks) != NULL;
	blocks_unlock();
	return entered;
}

bool block_map(struct memory_block *block, int protection)
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

	blocks_lock();
	block = block_find(address);
	if (block)
		tdelete(block, &blocks, compare_blocks);
	blocks_unlock();
	free(block);
}

void memory_set_access(void *address, const struct agent_set *access)
{
	struct memory_block *block;

	blocks_lock();
	block = block_find(address);
	if (block)
		block->access = *access;
	blocks_unlock();
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

struct memory_block *block_find_lock(const void *host_address, size_t bytes)
{
	for (struct memory_block *block = locked_blocks; block; block = block->next_locked) {
		if (block->host_begin + block->lock_lead == (uintptr_t)host_address &&
		    (bytes == 0 || block->lock_bytes == bytes))
			return block;
	}
	return NULL;
}

void block_list_lock(struct memory_block *block)
{
	widen_alias_bounds(block->begin, block->begin + block->bytes);
	blocks_lock();
	block->next_locked = locked_blocks;
	locked_blocks = block;
	blocks_unlock();
}

void block_remove(struct memory_block *block)
{
	struct memory_block **link = &locked_blocks;

	while (block->is_locked && *link && *link != block)
		link = &(*link)->next_locked;
	if (block->is_locked && *link)
		*link = block->next_locked;
	tdelete(block, &blocks, compare_blocks);
}
