/* The life of gates: opening and closing them, and beginning and ending their recording. */
#include "capture/hsa/gate.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "capture/capture_session.h"
#include "capture/hsa/gate_counts.h"
#include "capture/hsa/gate_hold.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/gate_pass.h"
#include "capture/hsa/gate_resort.h"
#include "capture/hsa/monitor_state.h"
#include "capture/hsa/queue_mode.h"
#include "capture/hsa/serial.h"
#include "capture/hsa/untraced.h"

/* Completion slots of the smallest queue; a larger one has two for each packet of its ring. */
#define SLOTS_LEAST	    8192u
#define DRAIN_PAUSE_NS	    50000
#define DRAIN_PAUSE_MOST_NS 1000000

/* Guards the search for an unused gate and its preparation, and the change of tracing_is_over. */
static pthread_mutex_t gates_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t last_queue_id;
static _Atomic bool tracing_is_over;

/* ---- tracing ---- */

void gate_count(struct gate *gate)
{
	if (atomic_load_explicit(&gate->state, memory_order_acquire) != GATE_LIVE ||
	    !gate_try_hold(gate))
		return;
	if (gate_is_tracing(gate)) {
		gate_write_count(gate, false);
		gate_write_taken(gate);
	}
	gate_leave(gate);
}

static void gate_tell_taken(struct gate *gate)
{
	struct timer_limit limit = timer_start(TIMER_GATE_TAKEN);
	bool is_held;

	while (!(is_held = gate_try_hold(gate)) && !gate_is_mine(gate) &&
	       atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE &&
	       !timer_is_over(limit))
		sched_yield();
	if (!is_held)
		return;
	if (atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE)
		gate_write_taken(gate);
	gate_leave(gate);
}

void gates_tell_taken(void)
{
	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		gate_tell_taken(gate);
}

/* Asks for CHANGE and waits until LIMIT for the holder to do it; a thread that is stopped may hold
 * the gate. Returns whether the gate now records as CHANGE says. */
static bool gate_request(struct gate *gate, enum gate_change change, struct timer_limit limit)
{
	uint32_t wanted = change;

	atomic_store_explicit(&gate->change, change, memory_order_relaxed);
	gate_enter(gate);
	while (atomic_load_explicit(&gate->change, memory_order_acquire) == wanted &&
	       atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE &&
	       !gate_is_mine(gate) && !timer_is_over(limit))
		sched_yield();
	/* Withdraws the request; fails when the holder has done it. */
	atomic_compare_exchange_strong(&gate->change, &wanted, GATE_STAYS);
	return gate_is_tracing(gate) == (change == GATE_STARTS);
}

/* Waits until the thread that closes the gate has written the last count. Returns false at LIMIT,
 * or when this thread is a signal handler that has interrupted the closing thread to end the
 * program. */
static bool gate_await_counted(const struct gate *gate, struct timer_limit limit)
{
	while (!atomic_load_explicit(&gate->has_counted, memory_order_acquire)) {
		if (atomic_load_explicit(&gate->closer, memory_order_relaxed) == session_tid() ||
		    timer_is_over(limit))
			return false;
		sched_yield();
	}
	return true;
}

/* Waits until LIMIT for packets that are reserved and not written, because their thread may have
 * lost its CPU. The packets behind them wait in the gate, although their launches have returned. */
static void gate_await_written(const struct gate *gate, struct timer_limit limit)
{
	uint64_t reserved = gate_get(&gate->virtual_index);

	while (gate_has_index(gate) && gate_is_tracing(gate) &&
	       atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE &&
	       gate_get(&gate->next) < reserved && !timer_is_over(limit))
		sched_yield();
}

static void gate_stop_tracing(struct gate *gate, struct timer_limit limit)
{
	uint32_t state = atomic_load_explicit(&gate->state, memory_order_acquire);

	if (!gate_is_tracing(gate) || (state == GATE_LIVE && gate_request(gate, GATE_STOPS, limit)))
		return;
	state = atomic_load_explicit(&gate->state, memory_order_acquire);
	if (state == GATE_UNUSED || (state == GATE_CLOSING && gate_await_counted(gate, limit)))
		return;
	/* Could not take the gate. Its holder is interrupted or stopped, so its counters are stable
	 * and can be written. */
	gate_write_count(gate, false);
	if (state == GATE_LIVE)
		gate_end_recording(gate);
}

/* gates_lock is taken and released once: a queue that is being created either has its gate in the
 * list afterwards, or its thread sees tracing_is_over. The wait for the lock is limited, because a
 * signal handler that ends the program may have interrupted the thread that has it. */
