/* test_sdk_toggled [STOPS]: a profiler whose two contexts are stopped, started and flushed at
 * moments that are drawn, STOPS times in all, while threads launch kernels. No `dagtap record` is
 * there: the library's own recording begins and ends with the contexts.
 *
 * A launch during which a context was started gives this context one record of the call and one of
 * the kernel; a launch during which it was stopped gives none. What is launched while it is being
 * started or stopped gives at most one of each. HIP is a dispatch table of this program, whose
 * hipLaunchKernel writes a packet to a queue of the software GPU: the size of its grid is the
 * launch's number. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/inject.h"
#include "sdk/abi.h"
#include "sdk/functions.h"
#include "toggled_hip.h"

/* Fewer under a sanitizer, which makes all of it slower. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STOPS 100
#else
#define STOPS 1000
#endif
#define CONTEXTS      2
#define WORKERS	      2
#define BETWEEN_DRAIN 4 /* launches of a worker between waits for its queue */
/* Launches after a step of a toggling thread until its next one. */
#define LAUNCHES_MOST 1024
/* After so many rounds of both toggling threads, of 4 steps each, the recording ends. So it has the
 * records of 34,000 launches at most, less than 300 bytes for each. They fit into the memory that
 * is ready when a recording begins: none is dropped however late the housekeeper runs. */
#define ROUNDS_MOST   4
#define READY	      "32M"
#define STEPS	      8 /* of a start and a stop, at most */
#define NEVER	      UINT64_MAX

/* For any thread; an assertion of cmocka's is for the main one. */
#define EXPECT(condition)                                                                          \
	((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), abort()))

/* What a launch has met in a context: 0 if the context was started or stopped meanwhile. */
enum meeting { BETWEEN, STARTED, STOPPED };

struct launch {
	uint8_t met[CONTEXTS];	      /* enum meeting; its worker's */
	uint8_t calls[CONTEXTS];      /* records; the delivering thread's */
	uint8_t dispatches[CONTEXTS]; /* as above */
};

static struct {
	struct sdk_id id, buffer;
	/* Counts starts and stops, which take one of two steps each: even numbers are those of a
	 * context that nobody starts or stops, 0 and multiples of 4 of one that is stopped. */
	_Atomic uint64_t steps;
	_Atomic uint64_t awaited; /* the launch that the toggling thread waits for */
	sem_t is_there;
	uint64_t seed;
} contexts[CONTEXTS];

static unsigned stops = STOPS;
static struct launch *launches; /* by number */
static uint64_t most_launches;
static _Atomic uint64_t launched;
static _Atomic uint64_t allowed; /* launches; the workers wait before the next one */
static _Atomic int togglers;
static pthread_mutex_t allowing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_allowed = PTHREAD_COND_INITIALIZER;
static _Atomic uint64_t unknown_records; /* of no launch */
static pthread_barrier_t both_stopped;
static const struct inject_table *injected;

/* ---- the profiler ---- */

static void take_records(struct sdk_id context, struct sdk_id from,
			 struct sdk_record_header **headers, size_t count, void *data,
			 uint64_t dropped)
{
	size_t number = (size_t)(uintptr_t)data;

	for (size_t i = 0; i < count; i++) {
		const struct sdk_hip_record *call = headers[i]->payload;
		const struct sdk_dispatch_record *dispatch = headers[i]->payload;
		bool is_call = headers[i]->kind == SDK_BUFFER_HIP_RUNTIME_API;
		uint64_t launch =
			is_call ? call->correlation.external.value : dispatch->info.grid[0];

		if (!launch || launch > most_launches)
			atomic_fetch_add(&unknown_records, 1);
		else if (is_call)
			launches[launch - 1].calls[number]++;
		else
			launches[launch - 1].dispatches[number]++;
	}
	atomic_fetch_add(&unknown_records, dropped);
}

/* The operation of hipLaunchKernel, or -1. */
static int launch_operation(void)
{
	const char *name;

	for (int i = 0; rocprofiler_query_buffer_tracing_kind_operation_name(
				SDK_BUFFER_HIP_RUNTIME_API, i, &name, NULL) == SDK_SUCCESS;
	     i++)
		if (!strcmp(name, "hipLaunchKernel"))
			return i;
	return -1;
}

static int configure_context(size_t number)
{
	const int launch = launch_operation();
	struct sdk_id *buffer = &contexts[number].buffer;
	int status;

	status = rocprofiler_create_context(&contexts[number].id);
	if (status == SDK_SUCCESS)
		status = rocprofiler_create_buffer(contexts[number].id, 65536, 32768,
						   SDK_POLICY_LOSSLESS, take_records,
						   (void *)number, buffer);
	if (status == SDK_SUCCESS)
		status = rocprofiler_configure_buffer_tracing_service(
			contexts[number].id, SDK_BUFFER_HIP_RUNTIME_API, &launch, 1, *buffer);
	if (status == SDK_SUCCESS)
		status = rocprofiler_configure_buffer_tracing_service(
			contexts[number].id, SDK_BUFFER_KERNEL_DISPATCH, NULL, 0, *buffer);
	return status;
}

