#include "capture/hsa/intercepted.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "capture/hsa/gate_pass.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_monitor.h"
#include "capture/hsa/hsa_part.h"
#include "capture/session.h"

#define HOLD_SPINS 1000

static bool is_live(const struct gate *gate)
{
	return hsa_part_is_live() &&
	       atomic_load_explicit(&gate->state, memory_order_relaxed) == GATE_LIVE;
}

/* Counting (gate_count) holds the gate for a moment. Not for ever: a thread that is stopped may hold it. */
static bool hold(struct gate *gate)
{
	struct timer_limit limit = {0};

	for (int i = 0; is_live(gate) && !gate_is_mine(gate); i++) {
		if (gate_try_hold(gate))
			return true;
		__builtin_ia32_pause();
		if (i < HOLD_SPINS)
			continue;
		sched_yield();
		if (!limit.end_ns)
			limit = timer_start(TIMER_PROXY_HOLD);
		if (timer_is_over(limit))
			return false;
	}
	return false;
}

/* USER_INDEX: where the program reserved the first packet. */
static void treat(struct gate *gate, union packet *packets, uint64_t count, uint64_t user_index)
{
	struct pass pass = {
		.gate = gate,
		.index = atomic_load_explicit(&gate->next, memory_order_relaxed),
		.reserved = user_index,
	};

	pass_begin(&pass);
	for (uint64_t i = 0; i < count; i++, pass.index++, pass.reserved++)
		pass_packet(&pass, &packets[i],
			    atomic_load_explicit(&packets[i].header, memory_order_relaxed),
			    &packets[i].any.completion_signal);
	atomic_store_explicit(&gate->next, pass.index, memory_order_release);
}

/* By the runtime, for one packet or for many, one call at a time for each queue, on the thread that
 * rings or on one of its own. What is handed on is as many packets, in one piece up to a ring's
 * length. */
static void handle(const void *packets, uint64_t count, uint64_t user_index, void *data,
		   hsa_amd_queue_intercept_packet_writer writer)
{
	struct gate *gate = data;
	const char *from = packets;
	uint64_t most = gate_ring_size(gate);

	while (count) {
		uint64_t part = count < most ? count : most;

		bool is_held = hold(gate);

		/* Held, it stays as it is: the counts of the next recording begin with this one. */
		if (!is_held || !gate_is_tracing(gate)) {
			atomic_fetch_add_explicit(gate_is_tracing(gate) ? &gate->unrecorded
									: &gate->handed_on,
						  count, memory_order_relaxed);
			if (is_held)
				gate_leave(gate);
			writer(from, count);
			return;
		}
		memcpy(gate->staging, from, part * sizeof(union packet));
		treat(gate, gate->staging, part, user_index);
		/* Before the writer, which may wait for the device. */
		gate_leave(gate);
		writer(gate->staging, part);
		hsa_monitor_wake();
		from += part * sizeof(union packet);
		user_index += part;
		count -= part;
	}
}

int intercepted_open(hsa_queue_t *queue, hsa_agent_t agent, bool is_chained)
{
	struct gate_kind kind = {.mode = RECORD_QUEUE_INTERCEPT, .is_chained = is_chained};
	struct gate *gate;
	int err = gate_open(queue, agent, kind, &gate);

	if (err)
		return err;
	if (hsa_next.hsa_amd_queue_intercept_register &&
	    hsa_next.hsa_amd_queue_intercept_register(queue, handle, gate) == HSA_STATUS_SUCCESS)
		return 0;
	gate_close(gate, RECORD_UNTIMED_QUEUE_DESTROYED);
	gate_reuse(gate, false);
	return -ENOTSUP;
}
