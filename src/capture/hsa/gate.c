/* The life of gates: holding, opening and closing them, and beginning and ending their recording.
 * The pass over a queue's packets is in gate_pass.c, the take-over of a stopped holder in
 * gate_resort.c. */
#include "capture/hsa/gate.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "capture/capture_session.h"
#include "capture/hsa/gate_pass.h"
#include "capture/hsa/gate_resort.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/monitor_state.h"
#include "capture/hsa/queue_mode.h"
#include "capture/hsa/serial.h"
#include "capture/hsa/untraced.h"

/* Completion slots of the smallest queue; a larger one has two for each packet of its ring. */
#define SLOTS_LEAST	    8192u
#define DRAIN_PAUSE_NS	    50000
#define DRAIN_PAUSE_MOST_NS 1000000
/* A thread that rang waits for the holder in three steps: spins, then yields, then sleeps. */
#define AWAIT_SPINS	    200
#define AWAIT_YIELD_NS	    1000000u
#define AWAIT_PAUSE_NS	    50000

/* Guards the search for an unused gate and its preparation, and the change of tracing_is_over. */
static pthread_mutex_t gates_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct gate *) newest;
static _Atomic uint32_t last_queue_id;
/* The counts of gates from before they were used again. */
static _Atomic uint64_t past_without_context;
static _Atomic uint64_t packets_cut;	 /* of this recording */
static _Atomic uint64_t past_unrecorded; /* of this recording */
static _Atomic bool tracing_is_over;

struct gate *gate_newest(void)
{
	return atomic_load_explicit(&newest, memory_order_acquire);
}

struct gate *gate_find(const hsa_queue_t *queue)
{
	struct object *entry = object_map_find(&object_map, (uint64_t)(uintptr_t)queue);

	return entry && entry->kind == OBJECT_QUEUE ? entry->owner : NULL;
}

struct gate *gate_of(const hsa_queue_t *queue)
{
	struct gate *gate = gate_find(queue);
	struct object *entry;

	if (__builtin_expect(gate != NULL, 1) || !queue)
		return gate;
	entry = object_map_find(&object_map, queue->doorbell_signal.handle);
	return entry && entry->kind == OBJECT_DOORBELL ? entry->owner : NULL;
}

/* ---- counting ---- */

static uint64_t count_get(const _Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

/* Returns how many packets the queue has passed on, by the runtime's own indices, as an independent
 * count to compare with the gate's. For an intercept queue the two indices are only bounds, while
 * packets are on their way through it. For another tool's intercept queue they say nothing, so
 * `next` is returned. */
static uint64_t index_read(const struct gate *gate)
{
	uint64_t next = count_get(&gate->next), first = count_get(&gate->traced_first);
	uint64_t read, written;

	if (gate->is_chained)
		return next;
	written = __atomic_load_n(&gate->queue->write_dispatch_id, __ATOMIC_ACQUIRE);
	/* Another tool moves the index before it rings. So does a gate that lets everything pass.
	 * The packets behind `next` are then not counted yet. */
	if (written > next && (atomic_load_explicit(&gate->is_foreign, memory_order_relaxed) ||
			       atomic_load_explicit(&gate->is_taken_over, memory_order_relaxed)))
		written = next;
	/* Less than FIRST: packets that were reserved before the recording have not passed yet. */
	if (gate_has_index(gate))
		return written > first ? written : first;
	read = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE);
	if (next > written)
		return written;
	return next < read ? read : next;
}

/* The same for any state of the gate. While the gate closes, its queue may be destroyed at any
 * moment and must not be read. */
static uint64_t index_passed(const struct gate *gate)
{
	bool is_closing = atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_CLOSING;

	return is_closing ? count_get(&gate->closing_index) : index_read(gate);
}

