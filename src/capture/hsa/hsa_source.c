/* The hsa capture source: opens when the runtime hands over its dispatch tables, begins and ends
 * recordings for the session, drains the device, and writes the witnesses of HSA. */
#include "capture/hsa/hsa_source.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/env.h"
#include "capture/hip/hip_source.h"
#include "capture/hsa/app_signal.h"
#include "capture/hsa/completion.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/gate_counts.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_agents.h"
#include "capture/hsa/hsa_anchors.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_copies.h"
#include "capture/hsa/hsa_faults.h"
#include "capture/hsa/hsa_kernels.h"
#include "capture/hsa/hsa_memory.h"
#include "capture/hsa/hsa_monitor.h"
#include "capture/hsa/hsa_scratch.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"
#include "capture/hsa/monitor_state.h"
#include "capture/hsa/queue_mode.h"
#include "capture/hsa/serial.h"
#include "capture/hsa/unknown_queues.h"
#include "capture/hsa/untraced.h"
#include "capture/log.h"
#include "capture/visible.h"

#define DRAIN_PAUSE_NS 200000
#define COUNTERS_MOST  64

/* Taken around calls into the runtime that the tool makes on its own, so that the runtime does not
 * end meanwhile. Guards the variables below, but for init_count, which is atomic. */
static pthread_mutex_t runtime_lock = PTHREAD_MUTEX_INITIALIZER;
static bool runtime_is_open;
static bool source_has_stopped;	 /* this source records nothing until the next session starts */
static bool has_forked;		 /* a fork child, in which the vendor's runtime does not work */
static uint32_t started_session; /* number of the last session whose start this source has seen */
static uint32_t init_count;	 /* hsa_init calls less hsa_shut_down calls */

/* The counters of the software GPU (src/softgpu); NULL with a real one. */
typedef uint32_t counters_fn(uint64_t *ret_values, const char **ret_names, uint32_t capacity);
static counters_fn *device_counters;

uint64_t hsa_dispatches_without_context(void)
{
	return gate_dispatches_without_context();
}

/* ---- witnesses ---- */

/* Looks for the counters in the library that holds the runtime's hsa_init. */
static void find_device_counters(void)
{
	Dl_info info;
	void *library;

	device_counters = NULL;
	if (!dladdr((void *)(uintptr_t)hsa_next.hsa_init, &info))
		return;
	library = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
	if (!library)
		return;
	if (strcmp(env_text(ENV_COUNTERS), "0") != 0)
		device_counters = (counters_fn *)(uintptr_t)dlsym(library, "softgpu_counters");
	dlclose(library);
}

/* Counters that go on over all recordings of the process. */
struct counts {
	uint64_t device[COUNTERS_MOST];
	const char *device_names[COUNTERS_MOST];
	uint32_t device_count;
	uint64_t without_context;
	uint64_t reservations_lost;
	uint64_t serial_overruns;
};

static struct counts counts_before; /* their values when the recording began */
static uint32_t counted_session;    /* number of the session that counts_before belongs to */

static struct counts counts_now(void)
{
	struct counts counts = {0};

	if (device_counters)
		counts.device_count =
			device_counters(counts.device, counts.device_names, COUNTERS_MOST);
	if (counts.device_count > COUNTERS_MOST)
		counts.device_count = COUNTERS_MOST;
	counts.without_context = gate_dispatches_without_context();
	counts.reservations_lost = gate_reservations_lost();
	counts.serial_overruns = serial_overruns();
	return counts;
}

static void counts_begin(void)
{
	counted_session = session_current_number();
	counts_before = counts_now();
	unknown_queues_begin();
}

