/* The copy engines (dma.h): the lists of jobs, and the threads that run them. */
#include "softgpu/dma.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/device_hold.h"
#include "softgpu/device_memory.h"
#include "softgpu/dma_job.h"
#include "softgpu/report.h"
#include "softgpu/schedule.h"
#include "softgpu/signal.h"
#include "softgpu/signal_epoch.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"
#include "softgpu/work_log.h"

/* The interval for polling dependencies: the program can store to a signal in pool memory without a
 * call of this library, and so without a change of the epoch. */
#define LOOK_AGAIN_NS 1000000ull

static const char *const direction_names[DIRECTION_COUNT] = {"H2H", "H2D", "D2H", "D2D"};

struct engine {
	struct job *jobs; /* oldest first */
	pthread_cond_t work;
	bool is_started;
	bool waits_for_signals; /* has jobs, of which none was ready at the last check */
	struct schedule_party party;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the engines */
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
/* By the agent's index and the engine's number. The CPU has engines too, for copies on the host. */
static struct engine engines[SOFTGPU_MAX_GPUS + 1][DMA_ENGINES];
static _Atomic bool profiling;

static void guard_lock(void)
{
	process_guard_lock(&lock);
}

static void lock_engines(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
}

bool dma_profiling_enabled(void)
{
	return atomic_load_explicit(&profiling, memory_order_relaxed);
}

hsa_status_t softgpu_hsa_amd_profiling_async_copy_enable(bool enable)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	atomic_store_explicit(&profiling, enable, memory_order_relaxed);
	return HSA_STATUS_SUCCESS;
}

size_t dma_job_bytes(const struct job *job)
{
	return job->row_bytes * job->rows * job->slices;
}

static void move_bytes(const struct job *job)
{
	char *to = memory_translate(job->to.base);
	const char *from = memory_translate(job->from.base);

	for (size_t z = 0; z < job->slices; z++) {
		for (size_t y = 0; y < job->rows; y++)
			memmove(to + z * job->to.slice + y * job->to.pitch,
				from + z * job->from.slice + y * job->from.pitch, job->row_bytes);
	}
}

static uint64_t modelled_ns(size_t bytes)
{
	const struct softgpu_config *config = config_get();

	if (config->copy_bytes_per_us == 0)
		return config->copy_ns;
	return config->copy_ns + bytes * 1000 / config->copy_bytes_per_us;
}

void dma_job_free(struct job *job)
{
	for (uint32_t i = 0; i < job->dependency_count; i++)
		signal_release(job->dependencies[i]);
	free(job);
}

/* Writes the work log's line. Returns its place for work_log_end; 0 when there is no work log. */
static uint64_t log_job(const struct job *job, uint64_t start_ns)
{
	struct work_log_copy copy = {
		.from = job->from_agent,
		.to = job->to_agent,
		.bytes = dma_job_bytes(job),
	};

	if (!work_log_wanted())
		return 0;
	copy.agent = agent_find(job->agent)->index;
	copy.begin_tick = clock_host_to_ticks(start_ns);
	return work_log_copy(&copy);
}

/* Runs JOB, completes it at its modelled end, and frees it. */
static void run_job(struct job *job)
{
	struct report_span span = {.start_ns = clock_host_ns()};
	uint64_t work_place = log_job(job, span.start_ns);

	softgpu_count(copies_begun, 1);
	move_bytes(job);
	span.end_ns = clock_host_ns();
	if (!schedule_is_on()) {
		if (span.end_ns < span.start_ns + modelled_ns(dma_job_bytes(job)))
			span.end_ns = span.start_ns + modelled_ns(dma_job_bytes(job));
		clock_sleep_until(span.end_ns);
	}
	span.start_tick = clock_host_to_ticks(span.start_ns);
	span.end_tick = clock_host_to_ticks(span.end_ns);
	if (report_truth_wanted())
		report_truth_copy(direction_names[job->direction], dma_job_bytes(job), &span);
	work_log_end(work_place, span.end_tick);
	signal_complete_copy(job->completion, job->stamp, span.start_tick, span.end_tick,
			     job->agent);
	signal_release(job->completion);
	dma_job_free(job);
	softgpu_count(copies_ended, 1);
}