static void write_count(struct gate *gate, bool destroyed)
{
	struct record_queue_count count = {
		.ns = session_now_ns(),
		.write_index = index_passed(gate) - count_get(&gate->traced_first),
		.dispatches = count_get(&gate->dispatches),
		.barriers = count_get(&gate->barriers),
		.others = count_get(&gate->others),
		.destroyed = destroyed,
	};

	writer_put(session_writer(), RECORD_QUEUE_COUNT, gate->queue_id, &count, sizeof(count));
}

/* Call while the queue exists. Writes nothing for an intercept queue: its indices are the proxy's
 * and do not say what the device has taken. */
static void write_taken(struct gate *gate)
{
	struct record_queue_taken record = {.ns = session_now_ns()};

	if (!gate_has_index(gate))
		return;
	record.taken = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE);
	if (count_get(&gate->recorded_taken) == record.taken + 1)
		return;
	atomic_store_explicit(&gate->recorded_taken, record.taken + 1, memory_order_relaxed);
	writer_put(session_writer(), RECORD_QUEUE_TAKEN, gate->queue_id, &record, sizeof(record));
}

/* Counts the packets that are reserved when GATE ends recording and are not recorded: a packet that
 * its thread has not written yet, and all packets behind it. For another tool's intercept queue
 * their number is unknown and taken as 0. */
static void count_cut(const struct gate *gate)
{
	uint64_t next = count_get(&gate->next), first = count_get(&gate->traced_first);
	uint64_t reserved = count_get(&gate->virtual_index);
	uint64_t written = __atomic_load_n(&gate->queue->write_dispatch_id, __ATOMIC_ACQUIRE);

	if (!gate_has_index(gate))
		reserved = gate->is_chained ? next : written;
	if (gate_has_index(gate) && reserved < written)
		reserved = written;
	if (next < first)
		next = first;
	if (reserved > next)
		atomic_fetch_add_explicit(&packets_cut, reserved - next, memory_order_relaxed);
}

uint64_t gates_packets_cut(void)
{
	return count_get(&packets_cut);
}

uint64_t gates_packets_unrecorded(void)
{
	uint64_t count = count_get(&past_unrecorded);

	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		count += count_get(&gate->unrecorded);
	return count;
}

/* ---- changing ---- */

/* Writes the QUEUE record once in each session, whichever thread comes first. */
static void write_queue(struct gate *gate)
{
	uint32_t session = session_current_number();
	struct record_queue record = {.ns = session_now_ns(),
				      .handle = (uint64_t)(uintptr_t)gate->queue,
				      .agent = gate->agent.handle,
				      .size = gate->queue->hsa_queue.size,
				      .mode = gate->mode};

	if (atomic_exchange_explicit(&gate->announced_in, session, memory_order_relaxed) != session)
		writer_put(session_writer(), RECORD_QUEUE, gate->queue_id, &record, sizeof(record));
}

/* Called by the holder. Packets that are reserved by now pass unrecorded when their doorbell rings.
 * On an intercept queue the packets that have not been handed on yet are recorded. */
static void gate_begin_recording(struct gate *gate)
{
	uint64_t first;

	gate_follow_index(gate);
	first = count_get(&gate->virtual_index);
	if (!gate_has_index(gate)) {
		first = count_get(&gate->next) + atomic_exchange(&gate->handed_on, 0);
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
	write_queue(gate);
	atomic_store_explicit(&gate->is_tracing, true, memory_order_release);
}

static void gate_end_recording(struct gate *gate)
{
	uint64_t next = count_get(&gate->next), first = count_get(&gate->traced_first);

	/* Done already: by the monitor when it took the gate over, or by gate_stop_tracing. */
	if (!gate_is_tracing(gate))
		return;
	count_cut(gate);
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
		write_count(gate, false);
		gate_end_recording(gate);
		serial_leave(gate);
	}
	atomic_store_explicit(&gate->change, GATE_STAYS, memory_order_release);
}

/* ---- holding ---- */

