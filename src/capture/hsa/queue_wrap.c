/* The wrappers of the functions that create and destroy queues, switch profiling, and read or move
 * a queue's write index. For a queue with a gate the write index is the gate's virtual one. */
#include "capture/hsa/queue_wrap.h"

#include <pthread.h>

#include "capture/capture_session.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_faults.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"
#include "capture/hsa/intercepted.h"
#include "capture/hsa/outside.h"
#include "capture/hsa/queue_mode.h"
#include "capture/hsa/untraced.h"

/* Guards the users of queues (struct gate, references). A cooperative queue is handed out several
 * times: finding its gate, counting a user and opening the gate are one step. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

bool queue_is_followed(void)
{
	return hsa_is_live() && session_may_record();
}

void queue_opened(hsa_queue_t *queue, hsa_agent_t agent, enum record_queue_mode mode)
{
	struct gate *gate;
	int err = 0;

	pthread_mutex_lock(&open_lock);
	gate = gate_find(queue);
	if (gate)
		gate->references++;
	else if (mode == RECORD_QUEUE_INTERCEPT)
		err = intercepted_open(queue, agent, false);
	else
		err = gate_open(queue, agent, (struct gate_kind){.mode = mode}, &gate);
	pthread_mutex_unlock(&open_lock);
	if (err)
		session_note("no memory for a queue: its packets are not seen");
}

/* A cooperative queue may already have a gate, from when recording was possible. */
void queue_made_late(hsa_queue_t *queue, bool is_proxy)
{
	struct gate *gate;

	if (!hsa_is_live())
		return;
	pthread_mutex_lock(&open_lock);
	gate = gate_find(queue);
	if (gate)
		gate->references++;
	pthread_mutex_unlock(&open_lock);
	if (!gate)
		untraced_queue_made(queue, is_proxy);
}

/* Creates the queue by the runtime's function for MODE. */
static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_segment_size, uint32_t group_segment_size,
				 hsa_queue_t **queue, enum record_queue_mode mode)
{
	if (mode == RECORD_QUEUE_INTERCEPT)
		return hsa_next.hsa_amd_queue_intercept_create(agent, size, type, callback, data,
							       private_segment_size,
							       group_segment_size, queue);
	return hsa_next.hsa_queue_create(agent, size, type, callback, data, private_segment_size,
					 group_segment_size, queue);
}

hsa_status_t wrap_hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				   void (*callback)(hsa_status_t, hsa_queue_t *, void *),
				   void *data, uint32_t private_segment_size,
				   uint32_t group_segment_size, hsa_queue_t **queue)
{
	enum record_queue_mode mode =
		queue_is_followed() ? queue_mode_choose(type) : RECORD_QUEUE_UNKNOWN;
	struct queue_errors *errors = faults_route(callback, data);
	hsa_status_t status;

	if (errors)
		status = queue_create(agent, size, type, faults_queue_error, errors,
				      private_segment_size, group_segment_size, queue, mode);
	else
		status = queue_create(agent, size, type, callback, data, private_segment_size,
				      group_segment_size, queue, mode);
	faults_routed(errors, status == HSA_STATUS_SUCCESS ? *queue : NULL);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (mode == RECORD_QUEUE_UNKNOWN) {
		queue_made_late(*queue, false);
		return status;
	}
	outside_wrap();
	/* Without profiling the device writes no ticks. */
	if (mode != RECORD_QUEUE_OBSERVE && hsa_next.hsa_amd_profiling_set_profiler_enabled)
		hsa_next.hsa_amd_profiling_set_profiler_enabled(*queue, 1);
	queue_opened(*queue, agent, mode);
	return status;
}

/* Another tool creates an intercept queue. Our handler is registered before that tool can register
 * its own, so it runs last and sees what goes to the device. */
hsa_status_t wrap_hsa_amd_queue_intercept_create(
	hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue)
{
	hsa_status_t status = hsa_next.hsa_amd_queue_intercept_create(
		agent_handle, size, type, callback, data, private_segment_size, group_segment_size,
		queue);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!queue_is_followed()) {
		queue_made_late(*queue, true);
		return status;
	}
	if (hsa_next.hsa_amd_profiling_set_profiler_enabled)
		hsa_next.hsa_amd_profiling_set_profiler_enabled(*queue, 1);
	pthread_mutex_lock(&open_lock);
	if (intercepted_open(*queue, agent_handle, true))
		session_note(
			"another tool's queue cannot be intercepted: its packets are not seen");
	pthread_mutex_unlock(&open_lock);
	return status;
}

/* Removes one user of QUEUE. Returns the gate to close, or NULL when the queue has none or other
 * users are left. */
static struct gate *queue_last_user(hsa_queue_t *queue)
{
	struct gate *gate = NULL;

	if (!hsa_is_live())
		return NULL;
	pthread_mutex_lock(&open_lock);
	gate = gate_of(queue);
	if (gate && --gate->references)
		gate = NULL;
	pthread_mutex_unlock(&open_lock);
	return gate;
}

hsa_status_t wrap_hsa_queue_destroy(hsa_queue_t *queue)
{
	struct gate *gate = queue ? queue_last_user(queue) : NULL;
	hsa_status_t status;

	if (!gate) {
		if (hsa_is_live())
			untraced_queue_goes(queue);
		return hsa_next.hsa_queue_destroy(queue);
	}
	gate_drain(gate, timer_start(TIMER_QUEUE_DRAIN));
	gate_close(gate, RECORD_UNTIMED_QUEUE_DESTROYED);
	faults_queue_goes(queue);
	status = hsa_next.hsa_queue_destroy(queue);
	gate_reuse(gate, false);
	return status;
}

