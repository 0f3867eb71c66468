/* The tool's handler of intercept queues: records the packets in a copy and hands the copy on. The
 * gate's index `next` counts the packets that were handed on while it recorded. */
#include "capture/hsa/intercepted.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/hsa/gate_hold.h"
#include "capture/hsa/gate_pass.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/monitor_state.h"

#define HOLD_SPINS 1000

static bool is_live(const struct gate *gate)
{
	return hsa_is_live() &&
	       atomic_load_explicit(&gate->state, memory_order_relaxed) == GATE_LIVE;
}

/* Takes the gate, which gate_count holds for a moment now and then. Returns false when the gate is
 * not live, when this thread holds it already, or after TIMER_PROXY_HOLD: a thread that is stopped
 * may hold it. */
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

/* Records COUNT packets in their copy. USER_INDEX: the index at which the program reserved the
 * first one. Called by the gate's holder. */
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

/* Called by the runtime for one packet or for many, one call at a time for each queue, on the
 * thread that rings the doorbell or on a thread of the runtime's. Hands on the same number of
 * packets, in pieces of up to one ring length. */
static void handle(const void *packets, uint64_t count, uint64_t user_index, void *data,
		   hsa_amd_queue_intercept_packet_writer writer)
{
	struct gate *gate = data;
	const char *from = packets;
	uint64_t most = gate_ring_size(gate);

	while (count) {
		uint64_t part = count < most ? count : most;

		bool is_held = hold(gate);

		/* While the gate is held, is_tracing does not change, so no packet is counted in
		 * the wrong recording. */
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
		/* Left before the writer is called, which may wait for the device. */
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
