/* CUDA calls: enters and leaves them in CUPTI's callbacks, and writes their records; see
 * cuda_calls.h. */
#include "capture/cuda/cuda_calls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/cuda/cuda_args.h"
#include "capture/cuda/cuda_cid.h"
#include "capture/cuda/cuda_current.h"
#include "capture/cuda/cuda_graph_capture.h"
#include "capture/cuda/cuda_selection.h"
#include "capture/env.h"
#include "capture/frame.h"
#include "capture/scope.h"

#define NAME_BYTES     128
#define FUNCTION_COUNT (RECORD_CUDA_FUNCTION_END - RECORD_CUDA_FUNCTION_FIRST)

static struct call_counters counters;
static bool has_list; /* calls of the list alone are asked for; set before any callback */
static __thread struct call_counter *counter __attribute__((tls_model("initial-exec")));

_Atomic uint64_t cuda_cid_near = CUDA_CID_NEAR_FIRST;
_Atomic uint64_t cuda_cid_first = UINT64_MAX;

static _Atomic uint64_t
	named[FUNCTION_COUNT / 64]; /* a bit for each function: its API_NAME is in the trace */

struct call_counts cuda_calls_count(void)
{
	return call_counters_since(&counters);
}

void cuda_calls_begin(void)
{
	has_list = env_calls_are_selected();
	uint64_t near = CUDA_CID_NEAR_FIRST, last = session_skip_cids(CUDA_CID_END);

	if (last && last < CUDA_CID_END)
		atomic_compare_exchange_strong(&cuda_cid_near, &near, CUDA_CID_NEAR_OTHERS);
	atomic_store_explicit(&cuda_cid_first, UINT64_MAX, memory_order_relaxed);
	call_counters_begin(&counters);
	for (size_t i = 0; i < FUNCTION_COUNT / 64; i++)
		atomic_store_explicit(&named[i], 0, memory_order_relaxed);
}

void cuda_calls_forget(void)
{
	cuda_current = (struct cuda_current){0};
	call_counters_forget(&counters);
}

/* Returns the number of a call in the records; 0, a call without a name, for one beyond our
 * numbers. */
static uint32_t function_of(enum cupti_domain domain, uint32_t cbid)
{
	if (domain == CUPTI_DOMAIN_RUNTIME)
		return cbid < RECORD_CUDA_FUNCTION_END - RECORD_CUDA_FUNCTION_RUNTIME
			       ? RECORD_CUDA_FUNCTION_RUNTIME + cbid
			       : 0;
	return cbid < RECORD_CUDA_FUNCTION_RUNTIME - RECORD_CUDA_FUNCTION_DRIVER
		       ? RECORD_CUDA_FUNCTION_DRIVER + cbid
		       : 0;
}

/* Writes the API_NAME record of FUNCTION, once in a session. */
static void name_function(uint32_t function, const char *name)
{
	uint32_t at = function - RECORD_CUDA_FUNCTION_FIRST;
	uint64_t bit = 1ull << at % 64;
	struct record_api_name record = {.domain = RECORD_DOMAIN_CUDA};
	char text[NAME_BYTES];

	if (!function || !name ||
	    (atomic_load_explicit(&named[at / 64], memory_order_relaxed) & bit) ||
	    (atomic_fetch_or_explicit(&named[at / 64], bit, memory_order_relaxed) & bit))
		return;
	snprintf(text, sizeof(text), "%s%s", name, cuda_args_text(function));
	record.text_bytes = writer_text_bytes(strlen(text));
	writer_put_text(session_writer(), RECORD_API_NAME, function, &record, sizeof(record), text,
			record.text_bytes);
}

static bool is_graph_launch(enum cupti_domain domain, uint32_t cbid)
{
	if (domain == CUPTI_DOMAIN_DRIVER)
		return cbid == CUPTI_cuGraphLaunch || cbid == CUPTI_cuGraphLaunch_ptsz;
	return cbid == CUPTI_cudaGraphLaunch || cbid == CUPTI_cudaGraphLaunch_ptsz;
}

