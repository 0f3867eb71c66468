/* The HSA functions on signals. A function that returns no status returns 0, and counts an error,
 * for a handle that is not a live signal. */
#include <sched.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/futex.h"
#include "softgpu/queue.h"
#include "softgpu/schedule.h"
#include "softgpu/signal_block.h"
#include "softgpu/signal_epoch.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

/* How long a waiting thread polls before it sleeps. */
#define SPIN_NS			 4000u
/* The interval at which a sleeping thread polls the value: of a signal whose value the program may
 * write through a pointer, and of one where every change wakes the thread. */
#define MEMORY_SIGNAL_LOOK_NS	 200000u
#define INTERRUPT_SIGNAL_LOOK_NS 100000000u

static hsa_status_t check_consumers(uint32_t count, const hsa_agent_t *consumers, bool *ret_has_cpu)
{
	*ret_has_cpu = count == 0;
	if (count && !consumers)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < count; i++) {
		const struct softgpu_agent *agent = agent_find(consumers[i]);

		if (!agent)
			return HSA_STATUS_ERROR_INVALID_AGENT;
		for (uint32_t k = 0; k < i; k++)
			if (consumers[k].handle == consumers[i].handle)
				return HSA_STATUS_ERROR_INVALID_ARGUMENT;
		*ret_has_cpu |= !agent->is_gpu;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
					   const hsa_agent_t *consumers, uint64_t attributes,
					   hsa_signal_t *signal)
{
	const uint64_t known = HSA_AMD_SIGNAL_AMD_GPU_ONLY | HSA_AMD_SIGNAL_IPC;
	struct softgpu_signal *block;
	enum signal_kind kind;
	hsa_status_t status;
	bool has_cpu;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!signal || attributes & ~known)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = check_consumers(num_consumers, consumers, &has_cpu);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	kind = attributes || !has_cpu ? SIGNAL_MEMORY : SIGNAL_INTERRUPT;
	if (attributes & HSA_AMD_SIGNAL_IPC)
		kind = SIGNAL_IPC;
	block = signal_make(kind, initial_value, NULL);
	if (!block)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	if (kind == SIGNAL_INTERRUPT) {
		softgpu_count(signals_created_interrupt, 1);
		clock_spin_ns(config_get()->signal_ns);
	} else {
		softgpu_count(signals_created_memory, 1);
	}
	*signal = signal_handle(block);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
				       const hsa_agent_t *consumers, hsa_signal_t *signal)
{
	return softgpu_hsa_amd_signal_create(initial_value, num_consumers, consumers, 0, signal);
}

hsa_status_t softgpu_hsa_signal_destroy(hsa_signal_t signal)
{
	struct softgpu_signal *block = signal_block(signal);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!signal.handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!block || block->kind == SIGNAL_DOORBELL) {
		softgpu_count(signal_errors, 1);
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	}
	if (!signal_detach(block))
		return HSA_STATUS_SUCCESS;
	softgpu_count(signals_destroyed, 1);
	signal_destroy(block);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_signal_value_pointer(hsa_signal_t signal,
						  volatile hsa_signal_value_t **value_ptr)
{
	struct softgpu_signal *block;
	volatile int64_t *value;

	if (!value_ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	value = signal_value_word(signal, &block);
	if (!value)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (block && block->kind != SIGNAL_MEMORY && block->kind != SIGNAL_IPC)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*value_ptr = value;
	return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t load_value(hsa_signal_t signal, int order)
{
	struct softgpu_signal *block;
	volatile int64_t *value = signal_value_word(signal, &block);

	return value ? __atomic_load_n(value, order) : 0;
}

/* With acquire: HIP looks for the end of a copy with a relaxed load, and the program then reads
 * what the copy has written. On x86 both loads are the same instruction. */
hsa_signal_value_t softgpu_hsa_signal_load_relaxed(hsa_signal_t signal)
{
	return load_value(signal, __ATOMIC_ACQUIRE);
}

hsa_signal_value_t softgpu_hsa_signal_load_scacquire(hsa_signal_t signal)
{
	return load_value(signal, __ATOMIC_ACQUIRE);
}

/* Called after the program has changed a signal. */
static void changed_by_host(struct softgpu_signal *block, volatile int64_t *value)
{
	if (schedule_is_on())
		schedule_host_acts();
	signal_changed(block, value);
}

/* Stores to a signal. A silent store wakes no thread, but a store to a doorbell always rings it. */
static void store_value(hsa_signal_t signal, hsa_signal_value_t new_value, bool is_silent)
{
	struct softgpu_signal *block;
	volatile int64_t *value = signal_value_word(signal, &block);

	if (!value)
		return;
	__atomic_store_n(value, new_value, __ATOMIC_SEQ_CST);
	if (block && block->kind == SIGNAL_DOORBELL)
		queue_ring((struct softgpu_queue *)block->amd.queue_ptr, new_value);
	else if (!is_silent)
		changed_by_host(block, value);
}

void softgpu_hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_value(signal, value, false);
}

void softgpu_hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_value(signal, value, false);
}