/* Profiling stays on for queues that are timed: without it the device writes no ticks, and the
 * application cannot see that it is on. */
hsa_status_t wrap_hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
	const struct gate *gate = queue_is_followed() ? gate_of(queue) : NULL;

	if (gate && gate->mode != RECORD_QUEUE_OBSERVE)
		enable = 1;
	return hsa_next.hsa_amd_profiling_set_profiler_enabled(queue, enable);
}

hsa_status_t wrap_hsa_amd_profiling_async_copy_enable(bool enable)
{
	return hsa_next.hsa_amd_profiling_async_copy_enable(enable || queue_is_followed());
}

/* ---- the virtual write index ---- */

static struct gate *index_gate(const hsa_queue_t *queue)
{
	return hsa_is_live() ? gate_of(queue) : NULL;
}

/* Returns GATE if the application's write index is its virtual one. NULL: the application uses the
 * queue's own index. */
static struct gate *index_owner(struct gate *gate)
{
	return gate && gate_has_index(gate) ? gate : NULL;
}

/* The calling thread has reserved COUNT packets from FIRST. GATE may be NULL. */
static void reserved(struct gate *gate, uint64_t first, uint64_t count)
{
	if (gate && count && gate_is_tracing(gate))
		reservations_put(&gate->reservations, first, count);
}

static uint64_t index_load(const struct gate *gate)
{
	return atomic_load_explicit(&gate->virtual_index, memory_order_acquire);
}

static uint64_t index_add(struct gate *gate, uint64_t count)
{
	uint64_t first =
		atomic_fetch_add_explicit(&gate->virtual_index, count, memory_order_acq_rel);

	reserved(gate, first, count);
	return first;
}

static uint64_t index_cas(struct gate *gate, uint64_t expected, uint64_t value)
{
	uint64_t first = expected;

	if (atomic_compare_exchange_strong_explicit(&gate->virtual_index, &expected, value,
						    memory_order_acq_rel, memory_order_acquire) &&
	    value > first)
		reserved(gate, first, value - first);
	return expected;
}

static void index_store(struct gate *gate, uint64_t value)
{
	uint64_t first =
		atomic_exchange_explicit(&gate->virtual_index, value, memory_order_acq_rel);

	if (value > first)
		reserved(gate, first, value - first);
}

/* The virtual index has one memory order for all of HSA's variants, at least as strong as each of
 * them asks for: on the host they cost the same. */
#define WRAP_LOAD(order)                                                                           \
	uint64_t wrap_hsa_queue_load_write_index_##order(const hsa_queue_t *queue)                 \
	{                                                                                          \
		struct gate *gate = index_owner(index_gate(queue));                                \
                                                                                                   \
		return gate ? index_load(gate)                                                     \
			    : hsa_next.hsa_queue_load_write_index_##order(queue);                  \
	}

#define WRAP_STORE(order)                                                                          \
	void wrap_hsa_queue_store_write_index_##order(const hsa_queue_t *queue, uint64_t value)    \
	{                                                                                          \
		struct gate *gate = index_gate(queue);                                             \
		uint64_t first;                                                                    \
                                                                                                   \
		if (index_owner(gate)) {                                                           \
			index_store(gate, value);                                                  \
			return;                                                                    \
		}                                                                                  \
		first = hsa_next.hsa_queue_load_write_index_relaxed(queue);                        \
		hsa_next.hsa_queue_store_write_index_##order(queue, value);                        \
		if (value > first)                                                                 \
			reserved(gate, first, value - first);                                      \
	}

#define WRAP_CAS(order)                                                                            \
	uint64_t wrap_hsa_queue_cas_write_index_##order(const hsa_queue_t *queue,                  \
							uint64_t expected, uint64_t value)         \
	{                                                                                          \
		struct gate *gate = index_gate(queue);                                             \
		uint64_t first;                                                                    \
                                                                                                   \
		if (index_owner(gate))                                                             \
			return index_cas(gate, expected, value);                                   \
		first = hsa_next.hsa_queue_cas_write_index_##order(queue, expected, value);        \
		if (first == expected && value > first)                                            \
			reserved(gate, first, value - first);                                      \
		return first;                                                                      \
	}

#define WRAP_ADD(order)                                                                            \
	uint64_t wrap_hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value)  \
	{                                                                                          \
		struct gate *gate = index_gate(queue);                                             \
		uint64_t first;                                                                    \
                                                                                                   \
		if (index_owner(gate))                                                             \
			return index_add(gate, value);                                             \
		first = hsa_next.hsa_queue_add_write_index_##order(queue, value);                  \
		reserved(gate, first, value);                                                      \
		return first;                                                                      \
	}

WRAP_LOAD(scacquire)
WRAP_LOAD(relaxed)
WRAP_STORE(relaxed)
WRAP_STORE(screlease)
WRAP_CAS(scacq_screl)
WRAP_CAS(scacquire)
WRAP_CAS(relaxed)
WRAP_CAS(screlease)
WRAP_ADD(scacq_screl)
WRAP_ADD(scacquire)
WRAP_ADD(relaxed)
WRAP_ADD(screlease)
