/* The tool's handlers of memory faults and queue errors; see the header. */
#include "capture/hsa/hsa_faults.h"

#include <pthread.h>
#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_monitor.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"

#define HANDLERS_MOST 16

/* Written under the lock. Never freed, only used again, because the runtime's thread may be reading
 * one. */
struct queue_errors {
	queue_error_fn *callback;
	void *data;
	const hsa_queue_t *queue; /* NULL: not created yet, or gone */
	bool is_used;		  /* from faults_route until the queue is gone */
	struct queue_errors *older;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue_errors *newest; /* under the lock */

/* The program's handlers of system events, added under the lock. */
static struct {
	hsa_amd_system_event_callback_t callback;
	void *data;
} handlers[HANDLERS_MOST];
static uint32_t handler_count;

/* First waits, within TIMER_FAULT_LOOK, until the monitor has recorded what has ended by now. Then
 * writes how far the device has got with each queue, then RECORD. */
static void write_fault(uint32_t queue_id, struct record_fault *record)
{
	if (!session_is_on())
		return;
	hsa_monitor_await_look(timer_start(TIMER_FAULT_LOOK));
	gates_tell_taken();
	record->ns = session_now_ns();
	writer_put(session_writer(), RECORD_FAULT, queue_id, record, sizeof(*record));
}

/* ---- errors of queues ---- */

static struct queue_errors *errors_obtain(void)
{
	struct queue_errors *errors = newest;

	while (errors && errors->is_used)
		errors = errors->older;
	if (errors)
		return errors;
	errors = calloc(1, sizeof(*errors));
	if (errors) {
		errors->older = newest;
		newest = errors;
	}
	return errors;
}

struct queue_errors *faults_route(queue_error_fn *callback, void *data)
{
	struct queue_errors *errors;

	if (!hsa_is_live() || !session_may_record())
		return NULL;
	pthread_mutex_lock(&lock);
	errors = errors_obtain();
	if (errors) {
		errors->callback = callback;
		errors->data = data;
		errors->queue = NULL;
		errors->is_used = true;
	}
	pthread_mutex_unlock(&lock);
	return errors;
}

void faults_routed(struct queue_errors *errors, const hsa_queue_t *queue)
{
	if (!errors)
		return;
	pthread_mutex_lock(&lock);
	errors->queue = queue;
	errors->is_used = queue != NULL;
	pthread_mutex_unlock(&lock);
}

void faults_queue_goes(const hsa_queue_t *queue)
{
	struct queue_errors *errors;

	pthread_mutex_lock(&lock);
	for (errors = newest; errors && errors->queue != queue; errors = errors->older)
		;
	if (errors) {
		errors->queue = NULL;
		errors->is_used = false;
	}
	pthread_mutex_unlock(&lock);
}

void faults_queue_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	const struct queue_errors *errors = data;
	const struct gate *gate = hsa_is_live() ? gate_find(source) : NULL;
	struct record_fault record = {.agent = gate ? gate->agent.handle : 0,
				      .status = (uint32_t)status};

	write_fault(gate ? gate->queue_id : 0, &record);
	if (errors->callback)
		errors->callback(status, source, errors->data);
}

/* ---- memory faults ---- */

/* Calls the program's handlers. Returns success when one of them has accepted the event; otherwise
 * the runtime ends the process. */
static hsa_status_t call_handlers(const hsa_amd_event_t *event)
{
	hsa_status_t result = HSA_STATUS_ERROR;
	uint32_t count;

	pthread_mutex_lock(&lock);
	count = handler_count;
	pthread_mutex_unlock(&lock);
	/* Without the lock: handlers are only added while the runtime is open. */
	for (uint32_t i = 0; i < count; i++) {
		if (handlers[i].callback(event, handlers[i].data) == HSA_STATUS_SUCCESS)
			result = HSA_STATUS_SUCCESS;
	}
	return result;
}

static hsa_status_t handle_event(const hsa_amd_event_t *event, void *data)
{
	struct record_fault record = {0};

	(void)data;
	if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT) {
		record.agent = event->memory_fault.agent.handle;
		record.address = event->memory_fault.virtual_address;
		record.reason = event->memory_fault.fault_reason_mask;
		write_fault(0, &record);
	}
	return call_handlers(event);
}

/* The runtime has accepted our handler. Written when the runtime opens. */
static bool is_watching;

void faults_watch(void)
{
	pthread_mutex_lock(&lock);
	handler_count = 0;
	/* The queues from before the runtime was shut down are gone. */
	for (struct queue_errors *errors = newest; errors; errors = errors->older)
		errors->is_used = false;
	pthread_mutex_unlock(&lock);
	is_watching = hsa_next.hsa_amd_register_system_event_handler &&
		      hsa_next.hsa_amd_register_system_event_handler(handle_event, NULL) ==
			      HSA_STATUS_SUCCESS;
}

hsa_status_t wrap_hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback,
							void *data)
{
	bool is_ours;

	if (!is_watching || !callback)
		return hsa_next.hsa_amd_register_system_event_handler(callback, data);
	pthread_mutex_lock(&lock);
	is_ours = handler_count < HANDLERS_MOST;
	if (is_ours) {
		handlers[handler_count].callback = callback;
		handlers[handler_count++].data = data;
	}
	pthread_mutex_unlock(&lock);
	return is_ours ? HSA_STATUS_SUCCESS
		       : hsa_next.hsa_amd_register_system_event_handler(callback, data);
}