bool gate_is_mine(const struct gate *gate)
{
	return hold_thread(&gate->hold) == session_tid();
}

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
		atomic_fetch_add_explicit(&gate->passes, 1, memory_order_relaxed);
		/* hold_leave is sequentially consistent: it orders these stores before the load of
		 * hsa_monitor_parked below, against park in hsa_monitor.c. */
	} while (!hold_leave(&gate->hold, &seen));
	if (seen & HOLD_CLOSED)
		return;
	if (published || gate_needs_monitor(gate))
		hsa_monitor_wake();
}

/* Requests the gate, and does the work if it was free. Returns hold_request's result: 0 means that
 * the work is done. */
static uint64_t gate_enter(struct gate *gate)
{
	uint64_t before = hold_request(&gate->hold, session_tid());

	if (!before)
		gate_work(gate);
	return before;
}

/* Whether the holder has dealt with the packet at INDEX. PASSES is gate->passes, read after this
 * thread's request: the pass that was then under way may have missed the packet, the next one has
 * not. */
static bool gate_has_answered(struct gate *gate, uint64_t index, uint32_t passes)
{
	return atomic_load_explicit(&gate->next, memory_order_relaxed) > index ||
	       atomic_load_explicit(&gate->passes, memory_order_relaxed) - passes >= 2 ||
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

void gate_retry(struct gate *gate)
{
	if (atomic_load_explicit(&gate->has_unpublished, memory_order_relaxed))
		gate_enter(gate);
	gate_resort(gate);
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

/* ---- tracing ---- */

void gate_count(struct gate *gate)
{
	if (atomic_load_explicit(&gate->state, memory_order_acquire) != GATE_LIVE ||
	    !gate_try_hold(gate))
		return;
	if (gate_is_tracing(gate)) {
		write_count(gate, false);
		write_taken(gate);
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
		write_taken(gate);
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
	uint64_t reserved = count_get(&gate->virtual_index);

	while (gate_has_index(gate) && gate_is_tracing(gate) &&
	       atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE &&
	       count_get(&gate->next) < reserved && !timer_is_over(limit))
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
	write_count(gate, false);
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
	atomic_store_explicit(&packets_cut, 0, memory_order_relaxed);
	atomic_store_explicit(&past_unrecorded, 0, memory_order_relaxed);
	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		if (atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE &&
		    !gate_is_tracing(gate))
			gate_request(gate, GATE_STARTS, limit);
	}
	pthread_mutex_unlock(&gates_lock);
}

uint64_t gate_dispatches_without_context(void)
{
	uint64_t count = count_get(&past_without_context);

	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		count += count_get(&gate->without_context);
	return count;
}

uint64_t gate_reservations_lost(void)
{
	uint64_t count = 0;

	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		count += count_get(&gate->reservations.lost);
	return count;
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
	if (gate) {
		gate->older = gate_newest();
		atomic_store_explicit(&newest, gate, memory_order_release);
	}
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
	atomic_fetch_add_explicit(&past_unrecorded, atomic_exchange(&gate->unrecorded, 0),
				  memory_order_relaxed);
	atomic_store_explicit(&gate->has_unpublished, 0, memory_order_relaxed);
	gate_resort_prepare(gate, index);
	atomic_store_explicit(&gate->virtual_index, index, memory_order_relaxed);
	atomic_store_explicit(&gate->next, index, memory_order_relaxed);
	atomic_store_explicit(&gate->dispatches, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->barriers, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->others, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->handed_on, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->left, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&past_without_context, atomic_exchange(&gate->without_context, 0),
				  memory_order_relaxed);
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
	write_queue(gate);
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
	atomic_store_explicit(&gate->closing_index, index_read(gate), memory_order_relaxed);
	gate->is_stuck = !gate_shut(gate);
	atomic_store_explicit(&gate->closing_index, index_read(gate), memory_order_relaxed);
	serial_leave(gate);
	if (gate_is_tracing(gate) && !slot_ring_is_empty(gate->slots))
		write_taken(gate);
	slot_ring_stop_making(gate->slots);
	slot_ring_give_up(gate->slots, cause);
	if (gate_is_tracing(gate)) {
		write_count(gate, true);
		count_cut(gate);
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