static int initialize(void (*finalize)(struct sdk_client), void *data)
{
	for (size_t i = 0; i < CONTEXTS; i++)
		if (configure_context(i) != SDK_SUCCESS)
			return -1;
	return 0;
}

static struct sdk_configuration *configure(uint32_t version, const char *text, uint32_t priority,
					   struct sdk_client *client)
{
	static struct sdk_configuration configuration = {sizeof(configuration), initialize, NULL,
							 NULL};

	return &configuration;
}

/* ---- threads that launch ---- */

static enum meeting meeting_of(uint64_t before, uint64_t after)
{
	if (before != after || before % 2)
		return BETWEEN;
	return before % 4 ? STARTED : STOPPED;
}

/* Wakes the thread that waits for this launch or an earlier one. */
static void tell_toggler(size_t context, uint64_t number)
{
	uint64_t awaited = atomic_load(&contexts[context].awaited);

	if (number >= awaited &&
	    atomic_compare_exchange_strong(&contexts[context].awaited, &awaited, NEVER))
		sem_post(&contexts[context].is_there);
}

/* Launches a kernel and notes what it has met. */
static void launch_next(void *queue, uint64_t tid)
{
	uint64_t number = atomic_fetch_add(&launched, 1) + 1, before[CONTEXTS];

	EXPECT(number <= most_launches);
	for (size_t i = 0; i < CONTEXTS; i++) {
		rocprofiler_push_external_correlation_id(contexts[i].id, tid,
							 (union sdk_user){number});
		before[i] = atomic_load(&contexts[i].steps);
	}
	toggled_launch(queue, number);
	for (size_t i = 0; i < CONTEXTS; i++) {
		launches[number - 1].met[i] =
			(uint8_t)meeting_of(before[i], atomic_load(&contexts[i].steps));
		rocprofiler_pop_external_correlation_id(contexts[i].id, tid, NULL);
		tell_toggler(i, number);
	}
}

static bool may_launch(void)
{
	return atomic_load(&launched) < atomic_load(&allowed) || !atomic_load(&togglers);
}

static void await_allowance(void)
{
	if (may_launch())
		return;
	pthread_mutex_lock(&allowing);
	while (!may_launch())
		pthread_cond_wait(&is_allowed, &allowing);
	pthread_mutex_unlock(&allowing);
}

static void *work(void *queue)
{
	uint64_t tid;

	rocprofiler_get_thread_id(&tid);
	while (atomic_load(&togglers)) {
		await_allowance();
		for (int i = 0; i < BETWEEN_DRAIN; i++)
			launch_next(queue, tid);
		toggled_drain(queue);
	}
	return NULL;
}

/* ---- threads that stop and start ---- */

static uint64_t draw(size_t context, uint64_t below)
{
	contexts[context].seed =
		contexts[context].seed * 6364136223846793005u + 1442695040888963407u;
	return (contexts[context].seed >> 33) % below;
}

/* A step of a toggling thread: the workers may go on. DONE: 1 if it is the thread's last. */
static void allow_launches(int done)
{
	pthread_mutex_lock(&allowing);
	atomic_store(&allowed, atomic_load(&launched) + LAUNCHES_MOST);
	atomic_fetch_sub(&togglers, done);
	pthread_cond_broadcast(&is_allowed);
	pthread_mutex_unlock(&allowing);
}

/* Waits until up to MOST more kernels have been launched, how many is drawn. */
static void await_launches(size_t context, uint64_t most)
{
	atomic_store(&contexts[context].awaited, atomic_load(&launched) + draw(context, most));
	allow_launches(0);
	sem_wait(&contexts[context].is_there);
}

static void flush_perhaps(size_t context)
{
	allow_launches(0);
	if (draw(context, 4) == 0)
		EXPECT(rocprofiler_flush_buffer(contexts[context].buffer) == SDK_SUCCESS);
}

/* Ends the recording, which a flush does when no context is started. */
static void end_recording_together(size_t context)
{
	if (pthread_barrier_wait(&both_stopped) == PTHREAD_BARRIER_SERIAL_THREAD) {
		EXPECT(rocprofiler_flush_buffer(contexts[context].buffer) == SDK_SUCCESS);
		EXPECT(!injected->is_recording());
	}
	pthread_barrier_wait(&both_stopped);
}

