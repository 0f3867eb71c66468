/* The capture source of NVIDIA GPUs: subscribes to CUPTI while a session is on, and where another
 * session may follow also in between (cuda_subscription.h).
 * CUDA loads the library that CUDA_INJECTION64_PATH names when a process first uses CUDA, and calls
 * its InitializeInjection.
 *
 * CUPTI allows one subscriber. If the program has a profiler of its own, we change nothing of
 * CUPTI. When one of CUPTI's calls fails that the recording needs, the source is turned off and
 * its SOURCE record names the call. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/cuda/cuda_activities.h"
#include "capture/cuda/cuda_buffers.h"
#include "capture/cuda/cuda_calls.h"
#include "capture/cuda/cuda_graph_capture.h"
#include "capture/cuda/cuda_graph_notes.h"
#include "capture/cuda/cuda_names.h"
#include "capture/cuda/cuda_selection.h"
#include "capture/cuda/cuda_streams.h"
#include "capture/cuda/cuda_subscription.h"
#include "capture/cuda/cupti.h"
#include "capture/env.h"
#include "capture/log.h"
#include "capture/visible.h"

#define ANCHOR_TRIES   4    /* brackets at most */
#define ANCHOR_GOOD_NS 1000 /* a bracket as narrow as this is enough */
#define REASON_BYTES   512

/* NEEDED: without it there is no recording of CUDA; the SOURCE record names other kinds that are
 * missing. WITH_ALL: asked for with all calls only, because CUPTI then delays every launch; waits
 * are known from the calls otherwise (docs/cuda.md). */
enum asking { NEEDED, WISHED, WITH_ALL };

static const struct {
	uint32_t kind;
	const char *name;
	enum asking asking;
} kinds[] = {
	{CUPTI_KIND_DEVICE, "devices", WISHED},
	{CUPTI_KIND_CONCURRENT_KERNEL, "kernels", NEEDED},
	{CUPTI_KIND_MEMCPY, "copies", NEEDED},
	{CUPTI_KIND_MEMCPY2, "copies between GPUs", WISHED},
	{CUPTI_KIND_MEMSET, "memsets", NEEDED},
	/* Events before waits: then a wait has the number of the event's record. */
	{CUPTI_KIND_CUDA_EVENT, "events", WITH_ALL},
	{CUPTI_KIND_SYNCHRONIZATION, "synchronisation", WITH_ALL},
	{CUPTI_KIND_STREAM, "kinds of streams", WISHED},
	{CUPTI_KIND_MEMORY2, "memory operations", WISHED},
	{CUPTI_KIND_OVERHEAD, "overhead", WISHED},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(*kinds))

static _Atomic bool is_live;   /* subscribed */
static uint32_t enabled_kinds; /* a bit for each element of kinds */
static uint64_t dropped;       /* records that CUPTI dropped in this recording */
static uint64_t delivered_before[CUDA_DELIVERED_COUNT]; /* when this recording began */
static uint64_t flushes_failed;				/* forced ones, in this recording */
static uint64_t torn_before, unfinished_before, refused_before, passed_over_before;
static bool has_forked;		    /* CUDA cannot be used in this process any more */
static char absences[REASON_BYTES]; /* text: what this CUPTI cannot deliver */
static uint32_t failures_named;	    /* kinds of failures and losses of the SOURCE record */

/* ---- callbacks ---- */

/* The driver calls by which CUPTI asks for the name of the kernel before each launch by a
 * runtime call. Where all calls are asked for, their callbacks are ignored here and not disabled
 * one by one: a thread that is inside such a call when its callback is disabled has one number for
 * all its calls from then on (H200, CUDA 13.0). */
static bool is_cuptis_own(uint32_t domain, uint32_t cbid)
{
	return domain == CUPTI_DOMAIN_DRIVER &&
	       (cbid == CUPTI_cuFuncGetName || cbid == CUPTI_cuKernelGetName);
}

static bool is_profiler(uint32_t domain, uint32_t cbid)
{
	return domain == CUPTI_DOMAIN_DRIVER &&
	       (cbid == CUPTI_cuProfilerStart || cbid == CUPTI_cuProfilerStop);
}

/* The recording starts when the call returns and stops when it is entered, as CUPTI's own samples
 * do it. */
static void profiler_told(uint32_t cbid, const struct cupti_callback_data *call)
{
	if (cbid == CUPTI_cuProfilerStart && call->callbackSite != CUPTI_ENTER)
		switch_profiler_start("cuProfilerStart");
	else if (cbid == CUPTI_cuProfilerStop && call->callbackSite == CUPTI_ENTER)
		switch_profiler_stop("cuProfilerStop");
}