static void write_witnesses(void)
{
	struct counts counts;
	struct completion_delays delays = completion_delays_get();

	/* The runtime was not open in this recording. */
	if (counted_session != session_current_number())
		return;
	counts = counts_now();
	for (uint32_t i = 0; i < counts.device_count; i++)
		session_device_count(counts.device_names[i],
				     counts.device[i] - counts_before.device[i]);
	session_witness(WITNESS_HSA_COPIES_STARTED, hsa_copies_started());
	session_witness(WITNESS_HSA_DISPATCHES_WITHOUT_CONTEXT,
			counts.without_context - counts_before.without_context);
	session_witness(WITNESS_HSA_RESERVATIONS_LOST,
			counts.reservations_lost - counts_before.reservations_lost);
	unknown_queues_witness();
	/* Read after the device's counts: what the device has counted and the rows lack. */
	session_witness(WITNESS_HSA_PACKETS_UNTRACED, untraced_packets());
	session_witness(WITNESS_HSA_COPIES_UNTRACED, hsa_copies_untraced());
	session_witness(WITNESS_HSA_PACKETS_CUT, gates_packets_cut());
	session_witness(WITNESS_HSA_PACKETS_UNRECORDED, gates_packets_unrecorded());
	if (delays.count) {
		session_witness(WITNESS_HSA_COMPLETIONS_PASSED_ON, delays.count);
		session_witness(WITNESS_HSA_PASS_ON_P99_NS, delays.p99_ns);
		session_witness(WITNESS_HSA_PASS_ON_MOST_NS, delays.most_ns);
	}
	if (queue_mode_serialises())
		session_witness(WITNESS_HSA_SERIAL_OVERRUNS,
				counts.serial_overruns - counts_before.serial_overruns);
}

/* Call when nothing more is recorded and before what is outstanding is given up. */
static void write_waiting(void)
{
	session_witness(WITNESS_HSA_PACKETS_WAITING, untraced_waiting());
}

/* ---- draining ---- */

static uint64_t outstanding(void)
{
	uint64_t count = slot_ring_outstanding(hsa_copies_ring());

	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		/* has_unpublished: at least one packet is held back or not written yet. */
		count += slot_ring_outstanding(gate->slots) +
			 (gate_is_tracing(gate) && atomic_load(&gate->has_unpublished));
	}
	return count;
}

/* Waits for the device: TIMER_DEVICE_DRAIN (1 s), and up to TIMER_DEVICE_DRAIN_MOST (2 s) as long
 * as it still finishes work. */
static void drain(void)
{
	const struct timespec pause = {.tv_nsec = DRAIN_PAUSE_NS};
	struct timer_limit usual = timer_start(TIMER_DEVICE_DRAIN);
	struct timer_limit most = timer_start(TIMER_DEVICE_DRAIN_MOST);
	struct timer_limit stands = timer_start(TIMER_DEVICE_STANDS);
	uint64_t left = outstanding(), now_left;

	while (left && !timer_is_over(most) && !(timer_is_over(usual) && timer_is_over(stands))) {
		hsa_monitor_wake();
		nanosleep(&pause, NULL);
		now_left = outstanding();
		if (now_left < left)
			stands = timer_start(TIMER_DEVICE_STANDS);
		left = now_left;
	}
}

static void give_up_all(void)
{
	struct timer_limit limit = timer_start(TIMER_HSA_LOCK);
	uint64_t left = slot_ring_give_up(hsa_copies_ring(), RECORD_UNTIMED_SHUTDOWN, limit);

	/* A signal handler may have interrupted this thread while it takes a slot in its gate. */
	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		left += slot_ring_give_up(gate->slots, RECORD_UNTIMED_SHUTDOWN,
					  gate_is_mine(gate) ? timer_start_ns(0) : limit);
	if (left)
		session_witness(WITNESS_HSA_COMPLETIONS_UNRECORDED, left);
}

/* ---- the runtime's life ---- */

static struct hsa_calls wrappers = {
#define X(name) .name = wrap_##name,
	HSA_CORE_WRAPPERS(X) HSA_EXT_WRAPPERS(X)
#undef X
};

static void tell_sources(void)
{
	session_source("hsa", RECORD_SOURCE_ON, queue_mode_text());
	session_source("hsa.table", RECORD_SOURCE_ON, hsa_calls_text());
}

