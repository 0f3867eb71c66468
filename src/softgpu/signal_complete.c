/* The completion of packets and copies, and the wake-ups after a change of a signal's value. */
#include "softgpu/agent.h"
#include "softgpu/futex.h"
#include "softgpu/handler.h"
#include "softgpu/schedule.h"
#include "softgpu/signal.h"
#include "softgpu/signal_block.h"

void signal_changed(struct softgpu_signal *block, volatile int64_t *value)
{
	if (!block || atomic_load(&block->waiters))
		futex_wake_all((const void *)value);
	if (block && atomic_load(&block->armed))
		handler_notify(block);
	schedule_bump_epoch();
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