static void *toggle(void *number)
{
	size_t context = (size_t)(uintptr_t)number;

	for (unsigned i = 0; i < stops / CONTEXTS; i++) {
		await_launches(context, 64);
		atomic_fetch_add(&contexts[context].steps, 1);
		EXPECT(rocprofiler_start_context(contexts[context].id) == SDK_SUCCESS);
		atomic_fetch_add(&contexts[context].steps, 1);
		await_launches(context, 256);
		flush_perhaps(context);
		atomic_fetch_add(&contexts[context].steps, 1);
		EXPECT(rocprofiler_stop_context(contexts[context].id) == SDK_SUCCESS);
		atomic_fetch_add(&contexts[context].steps, 1);
		flush_perhaps(context);
		if ((i + 1) % ROUNDS_MOST == 0)
			end_recording_together(context);
	}
	allow_launches(1);
	return NULL;
}

/* ---- the case ---- */

static int setup(void **state)
{
	void *library;
	size_t bytes;

	setenv("DAGTAP_READY", READY, 1);
	most_launches = (uint64_t)stops * STEPS * (LAUNCHES_MOST + WORKERS * BETWEEN_DRAIN);
	bytes = most_launches * sizeof(*launches);
	launches = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (launches == MAP_FAILED || rocprofiler_force_configure(configure) != SDK_SUCCESS)
		return -1;
	library = dlopen(INJECTED, RTLD_NOW | RTLD_NOLOAD);
	injected = library ? dlsym(library, INJECT_SYMBOL) : NULL;
	if (!injected)
		return -1;
	toggled_hip_open();
	return 0;
}

static int teardown(void **state)
{
	toggled_hip_close();
	return munmap(launches, most_launches * sizeof(*launches));
}

static void run_threads(void)
{
	pthread_t workers[WORKERS], threads[CONTEXTS];
	void *queues[WORKERS];

	atomic_store(&togglers, CONTEXTS);
	assert_int_equal(pthread_barrier_init(&both_stopped, NULL, CONTEXTS), 0);
	for (size_t i = 0; i < CONTEXTS; i++) {
		contexts[i].seed = test_seed() * CONTEXTS + i;
		contexts[i].awaited = NEVER;
		sem_init(&contexts[i].is_there, 0, 0);
		assert_int_equal(pthread_create(&threads[i], NULL, toggle, (void *)i), 0);
	}
	for (int i = 0; i < WORKERS; i++) {
		queues[i] = toggled_queue_create();
		assert_int_equal(pthread_create(&workers[i], NULL, work, queues[i]), 0);
	}
	for (size_t i = 0; i < CONTEXTS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(workers[i], NULL);
		toggled_queue_destroy(queues[i]);
	}
}

/* Returns whether a launch has the records that it must have in a context. */
static bool is_right(const struct launch *launch, size_t context)
{
	unsigned calls = launch->calls[context], dispatches = launch->dispatches[context];

	switch (launch->met[context]) {
	case STARTED:
		return calls == 1 && dispatches == 1;
	case STOPPED:
		return calls == 0 && dispatches == 0;
	default:
		return calls <= 1 && dispatches <= 1;
	}
}

static void each_launch_gives_the_records_of_what_it_met(void **state)
{
	uint64_t met[CONTEXTS][3] = {{0}}, wrong = 0, count;

	run_threads();
	count = atomic_load(&launched);
	for (size_t i = 0; i < CONTEXTS; i++)
		assert_int_equal(rocprofiler_flush_buffer(contexts[i].buffer), SDK_SUCCESS);
	for (uint64_t i = 0; i < count; i++) {
		for (size_t k = 0; k < CONTEXTS; k++) {
			const struct launch *launch = &launches[i];

			met[k][launch->met[k]]++;
			if (is_right(launch, k))
				continue;
			if (wrong++ < 8)
				print_error("launch %lu, which met context %zu in state %u and the "
					    "other in %u: %u calls, %u dispatches\n",
					    i + 1, k, launch->met[k], launch->met[1 - k],
					    launch->calls[k], launch->dispatches[k]);
		}
	}
	for (size_t k = 0; k < CONTEXTS; k++)
		print_message("context %zu: %lu launches while it was started, %lu stopped, %lu "
			      "between\n",
			      k, met[k][STARTED], met[k][STOPPED], met[k][BETWEEN]);
	for (size_t k = 0; k < CONTEXTS; k++)
		assert_true(met[k][STARTED] && met[k][STOPPED]);
	assert_int_equal(wrong, 0);
	assert_int_equal(atomic_load(&unknown_records), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_launch_gives_the_records_of_what_it_met),
	};

	if (argc > 1)
		stops = (unsigned)atoi(argv[1]);
	return cmocka_run_group_tests(tests, setup, teardown);
}
