/* Signal blocks: their memory, their lifetime and their values. signal_complete.c wakes the threads
 * that wait for a value. */
#include "softgpu/signal.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/device_memory.h"
#include "softgpu/signal_block.h"
#include "softgpu/softgpu_threads.h"

/* The slab reserves address space only; the kernel adds pages as blocks are used. Blocks are never
 * unmapped, so that a late access to a destroyed signal is an error that can be counted and not a
 * crash. */
#define SLAB_MAX_BLOCKS (1u << 22)
#define SLAB_MIN_BLOCKS (1u << 14)
/* A free block is reused only after this many others, so that late decrements find a dead block. */
#define SLAB_QUARANTINE 1024u

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct softgpu_signal *blocks;
	uint32_t capacity;
	_Atomic uint32_t used; /* blocks that were ever used; written under the lock */
	uint32_t free_head;    /* list of free blocks, first in first out: index + 1, or 0 */
	uint32_t free_tail;
	uint32_t free_count;
	uint32_t *event_ids;  /* stack of free event ids */
	uint32_t event_count; /* size of that stack */
	uint64_t *mailboxes;  /* one word for each event, to which the device writes the id */
} slab = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void slab_init_events(uint32_t limit)
{
	slab.event_ids = reserve((limit + 1) * sizeof(*slab.event_ids));
	slab.mailboxes = reserve((limit + 1) * sizeof(*slab.mailboxes));
	if (!slab.event_ids || !slab.mailboxes)
		return;
	for (uint32_t i = 0; i < limit; i++)
		slab.event_ids[i] = limit - i;
	slab.event_count = limit;
}

static void slab_init(void)
{
	uint32_t capacity = SLAB_MAX_BLOCKS;

	process_guard_lock(&slab.lock);
	while (capacity >= SLAB_MIN_BLOCKS && !slab.blocks) {
		slab.blocks = reserve((size_t)capacity * sizeof(*slab.blocks));
		slab.capacity = capacity;
		capacity /= 2;
	}
	if (!slab.blocks)
		slab.capacity = 0;
	slab_init_events(config_get()->event_limit);
}

/* With the lock held. */
static struct softgpu_signal *slab_take(void)
{
	uint32_t used = atomic_load_explicit(&slab.used, memory_order_relaxed);
	struct softgpu_signal *block;

	if (slab.free_count > SLAB_QUARANTINE || (used == slab.capacity && slab.free_count)) {
		block = &slab.blocks[slab.free_head - 1];
		slab.free_head = block->next_free;
		slab.free_count--;
		return block;
	}
	if (used == slab.capacity)
		return NULL;
	block = &slab.blocks[used];
	atomic_store_explicit(&slab.used, used + 1, memory_order_release);
	return block;
}

/* With the lock held. */
static void slab_put(struct softgpu_signal *block)
{
	uint32_t index = (uint32_t)(block - slab.blocks) + 1;

	if (block->amd.event_id) {
		slab.event_ids[slab.event_count++] = block->amd.event_id;
		block->amd.event_id = 0;
	}
	block->next_free = 0;
	if (slab.free_count++)
		slab.blocks[slab.free_tail - 1].next_free = index;
	else
		slab.free_head = index;
	slab.free_tail = index;
}

/* With the lock held. Beyond the limit the signal gets no event and the program is not told, as
 * with the driver. */
static void give_event(struct softgpu_signal *block)
{
	if (!slab.event_count) {
		softgpu_count(signals_without_event, 1);
		return;
	}
	block->amd.event_id = slab.event_ids[--slab.event_count];
	block->amd.event_mailbox_ptr =
		(uint64_t)(uintptr_t)&slab.mailboxes[block->amd.event_id - 1];
}

static void block_init(struct softgpu_signal *block, enum signal_kind kind, int64_t initial,
		       struct softgpu_queue *queue)
{
	memset(&block->amd, 0, sizeof(block->amd));
	block->amd.kind = kind == SIGNAL_DOORBELL ? AMD_SIGNAL_KIND_DOORBELL : AMD_SIGNAL_KIND_USER;
	block->amd.value = initial;
	block->amd.queue_ptr = (amd_queue_t *)queue;
	block->sdma_start_ts = 0;
	block->sdma_end_ts = 0;
	atomic_store_explicit(&block->copy_agent, 0, memory_order_relaxed);
	block->kind = kind;
	block->next_free = 0;
	block->id = SIGNAL_ID;
}

struct softgpu_signal *signal_make(enum signal_kind kind, int64_t initial,
				   struct softgpu_queue *queue)
{
	struct softgpu_signal *block;