/* Between two recordings callbacks stay enabled (cuda_subscription.h). */
static bool is_dormant(void)
{
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);

	return state == SESSION_IDLE || state == SESSION_STOPPED || state == SESSION_OFF;
}

static bool is_graphs(uint32_t domain, uint32_t cbid)
{
	return domain == CUPTI_DOMAIN_RESOURCE && cbid >= CUPTI_GRAPH_CREATED &&
	       cbid <= CUPTI_GRAPH_NODE_SET_PARAMS;
}

/* While nothing is recorded, the lives of graphs are followed for the next recording. */
static void take_dormant(uint32_t domain, uint32_t cbid, const void *data)
{
	const struct cupti_resource_data *resource = data;

	if (!atomic_load_explicit(&cuda_notes_are_kept, memory_order_relaxed))
		return;
	if (is_graphs(domain, cbid))
		cuda_graphs_told(cbid, resource->resourceDescriptor);
	else if (domain == CUPTI_DOMAIN_DRIVER)
		cuda_calls_told_dormant(cbid, data);
}

/* CUPTI's callback, on the thread of the call. */
static void take_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct cupti_resource_data *resource = data;

	if (is_profiler(domain, cbid)) {
		profiler_told(cbid, data);
		/* Enabled for its own sake; only with all calls it has a row. */
		if (env_calls_are_selected())
			return;
	}
	if (is_dormant())
		return take_dormant(domain, cbid, data);
	if (is_cuptis_own(domain, cbid))
		return;
	if (domain != CUPTI_DOMAIN_RESOURCE)
		return cuda_calls_told(domain, cbid, data);
	if (cbid == CUPTI_MODULE_UNLOAD_STARTING)
		cuda_names_doubt();
	else if (cbid == CUPTI_STREAM_CREATED)
		cuda_streams_made(resource->context, resource->stream);
	else if (cbid == CUPTI_STREAM_DESTROY_STARTING)
		cuda_streams_gone(resource->stream);
	/* Only in these callbacks the descriptor is a graph's. */
	else if (is_graphs(domain, cbid))
		cuda_graphs_told(cbid, resource->resourceDescriptor);
}

/* ---- witnesses ---- */

/* Writes an anchor, one moment on both clocks: the narrowest of a few brackets. */
static void write_anchor(void)
{
	struct record_anchor best = {.uncertainty_ns = UINT64_MAX};

	for (int i = 0; i < ANCHOR_TRIES && best.uncertainty_ns > ANCHOR_GOOD_NS; i++) {
		uint64_t tick = 0, before_ns = session_now_ns();
		uint32_t result = cupti.get_timestamp(&tick);
		uint64_t width_ns = session_now_ns() - before_ns;

		cupti_note(CUPTI_FAILURE_TIMESTAMP, result);
		if (result != CUPTI_OK || !tick)
			return;
		if (width_ns < best.uncertainty_ns)
			best = (struct record_anchor){
				.tick = tick,
				.host_ns = before_ns + width_ns / 2,
				.system_ns = tick,
				.uncertainty_ns = width_ns,
			};
	}
	writer_put(session_writer(), RECORD_ANCHOR, RECORD_CUDA_CLOCK, &best, sizeof(best));
}

/* CUPTI sets its count to 0 when it is asked. */
static void ask_dropped(void)
{
	size_t count = 0;
	uint32_t result = cupti.get_dropped(NULL, 0, &count);

	cupti_note(CUPTI_FAILURE_DROPPED, result);
	if (result == CUPTI_OK)
		dropped += count;
}

/* When the process ends, CUDA may have ended and have delivered everything: an error then is no
 * failure of the source. Whether the last buffers came is not known, which a witness tells. */
static void flush(enum cupti_flush how)
{
	uint32_t result = cupti.flush_all(how);

	flushes_failed += how == CUPTI_FLUSH_FORCED && result != CUPTI_OK;
	if (!session_is_ending())
		cupti_note(CUPTI_FAILURE_FLUSH, result);
}

/* Records of this recording that were counted and not read. */
static uint64_t passed_over(void)
{
	return cuda_buffers_passed_over() - passed_over_before;
}