void gates_stop_tracing(void)
{
	struct timer_limit written = timer_start(TIMER_GATE_WRITTEN);
	struct timer_limit held = timer_start(TIMER_GATE_HOLD);

	atomic_store(&tracing_is_over, true);
	if (timer_lock(&gates_lock, timer_start(TIMER_HSA_LOCK)))
		pthread_mutex_unlock(&gates_lock);
	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		gate_await_written(gate, written);
		gate_stop_tracing(gate, held);
	}
}

bool gates_are_tracing(void)
{
	return !atomic_load_explicit(&tracing_is_over, memory_order_relaxed);
}

void gates_start_tracing(void)
{
	struct timer_limit limit = timer_start(TIMER_GATE_HOLD);

	pthread_mutex_lock(&gates_lock);
	atomic_store(&tracing_is_over, false);
	gate_counts_begin();
	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		if (atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE &&
		    !gate_is_tracing(gate))
			gate_request(gate, GATE_STARTS, limit);
	}
	pthread_mutex_unlock(&gates_lock);
}

/* ---- opening ---- */

static int gate_make_room(struct gate *gate, uint64_t size)
{
	uint64_t slots = size * 2 > SLOTS_LEAST ? size * 2 : SLOTS_LEAST;

	if (reservations_init(&gate->reservations, size * 2) ||
	    slot_ring_create(slots, &gate->slots))
		return -ENOMEM;
	if (gate->mode != RECORD_QUEUE_INTERCEPT)
		return 0;
	gate->staging = calloc(size, sizeof(union packet));
	return gate->staging ? 0 : -ENOMEM;
}

static struct gate *gate_create(uint64_t size, enum record_queue_mode mode)
{
	struct gate *gate = aligned_alloc(64, sizeof(*gate));

	if (!gate)
		return NULL;
	*gate = (struct gate){.mode = mode};
	if (gate_make_room(gate, size)) {
		/* A ring of completion slots is never freed; without a gate it stays empty. */
		reservations_release(&gate->reservations);
		free(gate);
		return NULL;
	}
	return gate;
}

static bool gate_fits(struct gate *gate, uint64_t size, enum record_queue_mode mode)
{
	return atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_UNUSED &&
	       gate->mode == mode && gate->reservations.mask + 1 == size * 2;
}

/* Returns an unused gate that fits, or a new one. Called under gates_lock. */
static struct gate *gate_obtain(uint64_t size, enum record_queue_mode mode)
{
	struct gate *gate = gate_newest();

	while (gate && !gate_fits(gate, size, mode))
		gate = gate->older;
	if (gate)
		return gate;
	gate = gate_create(size, mode);
	if (gate)
		gate_list_add(gate);
	return gate;
}

static void gate_prepare(struct gate *gate, amd_queue_t *queue, hsa_agent_t agent, bool is_chained)
{
	uint64_t index = __atomic_load_n(&queue->write_dispatch_id, __ATOMIC_ACQUIRE);

	gate->queue = queue;
	gate->agent = agent;
	gate->queue_id = atomic_fetch_add(&last_queue_id, 1) + 1;
	gate->references = 1;
	gate->is_chained = is_chained;
	gate->turn = queue_mode_serialises() && gate_has_index(gate) ? serial_turn_of(agent) : NULL;
	atomic_store_explicit(&gate->is_tracing, !atomic_load(&tracing_is_over),
			      memory_order_relaxed);
	atomic_store_explicit(&gate->announced_in, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->recorded_taken, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->change, GATE_STAYS, memory_order_relaxed);
	atomic_store_explicit(&gate->has_counted, false, memory_order_relaxed);
	atomic_store_explicit(&gate->traced_first, index, memory_order_relaxed);
	atomic_store_explicit(&gate->passed_first, index, memory_order_relaxed);
	atomic_store_explicit(&gate->traced_end, index, memory_order_relaxed);
	atomic_store_explicit(&gate->closer, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->announced, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->rung, 0, memory_order_relaxed);
	gate->forwarded = 0;
	gate->published = index;
	gate->foreign_end = 0;
	atomic_store_explicit(&gate->is_foreign, false, memory_order_relaxed);
	atomic_store_explicit(&gate->has_unpublished, 0, memory_order_relaxed);
	gate_resort_prepare(gate, index);
	atomic_store_explicit(&gate->virtual_index, index, memory_order_relaxed);
	atomic_store_explicit(&gate->next, index, memory_order_relaxed);
	gate_counts_prepare(gate);
	gate->slots->tag = gate->queue_id;
	reservations_reset(&gate->reservations);
	if (gate->mode != RECORD_QUEUE_OBSERVE)
		slot_ring_make_signals(gate->slots);
	else
		slot_ring_stop_making(gate->slots);
	atomic_store_explicit(&gate->hold.word, 0, memory_order_release);
	atomic_store_explicit(&gate->state, GATE_LIVE, memory_order_release);
}

