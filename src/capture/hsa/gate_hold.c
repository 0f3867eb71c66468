/* Holding gates: the doorbells, and the loop of passes that the holder makes. The pass itself is in
 * gate_pass.c, the take-over of a stopped holder in gate_resort.c. */
#include "capture/hsa/gate_hold.h"

#include <sched.h>
#include <time.h>

#include "capture/capture_session.h"
#include "capture/hsa/gate_counts.h"
#include "capture/hsa/gate_pass.h"
#include "capture/hsa/monitor_state.h"
#include "capture/hsa/serial.h"

/* A thread that rang waits for the holder in three steps: spins, then yields, then sleeps. */
#define AWAIT_SPINS    200
#define AWAIT_YIELD_NS 1000000u
#define AWAIT_PAUSE_NS 50000

/* ---- changing ---- */

/* Called by the holder. Packets that are reserved by now pass unrecorded when their doorbell rings.
 * On an intercept queue the packets that have not been handed on yet are recorded. */
static void gate_begin_recording(struct gate *gate)
{
	uint64_t first;

	gate_follow_index(gate);
	first = gate_get(&gate->virtual_index);
	if (!gate_has_index(gate)) {
		first = gate_get(&gate->next) + atomic_exchange(&gate->handed_on, 0);
		atomic_store_explicit(&gate->next, first, memory_order_relaxed);
	}
	atomic_store_explicit(&gate->dispatches, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->barriers, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->others, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->unrecorded, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->traced_first, first, memory_order_relaxed);
	atomic_store_explicit(&gate->is_taken_over, false, memory_order_relaxed);
	atomic_store_explicit(&gate->recorded_taken, 0, memory_order_relaxed);
	reservations_reset(&gate->reservations);
	gate_write_queue(gate);
	atomic_store_explicit(&gate->is_tracing, true, memory_order_release);
}

void gate_end_recording(struct gate *gate)
{
	uint64_t next = gate_get(&gate->next), first = gate_get(&gate->traced_first);

	/* Done already: by the monitor when it took the gate over, or by gate_stop_tracing. */
	if (!gate_is_tracing(gate))
		return;
	gate_count_cut(gate);
	atomic_store_explicit(&gate->traced_end, next > first ? next : first, memory_order_relaxed);
	atomic_store_explicit(&gate->is_tracing, false, memory_order_release);
}

/* Called by the holder before it looks at packets: does the change that was asked for. */
static void gate_change(struct gate *gate)
{
	uint32_t change = atomic_load_explicit(&gate->change, memory_order_acquire);
	bool is_live;

	if (__builtin_expect(change == GATE_STAYS, 1))
		return;
	/* In other states nothing is left to do: gate_close writes the last count. */
	is_live = atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE;
	if (is_live && change == GATE_STARTS) {
		gate_begin_recording(gate);
	} else if (is_live) {
		gate_write_count(gate, false);
		gate_end_recording(gate);
		serial_leave(gate);
	}
	atomic_store_explicit(&gate->change, GATE_STAYS, memory_order_release);
}

/* ---- holding ---- */

void gate_work(struct gate *gate)
{
	uint64_t seen = hold_look(&gate->hold);
	uint64_t published = 0;
	bool was_asked;

	do {
		/* The gate was taken over from this thread. */
		if (seen >> 32 != session_tid())
			return;
		gate_change(gate);
		was_asked = gate->passes_unreserved;
		if (gate_has_index(gate))
			published += gate_pass(gate);
		if (!gate_is_mine(gate))
			return;
		atomic_store_explicit(&gate->has_unpublished, gate_has_unpublished(gate),
				      memory_order_relaxed);
		/* Packets that the last resort could not pass either are not written: their
		 * doorbell will ring. The holder alone may store this: a later request's pass sets
		 * it again. */
		atomic_store_explicit(&gate->is_ahead,
				      gate_index_is_behind(gate) &&
					      (!was_asked || gate->passes_unreserved),
				      memory_order_relaxed);
		atomic_fetch_add_explicit(&gate->passes, 1, memory_order_release);
		/* hold_leave is sequentially consistent: it orders these stores before the load of
		 * hsa_monitor_parked below, against park in hsa_monitor.c. */
	} while (!hold_leave(&gate->hold, &seen));
	if (seen & HOLD_CLOSED)
		return;
	if (published || gate_needs_monitor(gate))
		hsa_monitor_wake();
}

uint64_t gate_enter(struct gate *gate)
{
	uint64_t before = hold_request(&gate->hold, session_tid());

	if (!before)
		gate_work(gate);
	return before;
}

/* Whether the holder has dealt with the packet at INDEX. PASSES is gate->passes, read after this
 * thread's request: the pass that was then under way may have missed the packet, the next one has
 * not. What the holder has counted for this thread's call is visible then. */
static bool gate_has_answered(struct gate *gate, uint64_t index, uint32_t passes)
{
	return atomic_load_explicit(&gate->next, memory_order_acquire) > index ||
	       atomic_load_explicit(&gate->passes, memory_order_acquire) - passes >= 2 ||
	       !hold_thread(&gate->hold);
}

/* Sleeping also lets threads run that have a lower priority than this one, which sched_yield does
 * not. */
static void gate_let_others_run(uint64_t waited_ns)
{
	const struct timespec pause = {.tv_nsec = AWAIT_PAUSE_NS};

	if (waited_ns < AWAIT_YIELD_NS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}

/* Waits until the holder has dealt with the packet at INDEX, so that a launch that has returned is
 * in the trace even if the process is killed then. A holder that has lost its CPU gets this
 * thread's. Returns false when the holder has not done so within TIMER_GATE_ANSWER, or is the
 * interrupted thread itself. */
static bool gate_await(struct gate *gate, uint64_t index)
{
	uint32_t passes = atomic_load_explicit(&gate->passes, memory_order_relaxed);
	struct timer_limit limit;
	uint64_t begin_ns;

	for (int i = 0; i < AWAIT_SPINS; i++) {
		if (gate_has_answered(gate, index, passes))
			return true;
		__builtin_ia32_pause();
	}
	begin_ns = session_now_ns();
	limit = timer_start(TIMER_GATE_ANSWER);
	while (!gate_has_answered(gate, index, passes)) {
		if (gate_is_mine(gate) || timer_is_over(limit))
			return false;
		gate_let_others_run(session_now_ns() - begin_ns);
	}
	return true;
}

void gate_ring(struct gate *gate, uint64_t value)
{
	uint64_t announced = atomic_load_explicit(&gate->announced, memory_order_relaxed);
	uint64_t before;

	while (announced < value + 1 &&
	       !atomic_compare_exchange_weak_explicit(&gate->announced, &announced, value + 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
	atomic_fetch_add_explicit(&gate->rung, 1, memory_order_release);
	before = gate_enter(gate);
	if (!before || before & HOLD_CLOSED || !gate_is_tracing(gate) || gate_await(gate, value))
		return;
	/* Sequentially consistent: pairs with park in hsa_monitor.c. */
	atomic_store(&gate->is_awaited, 1);
	hsa_monitor_wake();
}

bool gate_try_hold(struct gate *gate)
{
	return hold_try(&gate->hold, session_tid());
}

void gate_leave(struct gate *gate)
{
	uint64_t alone = hold_of(session_tid());

	if (!hold_leave(&gate->hold, &alone))
		gate_work(gate);
}