static bool is_switch(enum cupti_domain domain, uint32_t cbid)
{
	return cbid == (domain == CUPTI_DOMAIN_DRIVER ? CUPTI_cuGraphNodeSetEnabled
						      : CUPTI_cudaGraphNodeSetEnabled);
}

static bool sets_event(enum cupti_domain domain, uint32_t cbid)
{
	return cbid == (domain == CUPTI_DOMAIN_DRIVER ? CUPTI_cuGraphExecEventRecordNodeSetEvent
						      : CUPTI_cudaGraphExecEventRecordNodeSetEvent);
}

/* CUPTI may report activities of the outer call with the number of the inner one, so both are
 * recorded. */
static void enter_inner(uint64_t cid)
{
	struct record_cuda_inner record = {.cid = cid, .outer = cuda_current.cid};

	if (cid && cid != cuda_current.cid)
		writer_put(session_writer(), RECORD_CUDA_INNER, 0, &record, sizeof(record));
}

static void count_entered(void)
{
	if (!counter)
		counter = call_counters_take(&counters);
	call_count(counter, &counter->entered);
}

/* A runtime call that was entered before the recording, or that CUPTI was not asked for, is seen
 * only by the driver calls within it, which have its number. The first of them stands for it:
 * returns true for the others. Where all calls are asked for, this can only be the first call of a
 * thread: the numbers of later calls differ, and the ledger reports those that do not. */
static bool is_of_call_under_way(enum cupti_domain domain, uint64_t cid)
{
	bool is_drivers = domain == CUPTI_DOMAIN_DRIVER;
	bool is_again = is_drivers && cid && cid == cuda_current.under_way;
	bool may_be_inner = has_list || !cuda_current.has_begun;

	if (!is_again)
		cuda_current.under_way = is_drivers && may_be_inner ? cid : 0;
	cuda_current.has_begun = true;
	return is_again;
}

/* A call is entered. While the session stops, a call is counted but gets no record; activities
 * that it launches are still recorded. */
static void enter(enum cupti_domain domain, uint32_t cbid, const struct cupti_callback_data *data)
{
	uint32_t number = atomic_load_explicit(&session_number, memory_order_acquire);
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);
	bool is_on = state == SESSION_ON;
	uint64_t cid;

	if (cuda_current.session != number)
		cuda_current = (struct cuda_current){.session = number};
	cuda_current.innermost = (struct cuda_told_call){domain, cbid, data->functionParams};
	cuda_current.edge_place = 0;
	if (cuda_current.depth++) {
		if (is_on && cuda_current.is_recorded)
			enter_inner(cuda_cid_enter(data->correlationId));
		return;
	}
	cuda_current.is_recorded = is_on;
	cuda_current.has_made_node = false;
	cuda_current.cid = 0;
	/* A call that is entered while the session starts counts as under way before it, with
	 * all that it calls. */
	if (state == SESSION_STARTING)
		return;
	cid = cuda_cid_enter(data->correlationId);
	if (is_of_call_under_way(domain, cid)) {
		cuda_current.is_recorded = false;
		return;
	}
	count_entered();
	if (!is_on)
		return;
	cuda_current.cid = cid;
	if (data->functionParams && is_graph_launch(domain, cbid))
		cuda_graphs_launch(cid, data->functionParams);
	cuda_current.begin_ns = session_now_ns();
}

static int result_of(const struct cupti_callback_data *data)
{
	return data->functionReturnValue ? *(int *)data->functionReturnValue : 0;
}

/* Returns whether the call that is left belongs to the session that is on. */
static bool is_on(void)
{
	return session_is_on() && cuda_current.session == session_current_number();
}

static void count_left(enum cupti_domain domain, uint32_t cbid,
		       const struct cupti_callback_data *data)
{
	if (is_graph_launch(domain, cbid)) {
		call_count(counter, &counter->replayed);
		/* A launch into a stream that is captured makes a node, and launches nothing. */
		if (result_of(data) != 0 || cuda_current.has_made_node)
			cuda_graphs_launch_failed();
	}
	if (cuda_selection_launches_kernel(domain, cbid) && result_of(data) == 0 &&
	    !cuda_current.has_made_node)
		call_count(counter, &counter->launched);
	call_count(counter, &counter->left);
}