static int gate_publish(struct gate *gate)
{
	hsa_queue_t *queue = &gate->queue->hsa_queue;

	enum object_kind doorbell = gate_has_index(gate) ? OBJECT_DOORBELL : OBJECT_PASSED_DOORBELL;

	gate->doorbell_entry = NULL;
	gate->queue_entry =
		object_map_put(&object_map, (uint64_t)(uintptr_t)queue, OBJECT_QUEUE, gate, 0);
	if (gate->queue_entry)
		gate->doorbell_entry = object_map_put(&object_map, queue->doorbell_signal.handle,
						      doorbell, gate, 0);
	if (!gate->queue_entry || !gate->doorbell_entry) {
		gate_close(gate, RECORD_UNTIMED_QUEUE_DESTROYED);
		gate_reuse(gate, false);
		return -ENOMEM;
	}
	return 0;
}

int gate_open(hsa_queue_t *queue, hsa_agent_t agent, struct gate_kind kind, struct gate **ret_gate)
{
	struct gate *gate;
	int err;

	pthread_mutex_lock(&gates_lock);
	gate = gate_obtain(queue->size, kind.mode);
	if (gate)
		gate_prepare(gate, (amd_queue_t *)queue, agent, kind.is_chained);
	pthread_mutex_unlock(&gates_lock);
	if (!gate)
		return -ENOMEM;
	gate_write_queue(gate);
	err = gate_publish(gate);
	if (!err)
		*ret_gate = gate;
	return err;
}

/* ---- closing ---- */

/* After the end of tracing the gate does not wait for what is on the device, because without the
 * tool no thread would. On an intercept queue the program's own index says what has been handed
 * on. */
static bool gate_is_drained(struct gate *gate)
{
	uint64_t consumed = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE);

	if (!gate_is_tracing(gate))
		return true;
	if (!slot_ring_is_empty(gate->slots) || atomic_load(&gate->has_unpublished))
		return false;
	if (!gate_has_index(gate))
		return consumed >=
		       __atomic_load_n(&gate->queue->write_dispatch_id, __ATOMIC_ACQUIRE);
	return consumed >= atomic_load_explicit(&gate->next, memory_order_acquire);
}

void gate_drain(struct gate *gate, struct timer_limit limit)
{
	struct timespec pause = {.tv_nsec = DRAIN_PAUSE_NS};

	while (!gate_is_drained(gate) && !timer_is_over(limit)) {
		hsa_monitor_wake();
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < DRAIN_PAUSE_MOST_NS)
			pause.tv_nsec *= 2;
	}
}

/* Closes the lock and waits for the holder to leave. Returns false when it does not leave within
 * TIMER_GATE_HOLD, or is the interrupted thread itself. */
static bool gate_shut(struct gate *gate)
{
	struct timer_limit limit;

	atomic_store_explicit(&gate->closer, session_tid(), memory_order_relaxed);
	atomic_store_explicit(&gate->state, GATE_CLOSING, memory_order_release);
	if (!hold_close(&gate->hold))
		return true;
	limit = timer_start(TIMER_GATE_HOLD);
	while (hold_thread(&gate->hold)) {
		if (gate_is_mine(gate) || timer_is_over(limit))
			return false;
		sched_yield();
	}
	return true;
}

void gate_close(struct gate *gate, enum record_untimed cause)
{
	untraced_gate_closes(gate);
	atomic_store_explicit(&gate->closing_index, gate_index_read(gate), memory_order_relaxed);
	gate->is_stuck = !gate_shut(gate);
	atomic_store_explicit(&gate->closing_index, gate_index_read(gate), memory_order_relaxed);
	serial_leave(gate);
	if (gate_is_tracing(gate) && !slot_ring_is_empty(gate->slots))
		gate_write_taken(gate);
	slot_ring_stop_making(gate->slots);
	/* Who is at work in a stuck gate may be the thread that this one has interrupted. */
	slot_ring_give_up(gate->slots, cause,
			  gate->is_stuck ? timer_start_ns(0) : timer_start(TIMER_HSA_LOCK));
	if (gate_is_tracing(gate)) {
		gate_write_count(gate, true);
		gate_count_cut(gate);
	}
	atomic_store_explicit(&gate->has_counted, true, memory_order_release);
	/* Before the queue is destroyed: afterwards the runtime may give the same handles to
	 * another queue. */
	if (gate->queue_entry)
		object_map_remove(gate->queue_entry);
	if (gate->doorbell_entry)
		object_map_remove(gate->doorbell_entry);
}

void gate_reuse(struct gate *gate, bool runtime_is_gone)
{
	if (gate->is_stuck)
		return;
	slot_ring_end(gate->slots, runtime_is_gone);
	slot_ring_drop_signals(gate->slots, runtime_is_gone);
	untraced_gate_ends(gate);
	atomic_store_explicit(&gate->state, GATE_UNUSED, memory_order_release);
}