static bool runtime_open(struct hsa_api_table *table)
{
	const char *reason;

	if (!hsa_calls_load(table, &reason)) {
		session_source("hsa", RECORD_SOURCE_ABSENT, reason);
		return false;
	}
	queue_mode_read();
	if (hsa_copies_init() || hsa_monitor_start()) {
		session_source("hsa", RECORD_SOURCE_ABSENT, "no memory or thread for it");
		return false;
	}
	find_device_counters();
	/* The runtime may open several times in one recording. */
	if (counted_session != session_current_number())
		counts_begin();
	if (hsa_next.hsa_amd_profiling_async_copy_enable)
		hsa_next.hsa_amd_profiling_async_copy_enable(true);
	runtime_is_open = true;
	hsa_agents_read();
	hsa_anchors_record();
	atomic_store_explicit(&hsa_live, true, memory_order_release);
	faults_watch();
	hsa_memory_record_pools(!hip_is_loaded());
	hsa_calls_wrap(table, &wrappers);
	scratch_watch(table);
	tell_sources();
	return true;
}

/* The wait is limited, because a signal handler that ends the program may have interrupted the
 * thread that has the lock. */
static bool runtime_lock_await(void)
{
	return timer_lock(&runtime_lock, timer_start(TIMER_HSA_LOCK));
}

/* Called before the runtime ends. Afterwards the tool calls none of its functions. */
static void runtime_close(void)
{
	if (!runtime_lock_await())
		return;
	if (runtime_is_open) {
		if (!source_has_stopped)
			drain();
		for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
			if (atomic_load(&gate->state) == GATE_LIVE)
				gate_close(gate, RECORD_UNTIMED_SHUTDOWN);
		}
		untraced_queues_go();
		slot_ring_give_up(hsa_copies_ring(), RECORD_UNTIMED_SHUTDOWN,
				  timer_start(TIMER_HSA_LOCK));
		if (!source_has_stopped) {
			hsa_anchors_record();
			write_waiting();
			write_witnesses();
		}
		runtime_is_open = false;
	}
	pthread_mutex_unlock(&runtime_lock);
}

/* Called when the runtime has ended: its queues are gone, so their gates may be used again. */
static void runtime_closed(void)
{
	for (struct gate *gate = gate_newest(); gate; gate = gate->older) {
		if (atomic_load(&gate->state) == GATE_CLOSING)
			gate_reuse(gate, true);
	}
}

hsa_status_t wrap_hsa_init(void)
{
	hsa_status_t status = hsa_next.hsa_init();

	if (status == HSA_STATUS_SUCCESS)
		__atomic_fetch_add(&init_count, 1, __ATOMIC_RELAXED);
	return status;
}

hsa_status_t wrap_hsa_shut_down(void)
{
	bool is_last = hsa_is_live() && __atomic_fetch_sub(&init_count, 1, __ATOMIC_RELAXED) == 1;
	hsa_status_t status;

	if (is_last)
		runtime_close();
	status = hsa_next.hsa_shut_down();
	if (is_last)
		runtime_closed();
	return status;
}

/* ---- the session's hooks ---- */

/* Says how many packets the device took outside of capture ranges. */
static void tell_outside(uint64_t packets)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "capture range: not recorded: %" PRIu64 " packets of the GPU's queues before it",
		 packets);
	if (switch_is_armed() && packets)
		session_note(text);
}

/* Begins a recording after the first: writes again which agents and kernels there are, and counts
 * from what the device has not done yet. Packets that are on their way meanwhile pass unrecorded
 * and are counted as such. */
static void record_again(void)
{
	hsa_agents_record();
	hsa_kernels_record();
	tell_outside(untraced_packets());
	untraced_begin();
	hsa_copies_open();
	/* Also when the runtime has opened in this recording before this hook was called: packets
	 * have passed since then. */
	counts_begin();
	/* Before the gates record, for signals that are in use by now; afterwards again, for
	 * signals that packets have used meanwhile. */
	app_signals_forget_uses();
	gates_start_tracing();
	app_signals_forget_uses();
	hsa_anchors_record();
	tell_sources();
}

