/* Counts of packets that were recorded and not taken, or taken and not recorded, by the queues'
 * indices: of queues with a gate, and of "late" queues, which were created after recording had
 * ended for good. */
#include "capture/hsa/untraced.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/timer.h"
#include "capture/hsa/gate_hold.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_calls.h"

/* The counts of queues that are gone. */
static _Atomic uint64_t past_waiting, past_packets;

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static uint64_t taken_of(const amd_queue_t *queue)
{
	return __atomic_load_n(&queue->read_dispatch_id, __ATOMIC_ACQUIRE);
}

static uint64_t above(uint64_t index, uint64_t floor)
{
	return index > floor ? index - floor : 0;
}

/* ---- queues with a gate ---- */

/* Reads the index up to which the device has taken the gate's packets. The gate is held meanwhile,
 * so the queue is not destroyed. Returns false when another thread holds the gate, or it is
 * closed. */
static bool gate_taken(struct gate *gate, uint64_t *ret_index)
{
	bool is_live;

	if (!gate_try_hold(gate))
		return false;
	is_live = atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE;
	if (is_live)
		*ret_index = taken_of(gate->queue);
	gate_leave(gate);
	return is_live;
}

/* Returns the index of the first packet that is not recorded. */
static uint64_t gate_recorded(const struct gate *gate)
{
	return atomic_load_explicit(&gate->is_tracing, memory_order_acquire)
		       ? get(&gate->next)
		       : get(&gate->traced_end);
}

/* For an intercept queue nothing tells what the device has taken: one ring length of packets at
 * most waits in the real queue, and one more is on its way there. */
static uint64_t proxy_waiting(const struct gate *gate)
{
	uint64_t recorded = get(&gate->dispatches) + get(&gate->barriers) + get(&gate->others);
	uint64_t most = 2 * gate_ring_size(gate);

	return recorded < most ? recorded : most;
}

static uint64_t gate_waiting(struct gate *gate)
{
	uint64_t taken;

	if (!gate_has_index(gate))
		return proxy_waiting(gate);
	if (!gate_taken(gate, &taken))
		return gate_ring_size(gate);
	if (taken < get(&gate->traced_first))
		taken = get(&gate->traced_first);
	return above(gate_recorded(gate), taken);
}

/* Returns how many packets the device took unrecorded, before this recording began and after it
 * ended. */
static uint64_t gate_packets(struct gate *gate)
{
	uint64_t first = get(&gate->traced_first), passed = get(&gate->passed_first), taken;
	bool is_tracing = atomic_load_explicit(&gate->is_tracing, memory_order_acquire);

	if (!gate_has_index(gate))
		return get(&gate->handed_on) + above(first, passed);
	if (is_tracing && passed >= first)
		return 0;
	if (!gate_taken(gate, &taken))
		taken = get(&gate->virtual_index);
	return above(taken < first ? taken : first, passed) +
	       (is_tracing ? 0 : above(taken, gate_recorded(gate)));
}

/* Returns the index of the first packet that the device may count from now on. This is the packet
 * that the device took last, which it may not have counted yet. For an intercept queue nothing
 * tells what it has taken, so 0. For a gate that another thread holds all the time, the index of
 * when the last recording began is a lower bound. */
static uint64_t gate_passed(struct gate *gate)
{
	struct timer_limit limit;
	uint64_t taken;
	bool is_known;

	if (!gate_has_index(gate))
		return 0;
	limit = timer_start(TIMER_GATE_TAKEN);
	while (!(is_known = gate_taken(gate, &taken)) && !timer_is_over(limit))
		sched_yield();
	if (is_known)
		return above(taken, 1);
	/* Not `next`: a doorbell may cover more packets than the ring has room for. */
	return get(&gate->passed_first);
}

void untraced_begin(void)
{
	atomic_store_explicit(&past_waiting, 0, memory_order_relaxed);
	atomic_store_explicit(&past_packets, 0, memory_order_relaxed);
	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		if (atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_LIVE)
			atomic_store_explicit(&gate->passed_first, gate_passed(gate),
					      memory_order_relaxed);
	}
}

void untraced_gate_closes(struct gate *gate)
{
	atomic_store_explicit(&gate->left, gate_waiting(gate), memory_order_relaxed);
}

/* Until the gate is unused its packets are counted twice. So they are never left out. */
void untraced_gate_ends(struct gate *gate)
{
	atomic_fetch_add_explicit(&past_waiting, get(&gate->left), memory_order_relaxed);
	atomic_fetch_add_explicit(&past_packets, gate_packets(gate), memory_order_relaxed);
}

uint64_t untraced_waiting(void)
{
	uint64_t count = get(&past_waiting);

	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		uint32_t state = atomic_load_explicit(&gate->state, memory_order_acquire);

		if (state != GATE_UNUSED)
			count += state == GATE_LIVE ? gate_waiting(gate) : get(&gate->left);
	}
	return count;
}

/* ---- queues without a gate ---- */

/* A late queue. Written under late_lock. Never freed, only used again, because the runtime may be
 * calling its handler. */