static bool is_ready(const struct job *job)
{
	for (uint32_t i = 0; i < job->dependency_count; i++) {
		if (signal_value(job->dependencies[i]) != 0)
			return false;
	}
	return true;
}

/* Under lock. Removes a job whose dependencies are met from the list and returns it: the oldest one
 * after SKIPPED others of that kind. Returns NULL when there is none, or when taking is held. */
static struct job *take_ready(struct engine *engine, uint32_t skipped)
{
	struct job **link = &engine->jobs;
	struct job *job;

	while (*link && (!is_ready(*link) || skipped-- > 0))
		link = &(*link)->next;
	job = *link;
	if (job && !hold_lets_take())
		return NULL;
	if (job)
		*link = job->next;
	return job;
}

/* Under lock. Returns the number of jobs whose dependencies are met. */
static uint32_t count_ready(const struct engine *engine)
{
	uint32_t count = 0;

	for (const struct job *job = engine->jobs; job; job = job->next)
		count += is_ready(job);
	return count;
}

/* The engine's loop with a schedule: one copy for each turn. Does not return. */
static void run_scheduled(struct engine *engine)
{
	for (;;) {
		uint32_t seen = signal_epoch(), ready;
		struct job *job;
		bool has_jobs;
		int which;

		lock_engines();
		has_jobs = engine->jobs != NULL;
		ready = hold_would_let_take() ? count_ready(engine) : 0;
		pthread_mutex_unlock(&lock);
		which = schedule_wait(&engine->party, seen, ready, has_jobs);
		if (which < 0)
			continue;
		lock_engines();
		job = take_ready(engine, (uint32_t)which);
		pthread_mutex_unlock(&lock);
		if (job)
			run_job(job);
		schedule_turn_ends(&engine->party);
	}
}

static void *run_engine(void *argument)
{
	struct engine *engine = argument;

	if (schedule_is_on())
		run_scheduled(engine);
	for (;;) {
		uint32_t seen = signal_epoch();
		struct job *job;

		lock_engines();
		while (!engine->jobs)
			pthread_cond_wait(&engine->work, &lock);
		job = take_ready(engine, 0);
		engine->waits_for_signals = !job;
		pthread_mutex_unlock(&lock);
		if (job) {
			run_job(job);
		} else {
			softgpu_count(idle_looks, 1);
			signal_epoch_wait(seen, clock_read_ns(CLOCK_MONOTONIC) + LOOK_AGAIN_NS);
		}
	}
	return NULL;
}

/* Under lock. Starts the engine's thread if it does not run. Returns 0 or a negative errno. */
static int start_engine(struct engine *engine)
{
	pthread_t thread;
	int err;

	if (engine->is_started)
		return 0;
	pthread_cond_init(&engine->work, NULL);
	if (schedule_is_on())
		schedule_join(&engine->party);
	err = process_start_thread(&thread, "softgpu-copy", run_engine, engine);
	if (err < 0 && schedule_is_on())
		schedule_leave(&engine->party);
	if (err < 0)
		return err;
	pthread_detach(thread);
	engine->is_started = true;
	return 0;
}

hsa_status_t dma_submit(struct job *job)
{
	struct engine *engine = &engines[agent_find(job->agent)->index][job->engine];
	struct job **link = &engine->jobs;
	bool waits_for_signals;

	lock_engines();
	if (process_is_forked_child() || start_engine(engine) < 0) {
		pthread_mutex_unlock(&lock);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	while (*link)
		link = &(*link)->next;
	*link = job;
	waits_for_signals = engine->waits_for_signals || schedule_is_on();
	pthread_cond_signal(&engine->work);
	if (schedule_is_on())
		schedule_host_acts();
	pthread_mutex_unlock(&lock);
	if (waits_for_signals)
		schedule_bump_epoch();
	return HSA_STATUS_SUCCESS;
}

uint32_t dma_idle_engines(uint32_t agent)
{
	uint32_t mask = 0;

	lock_engines();
	for (uint32_t i = 0; i < DMA_ENGINES; i++)
		mask |= (uint32_t)!engines[agent][i].jobs << i;
	pthread_mutex_unlock(&lock);
	return mask;
}