void softgpu_hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_value(signal, value, true);
}

void softgpu_hsa_signal_silent_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
	store_value(signal, value, true);
}

/* All memory orders of the specification use the strongest one: the change must be visible before
 * the check for sleeping threads, which needs a full fence in any case. */
#define SIGNAL_UPDATE(name, order, operation)                                                      \
	void softgpu_hsa_signal_##name##_##order(hsa_signal_t signal, hsa_signal_value_t operand)  \
	{                                                                                          \
		struct softgpu_signal *block;                                                      \
		volatile int64_t *value = signal_value_word(signal, &block);                       \
                                                                                                   \
		if (!value || (block && block->kind == SIGNAL_DOORBELL))                           \
			return;                                                                    \
		operation(value, operand, __ATOMIC_SEQ_CST);                                       \
		changed_by_host(block, value);                                                     \
	}

#define SIGNAL_UPDATE_ALL_ORDERS(name, operation)                                                  \
	SIGNAL_UPDATE(name, relaxed, operation)                                                    \
	SIGNAL_UPDATE(name, scacquire, operation)                                                  \
	SIGNAL_UPDATE(name, screlease, operation)                                                  \
	SIGNAL_UPDATE(name, scacq_screl, operation)

SIGNAL_UPDATE_ALL_ORDERS(add, __atomic_fetch_add)
SIGNAL_UPDATE_ALL_ORDERS(subtract, __atomic_fetch_sub)
SIGNAL_UPDATE_ALL_ORDERS(and, __atomic_fetch_and)
SIGNAL_UPDATE_ALL_ORDERS(or, __atomic_fetch_or)
SIGNAL_UPDATE_ALL_ORDERS(xor, __atomic_fetch_xor)

static hsa_signal_value_t exchange_value(hsa_signal_t signal, hsa_signal_value_t new_value)
{
	struct softgpu_signal *block;
	volatile int64_t *value = signal_value_word(signal, &block);
	hsa_signal_value_t before;

	if (!value || (block && block->kind == SIGNAL_DOORBELL))
		return 0;
	before = __atomic_exchange_n(value, new_value, __ATOMIC_SEQ_CST);
	changed_by_host(block, value);
	return before;
}

static hsa_signal_value_t cas_value(hsa_signal_t signal, hsa_signal_value_t expected,
				    hsa_signal_value_t new_value)
{
	struct softgpu_signal *block;
	volatile int64_t *value = signal_value_word(signal, &block);
	int64_t seen = expected;

	if (!value || (block && block->kind == SIGNAL_DOORBELL))
		return 0;
	if (__atomic_compare_exchange_n(value, &seen, new_value, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST))
		changed_by_host(block, value);
	return seen;
}

#define SIGNAL_EXCHANGE(order)                                                                     \
	hsa_signal_value_t softgpu_hsa_signal_exchange_##order(hsa_signal_t signal,                \
							       hsa_signal_value_t value)           \
	{                                                                                          \
		return exchange_value(signal, value);                                              \
	}                                                                                          \
	hsa_signal_value_t softgpu_hsa_signal_cas_##order(                                         \
		hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value)        \
	{                                                                                          \
		return cas_value(signal, expected, value);                                         \
	}