	pthread_once(&slab.once, slab_init);
	pthread_mutex_lock(&slab.lock);
	block = slab_take();
	if (block) {
		block_init(block, kind, initial, queue);
		if (kind == SIGNAL_INTERRUPT)
			give_event(block);
		atomic_store_explicit(&block->refs, 1, memory_order_release);
	}
	pthread_mutex_unlock(&slab.lock);
	return block;
}

/* Returns the block of SIGNAL if its address was ever used, live or dead; else NULL. */
static struct softgpu_signal *slab_block(hsa_signal_t signal)
{
	uint64_t used = atomic_load_explicit(&slab.used, memory_order_acquire);
	uint64_t offset = signal.handle - (uint64_t)(uintptr_t)slab.blocks;

	if (offset >= used * sizeof(struct softgpu_signal) ||
	    offset % sizeof(struct softgpu_signal))
		return NULL;
	return &slab.blocks[offset / sizeof(struct softgpu_signal)];
}

static bool block_is_live(const struct softgpu_signal *block)
{
	uint32_t refs = atomic_load_explicit(&block->refs, memory_order_acquire);

	return refs && !(refs & SIGNAL_DEAD);
}

struct softgpu_signal *signal_block(hsa_signal_t signal)
{
	struct softgpu_signal *block = slab_block(signal);

	return block && block_is_live(block) ? block : NULL;
}

bool signal_is_value(const void *address)
{
	const uint64_t handle = (uint64_t)(uintptr_t)address - offsetof(amd_signal_t, value);
	const struct softgpu_signal *block = signal_block((hsa_signal_t){handle});

	return block && block->kind != SIGNAL_DOORBELL;
}

bool signal_attach(struct softgpu_signal *block)
{
	if (!block || block->kind != SIGNAL_IPC)
		return false;
	__atomic_fetch_add(&block->next_free, 1, __ATOMIC_RELAXED);
	return true;
}

bool signal_detach(struct softgpu_signal *block)
{
	uint32_t users = __atomic_load_n(&block->next_free, __ATOMIC_RELAXED);

	while (users && !__atomic_compare_exchange_n(&block->next_free, &users, users - 1, true,
						     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return !users;
}

/* Returns whether a signal block fits at this address into memory of a pool. */
static bool is_pool_signal(hsa_signal_t signal)
{
	const void *address = (const void *)(uintptr_t)signal.handle;

	return signal.handle && signal.handle % sizeof(uint64_t) == 0 &&
	       memory_is_pool_address(address) &&
	       memory_is_pool_address((const char *)address + sizeof(amd_signal_t) - 1);
}

volatile int64_t *signal_value_word(hsa_signal_t signal, struct softgpu_signal **ret_block)
{
	struct softgpu_signal *block = slab_block(signal);

	*ret_block = NULL;
	if (block && block_is_live(block)) {
		*ret_block = block;
		return block->kind == SIGNAL_DOORBELL
			       ? (volatile int64_t *)block->amd.hardware_doorbell_ptr
			       : &block->amd.value;
	}
	if (!block && is_pool_signal(signal))
		return &((amd_signal_t *)(uintptr_t)signal.handle)->value;
	softgpu_count(signal_errors, 1);
	return NULL;
}

bool signal_retain(hsa_signal_t signal)
{
	struct softgpu_signal *block = slab_block(signal);
	uint32_t refs;

	if (!block && is_pool_signal(signal))
		return true;
	refs = block ? atomic_load_explicit(&block->refs, memory_order_relaxed) : 0;
	do {
		if (!refs || refs & SIGNAL_DEAD) {
			softgpu_count(signal_errors, 1);
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&block->refs, &refs, refs + 1, memory_order_acquire, memory_order_relaxed));
	return true;
}

void signal_release(hsa_signal_t signal)
{
	struct softgpu_signal *block = slab_block(signal);
	uint32_t before;

	if (!block)
		return;
	before = atomic_fetch_sub_explicit(&block->refs, 1, memory_order_acq_rel);
	if ((before & ~SIGNAL_DEAD) != 1)
		return;
	pthread_mutex_lock(&slab.lock);
	slab_put(block);
	pthread_mutex_unlock(&slab.lock);
}

void signal_destroy(struct softgpu_signal *block)
{
	block->id = 0;
	atomic_fetch_or_explicit(&block->refs, SIGNAL_DEAD, memory_order_acq_rel);
	signal_release(signal_handle(block));
}

hsa_signal_value_t signal_value(hsa_signal_t signal)
{
	struct softgpu_signal *block;
	volatile int64_t *value = signal_value_word(signal, &block);

	return value ? __atomic_load_n(value, __ATOMIC_ACQUIRE) : 0;
}
