/* The monitor's half of the last resort; the protocol is described in the header. */
#include "capture/hsa/gate_resort.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/hsa/gate_hold.h"
#include "capture/hsa/gate_pass.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/serial.h"

void gate_resort_prepare(struct gate *gate, uint64_t index)
{
	atomic_store_explicit(&gate->at, index, memory_order_relaxed);
	atomic_store_explicit(&gate->preparing, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->storing, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->is_taken_over, false, memory_order_relaxed);
	atomic_store_explicit(&gate->is_awaited, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->is_ahead, 0, memory_order_relaxed);
	gate->passes_unreserved = false;
	gate->holder = gate->index = (struct gate_patience){0};
}

/* Returns whether the state that SEEN, which is not 0, stands for has lasted for TIMER_GATE_STUCK.
 * Starts the wait anew when SEEN has changed. */
static bool patience_is_over(struct gate_patience *patience, uint64_t seen)
{
	if (patience->seen == seen)
		return timer_is_over(patience->limit);
	patience->seen = seen;
	patience->limit = timer_start(TIMER_GATE_STUCK);
	return false;
}

/* ---- a holder that is stopped ---- */

/* A full memory barrier in every thread of the process. Afterwards the old holder sees that it does
 * not hold the gate any more, or its store of `storing` is visible here. The expedited
 * command needs the process's registration (record/chunk_supply.c) and a newer kernel; otherwise
 * the global one does the same, slower. */
static void pass_all_threads(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* A value that changes when the holder makes progress: with its thread, the passes or `at`. Never
 * 0. */
static uint64_t holder_progress(const struct gate *gate, uint32_t tid)
{
	return ((uint64_t)tid << 32 ^ (uint64_t)gate->passes << 20 ^
		atomic_load_explicit(&gate->at, memory_order_relaxed)) |
	       1;
}

/* If the holder has reserved the record of the packet at AT, counts that packet and returns the
 * next index: the holder will commit the record when it runs again. Until then the trace holds a
 * record that is cut off while being written. */
static uint64_t count_prepared(struct gate *gate, uint64_t at)
{
	uint32_t type = atomic_exchange(&gate->preparing, 0);

	if (!type)
		return at;
	atomic_fetch_add_explicit(type == RECORD_DISPATCH ? &gate->dispatches : &gate->barriers, 1,
				  memory_order_relaxed);
	return at + 1;
}

/* The monitor holds the gate now, and the old holder has no stores under way. */
static void take_over(struct gate *gate)
{
	uint64_t at = count_prepared(gate, atomic_load_explicit(&gate->at, memory_order_relaxed));

	if (gate->turn)
		serial_leave(gate);
	pass_publish_counted(gate, at);
	atomic_store_explicit(&gate->is_taken_over, true, memory_order_relaxed);
	atomic_store_explicit(&gate->is_awaited, 0, memory_order_relaxed);
	session_note("a thread was stopped while it looked at a queue's packets: "
		     "those behind it are not recorded");
	gate_work(gate);
}

static void check_holder(struct gate *gate)
{
	uint32_t holder = hold_thread(&gate->hold), self = session_tid();

	if (!holder) {
		gate->holder.seen = 0;
		/* A thread may have taken the gate since, and another one may have waited for it.
		 * The exchange then reads the waiting thread's store (gate_ring), and the load
		 * after it sees the new holder, as that thread did. */
		if (atomic_exchange(&gate->is_awaited, 0) && hold_thread(&gate->hold))
			atomic_store(&gate->is_awaited, 1);
		return;
	}
	if (holder != self) {
		if (!patience_is_over(&gate->holder, holder_progress(gate, holder)) ||
		    atomic_load(&gate->storing) || !hold_take_from(&gate->hold, holder, self))
			return;
		pass_all_threads();
	}
	/* Otherwise the old holder has just begun its stores: the monitor, which holds the gate
	 * now, looks again at its next turn (the branch above is then skipped). */
	if (!atomic_load_explicit(&gate->storing, memory_order_acquire))
		take_over(gate);
}

/* ---- an index that is behind ---- */

static void check_index(struct gate *gate)
{
	uint64_t announced = atomic_load_explicit(&gate->announced, memory_order_relaxed);

	if (!patience_is_over(&gate->index, announced) || !gate_try_hold(gate))
		return;
	gate->passes_unreserved = true;
	gate->index.seen = 0;
	gate_work(gate);
}

void gate_retry(struct gate *gate)
{
	bool is_live;

	if (atomic_load_explicit(&gate->has_unpublished, memory_order_relaxed))
		gate_enter(gate);
	is_live = atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE;
	if (is_live && atomic_load_explicit(&gate->is_awaited, memory_order_relaxed))
		check_holder(gate);
	if (is_live && atomic_load_explicit(&gate->is_ahead, memory_order_relaxed))
		check_index(gate);
}