static void begin_again(void)
{
	if (!runtime_is_open) {
		untraced_begin();
		hsa_copies_open();
		gates_start_tracing();
	} else if (hsa_monitor_start()) {
		session_source("hsa", RECORD_SOURCE_ABSENT, "no thread for it");
	} else {
		record_again();
	}
}

static void source_start(void)
{
	if (!runtime_lock_await())
		return;
	started_session = session_current_number();
	if (source_has_stopped && hsa_is_live())
		begin_again();
	source_has_stopped = has_forked;
	pthread_mutex_unlock(&runtime_lock);
}

static void source_tick(void)
{
	if (pthread_mutex_trylock(&runtime_lock))
		return;
	if (runtime_is_open && !source_has_stopped) {
		for (struct gate *gate = gate_newest(); gate; gate = gate->older)
			gate_count(gate);
		hsa_anchors_record();
		write_witnesses();
	}
	pthread_mutex_unlock(&runtime_lock);
}

/* The stop hook. The monitor goes on running while it still has completions to pass on to the
 * application. */
static void source_stop(void)
{
	if (!runtime_lock_await())
		return;
	if (source_has_stopped || !hsa_is_live()) {
		source_has_stopped = true;
		pthread_mutex_unlock(&runtime_lock);
		return;
	}
	gates_stop_tracing();
	hsa_copies_close();
	drain();
	if (runtime_is_open)
		gates_tell_taken();
	write_waiting();
	if (!completion_borrowed())
		hsa_monitor_stop();
	give_up_all();
	if (runtime_is_open)
		hsa_anchors_record();
	write_witnesses();
	source_has_stopped = true;
	pthread_mutex_unlock(&runtime_lock);
}

/* The hook of a fork child, which has none of its parent's queues and threads. */
static void source_child(void)
{
	atomic_store_explicit(&hsa_live, false, memory_order_relaxed);
	runtime_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	runtime_is_open = false;
	source_has_stopped = true;
	has_forked = true;
	hsa_monitor_forget();
	serial_forget();
}

static const struct capture_source hsa_source = {
	.name = "hsa",
	.start = source_start,
	.tick = source_tick,
	.stop = source_stop,
	.child = source_child,
};

/* ---- entry points of a tool library (HSA_TOOLS_LIB) ---- */

CAPTURE_EXPORT bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version,
			   uint64_t failed_tool_count, const char *const *failed_tool_names);
CAPTURE_EXPORT void OnUnload(void);

/* Whether a session is on, or is starting and has already called this source's start hook. */
static bool is_started(void)
{
	int state = atomic_load(&session_state);

	return state == SESSION_ON ||
	       (state == SESSION_STARTING && started_session == session_current_number());
}

/* No session is on, but one may start later: gates are opened and record nothing. */
static void close_for_now(void)
{
	gates_stop_tracing();
	hsa_copies_close();
	source_has_stopped = true;
}

/* The runtime calls this inside the first hsa_init, and again when it starts anew. */
int hsa_source_open(void *table)
{
	int err = 0;

	session_add_source(&hsa_source);
	session_start();
	if (!session_may_record())
		return 0;
	pthread_mutex_lock(&runtime_lock);
	if (!has_forked && !runtime_is_open) {
		init_count = 1;
		err = runtime_open(table) ? 0 : -ENOTSUP;
		if (err == 0 && !is_started())
			close_for_now();
	}
	pthread_mutex_unlock(&runtime_lock);
	return err;
}

/* Returns true also when nothing is recorded: the runtime would report a refusal to the
 * application. */
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	(void)failed_tool_count;
	(void)failed_tool_names;
	hsa_source_open(table);
	log_line("OnLoad: runtime version %llu", (unsigned long long)runtime_version);
	return true;
}

/* Called by the runtime inside the last hsa_shut_down. The wrappers stay in the tables, which the
 * runtime discards. */
void OnUnload(void)
{
	if (hsa_is_live())
		runtime_close();
}
