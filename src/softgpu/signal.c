/* Signal blocks: their memory, their lifetime, the completion of packets and copies, and the
 * wake-ups after a change of a value. */
#include "softgpu/signal.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/agent.h"
#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/device_memory.h"
#include "softgpu/futex.h"
#include "softgpu/handler.h"
#include "softgpu/schedule.h"
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

static _Atomic uint32_t epoch;		/* futex; see signal_epoch */
static _Atomic uint32_t epoch_sleepers; /* threads that sleep on it */

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

void signal_changed(struct softgpu_signal *block, volatile int64_t *value)
{
	if (!block || atomic_load(&block->waiters))
		futex_wake_all((const void *)value);
	if (block && atomic_load(&block->armed))
		handler_notify(block);
	signal_epoch_bump();
}

/* The decrement of a completion. The packet or copy holds a reference to a block of the slab, so
 * the block is not reused. A signal that the program has destroyed meanwhile does not reach this
 * function: signal_value_word has counted it. Real hardware would not notice. */
static void complete(struct softgpu_signal *block, volatile int64_t *value)
{
	__atomic_fetch_sub(value, 1, __ATOMIC_SEQ_CST);
	if (block && block->amd.event_id)
		__atomic_store_n((uint64_t *)(uintptr_t)block->amd.event_mailbox_ptr,
				 block->amd.event_id, __ATOMIC_RELEASE);
	signal_changed(block, value);
}

static void stamp_amd(hsa_signal_t signal, uint64_t start_tick, uint64_t end_tick)
{
	amd_signal_t *amd = (amd_signal_t *)(uintptr_t)signal.handle;

	__atomic_store_n(&amd->start_ts, start_tick, __ATOMIC_RELAXED);
	__atomic_store_n(&amd->end_ts, end_tick, __ATOMIC_RELAXED);
}

/* Returns the word that a completion decrements; NULL for handle 0, a dead signal and a
 * doorbell. */
static volatile int64_t *completion_word(hsa_signal_t signal, struct softgpu_signal **ret_block)
{
	volatile int64_t *value;

	if (!signal.handle)
		return NULL;
	value = signal_value_word(signal, ret_block);
	return *ret_block && (*ret_block)->kind == SIGNAL_DOORBELL ? NULL : value;
}

void signal_complete(hsa_signal_t signal, bool stamp, uint64_t start_tick, uint64_t end_tick)
{
	struct softgpu_signal *block;
	volatile int64_t *value = completion_word(signal, &block);

	if (!value)
		return;
	if (stamp)
		stamp_amd(signal, start_tick, end_tick);
	complete(block, value);
}

void signal_complete_copy(hsa_signal_t signal, bool stamp, uint64_t start_tick, uint64_t end_tick,
			  hsa_agent_t agent)
{
	const struct softgpu_agent *owner = agent_find(agent);
	struct softgpu_signal *block;
	volatile int64_t *value = completion_word(signal, &block);

	if (!value)
		return;
	if (stamp && block) {
		__atomic_store_n(&block->sdma_start_ts, start_tick, __ATOMIC_RELAXED);
		__atomic_store_n(&block->sdma_end_ts, end_tick, __ATOMIC_RELAXED);
		atomic_store_explicit(&block->copy_agent, owner ? owner->index + 1 : 0,
				      memory_order_relaxed);
	} else if (stamp) {
		stamp_amd(signal, start_tick, end_tick);
	}
	complete(block, value);
}

hsa_signal_value_t signal_value(hsa_signal_t signal)
{
	struct softgpu_signal *block;
	volatile int64_t *value = signal_value_word(signal, &block);

	return value ? __atomic_load_n(value, __ATOMIC_ACQUIRE) : 0;
}

uint32_t signal_epoch(void)
{
	return atomic_load(&epoch);
}

void signal_epoch_bump(void)
{
	/* Sequentially consistent: pairs with the increment in signal_epoch_wait. Either this
	 * thread sees the sleeper, or the sleeper sees the new epoch. */
	atomic_fetch_add(&epoch, 1);
	if (atomic_load(&epoch_sleepers))
		futex_wake_all(&epoch);
	if (schedule_is_on())
		schedule_wake_all();
}

void signal_epoch_wait(uint32_t seen, uint64_t until_ns)
{
	atomic_fetch_add(&epoch_sleepers, 1);
	if (atomic_load(&epoch) == seen)
		futex_wait(&epoch, seen, until_ns);
	atomic_fetch_sub(&epoch_sleepers, 1);
}

bool signal_condition_holds(hsa_signal_condition_t condition, int64_t value, int64_t compare)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == compare;
	case HSA_SIGNAL_CONDITION_NE:
		return value != compare;
	case HSA_SIGNAL_CONDITION_LT:
		return value < compare;
	case HSA_SIGNAL_CONDITION_GTE:
		return value >= compare;
	default:
		return false;
	}
}