static void write_witnesses(void)
{
	static const enum witness delivered[] = {
#define X(name) WITNESS_CUDA_##name,
		CUDA_DELIVERED(X)
#undef X
	};
	struct call_counts calls = cuda_calls_count();

	session_witness(WITNESS_CUDA_OPEN, calls.entered - calls.left);
	for (int i = 0; i < CUDA_DELIVERED_COUNT; i++)
		session_witness(delivered[i],
				atomic_load_explicit(&cuda_delivered[i], memory_order_relaxed) -
					delivered_before[i]);
	session_witness(WITNESS_CUDA_DROPPED, dropped + passed_over());
	session_witness(WITNESS_CUDA_CALLS, calls.entered);
	session_witness(WITNESS_CUDA_TORN_BUFFERS, cuda_buffers_torn() - torn_before);
	session_witness(WITNESS_CUDA_UNFINISHED_BUFFERS,
			cuda_buffers_unfinished() - unfinished_before);
	session_witness(WITNESS_CUDA_FLUSHES_FAILED, flushes_failed);
	session_witness(WITNESS_CUDA_LAUNCHES_FAILED, cuda_graphs_failed_launches());
	session_witness(WITNESS_CUDA_GRAPH_LAUNCHES, calls.replayed);
	session_witness(WITNESS_CUDA_KERNEL_LAUNCHES, calls.launched);
}

/* A recording starts. */
static void count_from_here(void)
{
	for (int i = 0; i < CUDA_DELIVERED_COUNT; i++)
		delivered_before[i] =
			atomic_load_explicit(&cuda_delivered[i], memory_order_relaxed);
	torn_before = cuda_buffers_torn();
	unfinished_before = cuda_buffers_unfinished();
	refused_before = cuda_buffers_refused();
	passed_over_before = cuda_buffers_passed_over();
	dropped = 0;
	flushes_failed = 0;
}

/* ---- on and off ---- */

static void disable_kinds(void)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (enabled_kinds & 1u << i)
			cupti.disable(kinds[i].kind);
	}
	enabled_kinds = 0;
}

static bool fail(const char *call, uint32_t result, char *ret_reason)
{
	cupti_describe(call, result, ret_reason, REASON_BYTES);
	return false;
}

static void add_absence(const char *what)
{
	size_t used = strnlen(absences, sizeof(absences));

	snprintf(absences + used, sizeof(absences) - used, "%s%s", used ? ", " : "; without ",
		 what);
}

/* Whether CUPTI brings waits. */
static bool has_waits(void)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (kinds[i].kind == CUPTI_KIND_SYNCHRONIZATION)
			return enabled_kinds & 1u << i;
	}
	return false;
}

static bool enable_kinds(char *ret_reason)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		uint32_t result;

		if (kinds[i].asking == WITH_ALL && env_calls_are_selected())
			continue;
		result = cupti.enable(kinds[i].kind);
		if (result == CUPTI_OK)
			enabled_kinds |= 1u << i;
		else if (kinds[i].asking == NEEDED)
			return fail("cuptiActivityEnable", result, ret_reason);
		else
			add_absence(kinds[i].name);
	}
	return true;
}

static bool enable_all(char *ret_reason)
{
	uint32_t result = cupti.register_buffers(cuda_buffers_lend, cuda_buffers_take);
	const char *function;

	if (result != CUPTI_OK)
		return fail("cuptiActivityRegisterCallbacks", result, ret_reason);
	if (!env_calls_are_selected() && cupti.enable_event_times &&
	    cupti.enable_event_times(1) != CUPTI_OK)
		add_absence("the times of events");
	if (!enable_kinds(ret_reason))
		return false;
	result = cuda_selection_enable(cuda_subscriber(), &function);
	return result == CUPTI_OK || fail(function, result, ret_reason);
}

/* Subscribes to CUPTI and enables everything. Returns false with the reason, and undoes what it
 * has done. */
static bool turn_on(char *ret_reason)
{
	static bool has_recorded;
	size_t not_ours; /* records that another tool has lost since the last recording */

	if (!cuda_subscription_begin(take_callback, ret_reason, REASON_BYTES))
		return false;
	absences[0] = '\0';
	cupti_forget_failures();
	failures_named = 0;
	if (has_recorded)
		cupti.get_dropped(NULL, 0, &not_ours);
	has_recorded = true;
	count_from_here();
	cuda_buffers_open();
	cuda_calls_begin();
	cuda_graphs_begin();
	if (enable_all(ret_reason))
		return true;
	disable_kinds();
	cuda_buffers_close();
	cuda_subscription_end();
	return false;
}