/* The return is counted between reserve and commit: closing the spool waits for records that are
 * being written, so that the count and the record belong to the same session. */
static void write_call(enum cupti_domain domain, uint32_t cbid,
		       const struct cupti_callback_data *data)
{
	uint32_t function = function_of(domain, cbid);
	struct cuda_args args = cuda_args_read(function, cuda_current.begin_ns, data);
	size_t args_bytes = args.count * sizeof(*args.words);
	uint64_t end_ns = session_now_ns();
	/* A call of NCCL, inside which the thread still is. */
	const struct frame *outer = frame_top;
	struct record_api *api;
	struct writer *writer;

	name_function(function, data->functionName);
	/* Take the writer before checking the session: one that is taken later may belong to the
	 * next session. */
	writer = session_writer();
	if (!is_on())
		return;
	api = writer_reserve(writer, RECORD_API, sizeof(*api) + args_bytes);
	/* Without memory, either the spool has no room, or the session has just ended. */
	if (!api && !is_on())
		return;
	count_left(domain, cbid, data);
	if (!api)
		return;
	api->cid = cuda_current.cid;
	api->parent = outer && frame_is_recorded(outer) ? outer->cid : 0;
	api->scope = scope_current();
	api->begin_ns = cuda_current.begin_ns;
	api->end_ns = end_ns;
	api->result = result_of(data);
	memcpy(api->args, args.words, args_bytes);
	writer_commit(writer, api, RECORD_API, sizeof(*api) + args_bytes, function);
}

/* Handles what the innermost call tells by its results. The calls around it have the same
 * parameters and are not asked again. */
static void leave_innermost(const struct cupti_callback_data *data)
{
	struct cuda_added added;

	if (cuda_current.innermost.cbid && cuda_params_added(cuda_current.innermost, &added) &&
	    is_on() && cuda_current.is_recorded && result_of(data) == 0)
		cuda_graphs_added(&added);
	cuda_current.innermost.cbid = 0;
}

static void leave(enum cupti_domain domain, uint32_t cbid, const struct cupti_callback_data *data)
{
	/* The call was entered before the recording began. */
	if (cuda_current.session != session_current_number() || !cuda_current.depth)
		return;
	leave_innermost(data);
	if (--cuda_current.depth || !cuda_current.is_recorded)
		return;
	if (is_on() && data->functionParams && result_of(data) == 0) {
		if (is_switch(domain, cbid))
			cuda_graphs_switched(cuda_current.cid, data->functionParams);
		else if (sets_event(domain, cbid))
			cuda_graphs_event_set(data->functionParams);
	}
	write_call(domain, cbid, data);
	cuda_current.cid = 0;
}

void cuda_calls_told(enum cupti_domain domain, uint32_t cbid,
		     const struct cupti_callback_data *data)
{
	if (data->callbackSite == CUPTI_ENTER)
		enter(domain, cbid, data);
	else
		leave(domain, cbid, data);
}

/* Above the ids of recorded calls, and below those of none. */
#define DORMANT_CID ((uint64_t)1 << 63)

static void leave_dormant(uint32_t cbid, const struct cupti_callback_data *data)
{
	struct cuda_added added;

	if (!cuda_is_in_dormant_call() || cuda_dormant_call.call.cbid != cbid)
		return;
	if (result_of(data) == 0 && cuda_params_added(cuda_dormant_call.call, &added))
		cuda_graphs_added(&added);
	if (result_of(data) == 0 && is_switch(CUPTI_DOMAIN_DRIVER, cbid) && data->functionParams)
		cuda_graphs_switched(cuda_dormant_call.cid, data->functionParams);
	cuda_dormant_call.call.cbid = 0;
}

void cuda_calls_told_dormant(uint32_t cbid, const struct cupti_callback_data *data)
{
	if (!cuda_selection_is_building(cbid))
		return;
	if (data->callbackSite != CUPTI_ENTER)
		return leave_dormant(cbid, data);
	cuda_dormant_call = (struct cuda_dormant_call){
		.call = {CUPTI_DOMAIN_DRIVER, cbid, data->functionParams},
		.cid = DORMANT_CID | data->correlationId,
		.session = session_current_number(),
	};
	cuda_current.edge_place = 0;
}
