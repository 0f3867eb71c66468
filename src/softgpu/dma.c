/* The copy engines (dma.h): the lists of jobs, the threads that run them, and the HSA functions
 * that submit copies. */
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

enum direction {
	HOST_TO_HOST,
	HOST_TO_DEVICE,
	DEVICE_TO_HOST,
	DEVICE_TO_DEVICE,
	DIRECTION_COUNT,
};

static const char *const direction_names[DIRECTION_COUNT] = {"H2H", "H2D", "D2H", "D2D"};

/* The engine of each direction, for copies that name no engine. */
static const uint8_t direction_engines[DIRECTION_COUNT] = {
	[HOST_TO_DEVICE] = 0,
	[DEVICE_TO_HOST] = 1,
	[DEVICE_TO_DEVICE] = 2,
	[HOST_TO_HOST] = 3,
};

/* The source or the destination of a copy: rows of bytes. A linear copy is one row. */
struct side {
	char *base;   /* device address of the first byte */
	size_t pitch; /* bytes from one row to the next */
	size_t slice; /* bytes from one slice to the next */
};

/* A copy. It holds a reference to each of its signals, and its engine owns it once it is
 * submitted. */
struct job {
	struct job *next;
	struct side to;
	struct side from;
	size_t row_bytes;
	size_t rows;
	size_t slices;
	enum direction direction;
	uint32_t from_agent; /* index of the agent */
	uint32_t to_agent;
	uint32_t engine;   /* number of the engine in AGENT; see start_linear */
	hsa_agent_t agent; /* the agent whose engine runs the copy */
	bool stamp;	   /* write ticks to the completion signal */
	hsa_signal_t completion;
	uint32_t dependency_count;
	hsa_signal_t dependencies[];
};

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

static size_t job_bytes(const struct job *job)
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

static void free_job(struct job *job)
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
		.bytes = job_bytes(job),
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
		if (span.end_ns < span.start_ns + modelled_ns(job_bytes(job)))
			span.end_ns = span.start_ns + modelled_ns(job_bytes(job));
		clock_sleep_until(span.end_ns);
	}
	span.start_tick = clock_host_to_ticks(span.start_ns);
	span.end_tick = clock_host_to_ticks(span.end_ns);
	if (report_truth_wanted())
		report_truth_copy(direction_names[job->direction], job_bytes(job), &span);
	work_log_end(work_place, span.end_tick);
	signal_complete_copy(job->completion, job->stamp, span.start_tick, span.end_tick,
			     job->agent);
	signal_release(job->completion);
	free_job(job);
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

/* Gives JOB to its engine, which owns it after success. */
static hsa_status_t submit(struct job *job)
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

/* Takes references to the signals, which the program may destroy while the job waits. On failure
 * those to DEPENDENCIES stay with the job, for free_job. */
static hsa_status_t hold_signals(struct job *job, const hsa_signal_t *dependencies, uint32_t count)
{
	if (!signal_retain(job->completion))
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	for (uint32_t i = 0; i < count; i++) {
		if (!signal_retain(dependencies[i])) {
			signal_release(job->completion);
			return HSA_STATUS_ERROR_INVALID_SIGNAL;
		}
		job->dependencies[job->dependency_count++] = dependencies[i];
	}
	return HSA_STATUS_SUCCESS;
}

/* Submits a copy of DESCRIPTION with its dependencies. */
static hsa_status_t enqueue(const struct job *description, const hsa_signal_t *dependencies,
			    uint32_t count)
{
	struct job *job = malloc(sizeof(*job) + count * sizeof(job->dependencies[0]));
	hsa_status_t status;

	if (!job)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*job = *description;
	job->stamp = dma_profiling_enabled();
	status = hold_signals(job, dependencies, count);
	if (status != HSA_STATUS_SUCCESS) {
		free_job(job);
		return status;
	}
	status = submit(job);
	if (status != HSA_STATUS_SUCCESS) {
		signal_release(job->completion);
		free_job(job);
	}
	return status;
}

static enum direction direction_of(const struct softgpu_agent *to, const struct softgpu_agent *from)
{
	if (from->is_gpu)
		return to->is_gpu ? DEVICE_TO_DEVICE : DEVICE_TO_HOST;
	return to->is_gpu ? HOST_TO_DEVICE : HOST_TO_HOST;
}

/* Sets the remaining fields of a copy of one row and submits it. JOB->engine is below DMA_ENGINES,
 * or equal to it for the engine of the copy's direction. */
static hsa_status_t start_linear(struct job *job, const struct softgpu_agent *to,
				 const struct softgpu_agent *from, uint32_t count,
				 const hsa_signal_t *dependencies)
{
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!job->to.base || !job->from.base || (count > 0 && !dependencies))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!to || !from)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (job->completion.handle == 0)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!memory_range_fits(job->to.base, job->row_bytes) ||
	    !memory_range_fits(job->from.base, job->row_bytes))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (job->row_bytes == 0)
		return HSA_STATUS_SUCCESS;
	job->rows = 1;
	job->slices = 1;
	job->direction = direction_of(to, from);
	job->from_agent = from->index;
	job->to_agent = to->index;
	if (job->engine == DMA_ENGINES)
		job->engine = direction_engines[job->direction];
	job->agent = agent_handle(from->is_gpu ? from : to);
	status = enqueue(job, dependencies, count);
	if (status == HSA_STATUS_SUCCESS) {
		softgpu_count(copies, 1);
		softgpu_count(copy_bytes, job->row_bytes);
	}
	return status;
}