static void describe_losses(char *ret_text, size_t text_bytes)
{
	uint64_t refused = cuda_buffers_refused() - refused_before, unread = passed_over();
	size_t used =
		(size_t)snprintf(ret_text, text_bytes, "%s", dropped ? "; it dropped records" : "");

	if (refused)
		used += (size_t)snprintf(ret_text + used, text_bytes - used,
					 "; it was given no buffer %" PRIu64 " times", refused);
	if (unread)
		snprintf(ret_text + used, text_bytes - used,
			 "; %" PRIu64 " of its records were not read, because it was behind",
			 unread);
}

static void write_source(void)
{
	char failures[CUPTI_FAILURE_COUNT * REASON_BYTES / 2], losses[REASON_BYTES];
	char text[sizeof(failures) + sizeof(losses) + REASON_BYTES + 64];
	bool is_whole;

	describe_losses(losses, sizeof(losses));
	is_whole = !*absences && !*losses && !cupti_count_failures();
	cupti_describe_failures(failures, sizeof(failures));
	snprintf(text, sizeof(text), "CUPTI, interface %u%s%s%s", cupti.version, absences, losses,
		 failures);
	session_source("cuda", is_whole ? RECORD_SOURCE_ON : RECORD_SOURCE_PARTIAL, text);
}

/* At each tick, so that the trace of a process that is killed has the failures so far, and that
 * records were lost. */
static void tell_new_failures(void)
{
	bool is_lossy = dropped || passed_over() || cuda_buffers_refused() != refused_before;
	uint32_t count = cupti_count_failures() + is_lossy;

	if (count != failures_named)
		write_source();
	failures_named = count;
}

/* ---- the session's hooks; see struct capture_source ---- */

static void part_start(void)
{
	char reason[REASON_BYTES] = "CUDA does not survive a fork";

	if (has_forked || !turn_on(reason)) {
		log_line("cuda: %s", reason);
		session_source("cuda", RECORD_SOURCE_ABSENT, reason);
		return;
	}
	cuda_devices_record();
	if (env_calls_are_selected())
		session_witness(WITNESS_CUDA_CALLS_SELECTED, 1);
	if (!has_waits())
		session_witness(WITNESS_CUDA_WAITS_FROM_CALLS, 1);
	write_anchor();
	write_source();
	atomic_store(&is_live, true);
}

/* Does not flush: CUPTI returns full buffers by itself. When this thread called
 * cuptiActivityFlushAll while another one updated and launched graphs, the device failed with an
 * unspecified launch failure (H100, CUDA 13.0, JAX: 35 of 59 runs with a flush, none of 12 without
 * it; docs/cuda.md). */
static void part_tick(void)
{
	if (!atomic_load(&is_live))
		return;
	cuda_notes_tell();
	write_anchor();
	ask_dropped();
	write_witnesses();
	tell_new_failures();
}

/* First the finished records; then, with the kinds disabled, the unfinished ones. When the
 * process ends, contexts may be gone that CUPTI would use to disable anything (H200, CUDA 13.0:
 * a fault inside cuptiActivityDisable), so everything stays enabled. */
static void part_stop(void)
{
	bool is_last = session_is_ending();

	if (!atomic_exchange(&is_live, false))
		return;
	cuda_buffers_drain();
	flush(CUPTI_FLUSH_COMPLETE);
	if (!is_last)
		disable_kinds();
	cuda_buffers_last_call();
	flush(CUPTI_FLUSH_FORCED);
	cuda_buffers_close();
	ask_dropped();
	write_anchor();
	write_witnesses();
	write_source();
	/* Calls are turned off last: each activity's call was seen. */
	if (!is_last)
		cuda_subscription_end();
}

/* CUDA cannot be used in a fork child. */
static void part_child(void)
{
	atomic_store(&is_live, false);
	has_forked = true;
	cuda_subscription_forget();
	cuda_buffers_forget();
	cuda_calls_forget();
	cuda_streams_forget();
	enabled_kinds = 0;
}

static const struct capture_source cuda_source = {
	.name = "cuda",
	.start = part_start,
	.tick = part_tick,
	.stop = part_stop,
	.child = part_child,
};

/* ---- the entry point ---- */

CAPTURE_EXPORT int InitializeInjection(void);

/* CUDA calls this during the process's first use of CUDA. Returns 1 also when nothing is
 * recorded: any other value would be an error of the program's CUDA call. */
int InitializeInjection(void)
{
	session_add_source(&cuda_source);
	session_start();
	if (is_dormant() && session_may_record())
		cuda_subscription_await(take_callback);
	return 1;
}
