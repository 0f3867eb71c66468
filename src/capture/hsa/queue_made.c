/* The wrappers of newer calls that create queues: several queues at once by description, and
 * counted queues.
 *
 * A counted queue is a handle of one of a few hardware queues. No call hands these out, and they
 * live until the runtime ends. A handle has the ring and the doorbell of its hardware queue, and
 * index words of its own that are not used. The gate is the hardware queue's and is found by the
 * doorbell (gate_of), so nothing is to be done when a handle is released. */
#include <pthread.h>
#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/hsa/doorbell.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_faults.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"
#include "capture/hsa/outside.h"
#include "capture/hsa/queue_mode.h"
#include "capture/hsa/queue_wrap.h"

/* ---- queues by description ---- */

/* Takes QUEUE, which the runtime has created, under a gate. */
static void follow(hsa_queue_t *queue, hsa_agent_t agent, hsa_queue_type32_t type)
{
	enum record_queue_mode mode;

	if (!queue_is_followed()) {
		queue_made_late(queue, false);
		return;
	}
	mode = queue_mode_choose_made(type);
	outside_wrap();
	if (mode != RECORD_QUEUE_OBSERVE && hsa_next.hsa_amd_profiling_set_profiler_enabled)
		hsa_next.hsa_amd_profiling_set_profiler_enabled(queue, 1);
	queue_opened(queue, agent, mode);
}

/* A copy engine's queue has no AQL packets, and no index tells how many commands there are.
 * unknown_queues.h counts its doorbells. */
static void note_engine_queue(void)
{
	static atomic_flag is_said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&is_said))
		session_note("the program has made a queue of a copy engine: "
			     "copies that it submits there itself are not recorded");
}

static bool is_known(const hsa_amd_queue_create_desc_t *desc)
{
	return desc->version == HSA_AMD_QUEUE_CREATE_DESC_VERSION;
}

/* The program's callback of one queue, which the tool's replaces in the description during the
 * call. */
struct routed {
	struct queue_errors *errors; /* NULL: the description is unchanged */
	queue_error_fn *callback;
	void *data;
};

/* Puts the tool's callbacks into DESCS. Returns what end_routing needs, or NULL when there is no
 * memory or COUNT is 0; errors of the queues are then not recorded. */
static struct routed *route_errors(hsa_amd_queue_create_desc_t *descs, uint32_t count)
{
	struct routed *routes = count ? calloc(count, sizeof(*routes)) : NULL;

	for (uint32_t i = 0; routes && i < count; i++) {
		if (!is_known(&descs[i]) || descs[i].engine_type != HSA_AMD_QUEUE_ENGINE_COMPUTE)
			continue;
		routes[i] = (struct routed){
			.errors = faults_route(descs[i].callback, descs[i].callback_data),
			.callback = descs[i].callback,
			.data = descs[i].callback_data,
		};
		if (!routes[i].errors)
			continue;
		descs[i].callback = faults_queue_error;
		descs[i].callback_data = routes[i].errors;
	}
	return routes;
}

/* Puts the program's callbacks back into DESCS, after the call, and frees ROUTES. */
static void end_routing(hsa_amd_queue_create_desc_t *descs, uint32_t count, struct routed *routes)
{
	for (uint32_t i = 0; routes && i < count; i++) {
		if (!routes[i].errors)
			continue;
		descs[i].callback = routes[i].callback;
		descs[i].callback_data = routes[i].data;
		faults_routed(routes[i].errors, descs[i].queue);
	}
	free(routes);
}

/* A call that fails may have created some of the queues: those whose `queue` it has set. */
hsa_status_t wrap_hsa_amd_queue_create(hsa_agent_t agent, hsa_amd_queue_create_desc_t *descs,
				       uint32_t num_descs)
{
	/* The size of a description depends on its version, so an array of an unknown version
	 * cannot be walked. */
	uint32_t count = descs && num_descs && is_known(descs) ? num_descs : 0;
	struct routed *routes = route_errors(descs, count);
	hsa_status_t status;

	for (uint32_t i = 0; i < count; i++)
		descs[i].queue = NULL;
	status = hsa_next.hsa_amd_queue_create(agent, descs, num_descs);
	end_routing(descs, count, routes);
	for (uint32_t i = 0; i < count; i++) {
		if (!descs[i].queue || !is_known(&descs[i]))
			continue;
		if (descs[i].engine_type == HSA_AMD_QUEUE_ENGINE_COMPUTE)
			follow(descs[i].queue, agent, descs[i].engine.compute.type);
		else
			note_engine_queue();
	}
	return status;
}

/* ---- counted queues ---- */

/* Finding a hardware queue's gate and opening one are one step. */
static pthread_mutex_t counted_lock = PTHREAD_MUTEX_INITIALIZER;

/* Takes the hardware queue under a gate, if it has none. Returns false when it has been used
 * without a gate, by handles whose users would go on without it. Called under counted_lock. */
static bool hardware_follow(hsa_queue_t *hardware, hsa_agent_t agent)
{
	if (gate_find(hardware))
		return true;
	if (queue_is_followed() && hsa_next.hsa_queue_load_write_index_scacquire(hardware))
		return false;
	follow(hardware, agent, HSA_QUEUE_TYPE_MULTI);
	return true;
}

static void handle_acquired(const hsa_queue_t *handle, hsa_agent_t agent)
{
	amd_queue_t *hardware = doorbell_queue(handle->doorbell_signal);
	bool is_followed = false;

	pthread_mutex_lock(&counted_lock);
	if (hardware && hardware->hsa_queue.base_address == handle->base_address)
		is_followed = hardware_follow(&hardware->hsa_queue, agent);
	pthread_mutex_unlock(&counted_lock);
	if (!is_followed)
		session_note("a counted queue cannot be followed: its packets are not recorded");
}

hsa_status_t wrap_hsa_amd_counted_queue_acquire(hsa_agent_t agent, hsa_queue_type_t type,
						hsa_amd_queue_priority_t priority,
						void (*callback)(hsa_status_t status,
								 hsa_queue_t *source, void *data),
						void *data, uint64_t flags, hsa_queue_t **queue)
{
	hsa_status_t status = hsa_next.hsa_amd_counted_queue_acquire(agent, type, priority,
								     callback, data, flags, queue);

	if (status == HSA_STATUS_SUCCESS && hsa_is_live())
		handle_acquired(*queue, agent);
	return status;
}