SIGNAL_EXCHANGE(relaxed)
SIGNAL_EXCHANGE(scacquire)
SIGNAL_EXCHANGE(screlease)
SIGNAL_EXCHANGE(scacq_screl)

/* The clock of timeouts. A timeout belongs to the waiting thread and not to the device, so it also
 * runs out while a test holds the device's clock. */
static uint64_t system_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static uint64_t deadline_after(uint64_t timeout_ns)
{
	uint64_t now = system_now_ns();

	return timeout_ns > FUTEX_FOREVER - now ? FUTEX_FOREVER : now + timeout_ns;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct signal_wait {
	struct softgpu_signal *block; /* NULL: the signal is in pool memory */
	volatile int64_t *value;
	hsa_signal_condition_t condition;
	hsa_signal_value_t compare;
	uint64_t deadline_ns; /* of CLOCK_MONOTONIC, or FUTEX_FOREVER */
};

/* Returns whether the wait is over: the condition holds, the deadline has passed, or there is no
 * device in this process. */
static bool wait_is_over(const struct signal_wait *wait, hsa_signal_value_t *ret_value)
{
	*ret_value = __atomic_load_n(wait->value, __ATOMIC_ACQUIRE);
	return signal_condition_holds(wait->condition, *ret_value, wait->compare) ||
	       system_now_ns() >= wait->deadline_ns || process_is_forked_child();
}

static void wait_sleep(const struct signal_wait *wait, hsa_signal_value_t seen)
{
	bool is_interrupt = wait->block && wait->block->kind == SIGNAL_INTERRUPT;
	uint64_t look = is_interrupt ? INTERRUPT_SIGNAL_LOOK_NS : MEMORY_SIGNAL_LOOK_NS;
	uint64_t until = earlier(wait->deadline_ns, system_now_ns() + look);

	if (wait->block)
		atomic_fetch_add(&wait->block->waiters, 1);
	softgpu_count(signal_sleeps, 1);
	/* The futex word is the low half of the value. A change after the load below makes the
	 * system call return at once. */
	if (__atomic_load_n(wait->value, __ATOMIC_SEQ_CST) == seen)
		futex_wait((const void *)wait->value, (uint32_t)seen, until);
	if (wait->block)
		atomic_fetch_sub(&wait->block->waiters, 1);
}

static hsa_signal_value_t wait_until_over(const struct signal_wait *wait)
{
	uint64_t spin_end = system_now_ns() + SPIN_NS;
	hsa_signal_value_t seen;

	while (!wait_is_over(wait, &seen)) {
		if (system_now_ns() < spin_end)
			sched_yield();
		else
			wait_sleep(wait, seen);
	}
	return seen;
}

static hsa_signal_value_t wait_scheduled(const struct signal_wait *wait)
{
	struct schedule_host_wait told = {.value = wait->value,
					  .condition = wait->condition,
					  .compare = wait->compare,
					  .is_limited = wait->deadline_ns != FUTEX_FOREVER};
	hsa_signal_value_t seen;

	schedule_host_waits(&told);
	seen = wait_until_over(wait);
	schedule_host_waited(&told);
	return seen;
}

static hsa_signal_value_t wait_for_value(hsa_signal_t signal, hsa_signal_condition_t condition,
					 hsa_signal_value_t compare, uint64_t timeout_ns)
{
	struct signal_wait wait = {.condition = condition, .compare = compare};
	hsa_signal_value_t seen = 0;

	if (condition > HSA_SIGNAL_CONDITION_GTE || !signal_retain(signal))
		return load_value(signal, __ATOMIC_ACQUIRE);
	wait.value = signal_value_word(signal, &wait.block);
	wait.deadline_ns = deadline_after(timeout_ns);
	if (wait.value)
		seen = schedule_is_on() ? wait_scheduled(&wait) : wait_until_over(&wait);
	signal_release(signal);
	return seen;
}

hsa_signal_value_t softgpu_hsa_signal_wait_relaxed(hsa_signal_t signal,
						   hsa_signal_condition_t condition,
						   hsa_signal_value_t compare_value,
						   uint64_t timeout_hint, hsa_wait_state_t hint)
{
	return wait_for_value(signal, condition, compare_value, timeout_hint);
}

hsa_signal_value_t softgpu_hsa_signal_wait_scacquire(hsa_signal_t signal,
						     hsa_signal_condition_t condition,
						     hsa_signal_value_t compare_value,
						     uint64_t timeout_hint, hsa_wait_state_t hint)
{
	return wait_for_value(signal, condition, compare_value, timeout_hint);
}

/* Returns the index of the first signal whose condition holds, or -1. */
static int64_t find_satisfied(uint32_t count, const hsa_signal_t *signals,
			      const hsa_signal_condition_t *conditions,
			      const hsa_signal_value_t *compares, hsa_signal_value_t *ret_value)
{
	for (uint32_t i = 0; i < count; i++) {
		hsa_signal_value_t value = load_value(signals[i], __ATOMIC_ACQUIRE);

		if (signal_condition_holds(conditions[i], value, compares[i])) {
			*ret_value = value;
			return i;
		}
	}
	return -1;
}

static uint64_t look_interval(uint32_t count, const hsa_signal_t *signals)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct softgpu_signal *block = signal_block(signals[i]);

		if (!block || block->kind != SIGNAL_INTERRUPT)
			return MEMORY_SIGNAL_LOOK_NS;
	}
	return INTERRUPT_SIGNAL_LOOK_NS;
}