struct late_queue {
	const hsa_queue_t *queue; /* NULL: unused */
	uint64_t first;		  /* index of the first packet that counts */
	uint32_t users;		  /* cooperative queues are handed out several times */
	bool is_proxy;		  /* an intercept queue whose packets `handed_on` counts */
	/* The doorbell's entry in object_map, so that it does not count as unknown; NULL: no
	 * memory. */
	struct object *doorbell;
	_Atomic uint64_t handed_on; /* packets; added to by the handler of an intercept queue */
	struct late_queue *older;   /* list of all late queues; constant */
};

static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;
/* Written under the lock; readers without it only ask whether there are any. */
static _Atomic(struct late_queue *) late_newest;

/* The wait is limited, because the process may be ending in a signal handler that interrupted the
 * thread that has the lock. */
static bool late_lock_take(void)
{
	return timer_lock(&late_lock, timer_start(TIMER_LATE_QUEUES));
}

static struct late_queue *late_find(const hsa_queue_t *queue)
{
	struct late_queue *late = atomic_load_explicit(&late_newest, memory_order_acquire);

	while (late && late->queue != queue)
		late = late->older;
	return late;
}

static struct late_queue *late_obtain(void)
{
	struct late_queue *late = late_find(NULL);

	if (late)
		return late;
	late = calloc(1, sizeof(*late));
	if (!late)
		return NULL;
	late->older = atomic_load_explicit(&late_newest, memory_order_relaxed);
	atomic_store_explicit(&late_newest, late, memory_order_release);
	return late;
}

/* The handler of a late intercept queue: counts the packets and hands them on unchanged. Called by
 * the runtime. */
static void count_handed_on(const void *packets, uint64_t count, uint64_t user_index, void *data,
			    hsa_amd_queue_intercept_packet_writer writer)
{
	struct late_queue *late = data;

	(void)user_index;
	atomic_fetch_add_explicit(&late->handed_on, count, memory_order_relaxed);
	writer(packets, count);
}

static bool late_watches(struct late_queue *late, hsa_queue_t *proxy)
{
	return hsa_next.hsa_amd_queue_intercept_register &&
	       hsa_next.hsa_amd_queue_intercept_register(proxy, count_handed_on, late) ==
		       HSA_STATUS_SUCCESS;
}

void untraced_queue_made(hsa_queue_t *queue, bool is_proxy)
{
	struct late_queue *late;

	if (!late_lock_take())
		return;
	late = late_find(queue);
	if (late) {
		late->users++;
	} else if ((late = late_obtain())) {
		late->queue = queue;
		late->users = 1;
		late->first = hsa_next.hsa_queue_load_write_index_relaxed(queue);
		atomic_store_explicit(&late->handed_on, 0, memory_order_relaxed);
		late->is_proxy = is_proxy && late_watches(late, queue);
		late->doorbell = object_map_put(&object_map, queue->doorbell_signal.handle,
						OBJECT_PASSED_DOORBELL, NULL, 0);
	}
	pthread_mutex_unlock(&late_lock);
}

static uint64_t late_packets(const struct late_queue *late, uint64_t index)
{
	return late->is_proxy ? get(&late->handed_on) : above(index, late->first);
}

static void late_goes(struct late_queue *late)
{
	uint64_t submitted = hsa_next.hsa_queue_load_write_index_scacquire(late->queue);

	atomic_fetch_add_explicit(&past_packets, late_packets(late, submitted),
				  memory_order_relaxed);
	if (late->doorbell)
		object_map_remove(late->doorbell);
	late->queue = NULL;
}

void untraced_queue_goes(const hsa_queue_t *queue)
{
	struct late_queue *late;

	if (!atomic_load_explicit(&late_newest, memory_order_relaxed) || !late_lock_take())
		return;
	late = late_find(queue);
	if (late && !--late->users)
		late_goes(late);
	pthread_mutex_unlock(&late_lock);
}

void untraced_queues_go(void)
{
	if (!atomic_load_explicit(&late_newest, memory_order_relaxed) || !late_lock_take())
		return;
	for (struct late_queue *late = late_newest; late; late = late->older) {
		if (late->queue)
			late_goes(late);
	}
	pthread_mutex_unlock(&late_lock);
}

static uint64_t late_queues_packets(void)
{
	uint64_t count = 0;

	if (!atomic_load_explicit(&late_newest, memory_order_relaxed) || !late_lock_take())
		return 0;
	for (struct late_queue *late = late_newest; late; late = late->older) {
		if (late->queue)
			count += late_packets(late, taken_of((const amd_queue_t *)late->queue));
	}
	pthread_mutex_unlock(&late_lock);
	return count;
}

uint64_t untraced_packets(void)
{
	/* Late queues first: one that goes meanwhile is in past_packets afterwards, so it may count
	 * twice but is not left out. */
	uint64_t count = late_queues_packets();

	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		if (atomic_load_explicit(&gate->state, memory_order_acquire) != GATE_UNUSED)
			count += gate_packets(gate);
	}
	return count + get(&past_packets);
}