hsa_status_t softgpu_hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
					       hsa_agent_t src_agent, size_t size,
					       uint32_t num_dep_signals,
					       const hsa_signal_t *dep_signals,
					       hsa_signal_t completion_signal)
{
	struct job job = {
		.to = {.base = dst},
		.from = {.base = (char *)src},
		.row_bytes = size,
		.engine = DMA_ENGINES,
		.completion = completion_signal,
	};

	return start_linear(&job, agent_find(dst_agent), agent_find(src_agent), num_dep_signals,
			    dep_signals);
}

/* ENGINE_ID is one bit of a mask as the next two HSA functions return it. */
hsa_status_t softgpu_hsa_amd_memory_async_copy_on_engine(
	void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
	uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
	uint32_t engine_id, bool force_copy_on_sdma)
{
	struct job job = {
		.to = {.base = dst},
		.from = {.base = (char *)src},
		.row_bytes = size,
		.completion = completion_signal,
	};

	if (__builtin_popcount(engine_id) != 1 || engine_id >= 1u << DMA_ENGINES)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	job.engine = (uint32_t)__builtin_ctz(engine_id);
	return start_linear(&job, agent_find(dst_agent), agent_find(src_agent), num_dep_signals,
			    dep_signals);
}

/* Returns the engines that can copy between two agents: those of the agent that runs such a copy.
 * NULL for an unknown agent. */
static struct engine *engines_between(hsa_agent_t dst_agent, hsa_agent_t src_agent)
{
	const struct softgpu_agent *to = agent_find(dst_agent);
	const struct softgpu_agent *from = agent_find(src_agent);

	if (!to || !from)
		return NULL;
	return engines[from->is_gpu ? from->index : to->index];
}

/* Gives the engines without waiting copies. An engine that runs its last copy is one of them. */
hsa_status_t softgpu_hsa_amd_memory_copy_engine_status(hsa_agent_t dst_agent, hsa_agent_t src_agent,
						       uint32_t *engine_ids_mask)
{
	const struct engine *between = engines_between(dst_agent, src_agent);
	uint32_t mask = 0;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!between)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!engine_ids_mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	lock_engines();
	for (uint32_t i = 0; i < DMA_ENGINES; i++)
		mask |= (uint32_t)!between[i].jobs << i;
	pthread_mutex_unlock(&lock);
	*engine_ids_mask = mask;
	return mask ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t softgpu_hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst_agent,
							      hsa_agent_t src_agent,
							      uint32_t *recommended_ids_mask)
{
	const struct softgpu_agent *to = agent_find(dst_agent);
	const struct softgpu_agent *from = agent_find(src_agent);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!to || !from)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!recommended_ids_mask)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*recommended_ids_mask = 1u << direction_engines[direction_of(to, from)];
	return HSA_STATUS_SUCCESS;
}

/* Gives the start and the pitches of a rectangle. Returns false when the arguments are invalid or
 * when it does not lie inside one allocation. */
static bool place_side(const hsa_pitched_ptr_t *pitched, const hsa_dim3_t *offset,
		       const hsa_dim3_t *range, struct side *ret_side)
{
	size_t first;
	size_t last;

	if (!pitched || !offset || !pitched->base ||
	    ((uintptr_t)pitched->base | pitched->pitch | pitched->slice) % sizeof(uint32_t) != 0)
		return false;
	/* A pitch is at most 1 GiB, so that no sum below overflows, and rows must not overlap. */
	if (pitched->pitch > SIZE_MAX >> 34 || pitched->slice > SIZE_MAX >> 34 ||
	    (range->y > 1 && pitched->pitch < range->x))
		return false;
	first = offset->z * pitched->slice + offset->y * pitched->pitch + offset->x;
	last = first + range->x;
	if (range->y > 0)
		last += (range->y - 1) * pitched->pitch;
	if (range->z > 0)
		last += (range->z - 1) * pitched->slice;
	ret_side->base = (char *)pitched->base + first;
	ret_side->pitch = pitched->pitch;
	ret_side->slice = pitched->slice;
	return memory_range_fits(pitched->base, last);
}

hsa_status_t softgpu_hsa_amd_memory_async_copy_rect(
	const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
	const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent,
	hsa_amd_copy_direction_t dir, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
	hsa_signal_t completion_signal)
{
	const struct softgpu_agent *agent = agent_find(copy_agent);
	struct job job = {.agent = copy_agent, .completion = completion_signal};
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!range || (num_dep_signals > 0 && !dep_signals) || (uint32_t)dir > hsaDeviceToDevice)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent || !agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (completion_signal.handle == 0)
		return HSA_STATUS_ERROR_INVALID_SIGNAL;
	if (!place_side(dst, dst_offset, range, &job.to) ||
	    !place_side(src, src_offset, range, &job.from))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	job.direction = (enum direction)dir;
	job.from_agent = dir & 2 ? agent->index : 0;
	job.to_agent = dir & 1 ? agent->index : 0;
	job.engine = direction_engines[job.direction];
	job.row_bytes = range->x;
	job.rows = range->y;
	job.slices = range->z;
	status = enqueue(&job, dep_signals, num_dep_signals);
	if (status == HSA_STATUS_SUCCESS) {
		softgpu_count(copies_rect, 1);
		softgpu_count(copy_bytes, job_bytes(&job));
	}
	return status;
}