/* Waits for one signal after the other: each condition held at some time, not all at the same
 * time. */
uint32_t softgpu_hsa_amd_signal_wait_all(uint32_t signal_count, hsa_signal_t *signals,
					 hsa_signal_condition_t *conds, hsa_signal_value_t *values,
					 uint64_t timeout_hint, hsa_wait_state_t wait_hint,
					 hsa_signal_value_t *satisfying_values)
{
	uint64_t deadline = deadline_after(timeout_hint);

	if (!signal_count || !signals || !conds || !values)
		return UINT32_MAX;
	for (uint32_t i = 0; i < signal_count; i++) {
		uint64_t now = system_now_ns();
		hsa_signal_value_t seen = wait_for_value(signals[i], conds[i], values[i],
							 deadline > now ? deadline - now : 0);

		if (!signal_condition_holds(conds[i], seen, values[i]))
			return UINT32_MAX;
		if (satisfying_values)
			satisfying_values[i] = seen;
	}
	return 0;
}

uint32_t softgpu_hsa_amd_signal_wait_any(uint32_t signal_count, hsa_signal_t *signals,
					 hsa_signal_condition_t *conds, hsa_signal_value_t *values,
					 uint64_t timeout_hint, hsa_wait_state_t wait_hint,
					 hsa_signal_value_t *satisfying_value)
{
	uint64_t deadline = deadline_after(timeout_hint);
	struct schedule_host_wait told = {.is_limited = deadline != FUTEX_FOREVER};
	hsa_signal_value_t value = 0;
	uint64_t look;
	int64_t index;

	if (!signal_count || !signals || !conds || !values)
		return UINT32_MAX;
	look = look_interval(signal_count, signals);
	if (schedule_is_on())
		schedule_host_waits(&told);
	for (;;) {
		uint32_t seen = signal_epoch();
		uint64_t now;

		index = find_satisfied(signal_count, signals, conds, values, &value);
		now = system_now_ns();
		if (index >= 0 || now >= deadline || process_is_forked_child())
			break;
		softgpu_count(signal_sleeps, 1);
		signal_epoch_wait(seen, earlier(deadline, now + look));
	}
	if (schedule_is_on())
		schedule_host_waited(&told);
	if (index < 0)
		return UINT32_MAX;
	if (satisfying_value)
		*satisfying_value = value;
	return (uint32_t)index;
}
