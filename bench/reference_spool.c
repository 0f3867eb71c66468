/*
 * The main loop of the reference run: whose turn it is, how the calls are divided among threads and
 * steps, and the file. A thread's calls are in reference_setup.c and reference_step.c.
 */
#include "reference_spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reference_run.h"

#define PID	      4242
#define REALTIME_NS   1735689600000000000u
#define LOOK_NS	      200000
#define TICK_FIRST_NS 10000000u
#define TICK_NS	      250000000u
#define OTHERS_PART   9 /* one in so many calls is made by a thread that submits nothing */

enum { MONITOR = REFERENCE_WORKERS, HOUSE, ACTORS };

/* ---- how much each thread does ---- */

static uint64_t of_steps(uint64_t total, uint32_t steps)
{
	return total * steps / REFERENCE_STEPS;
}

/* Returns part INDEX of TOTAL when it is divided into COUNT parts as evenly as possible. */
static uint64_t part(uint64_t total, uint64_t index, uint64_t count)
{
	return total * (index + 1) / count - total * index / count;
}

struct reference_counts reference_spool_counts(uint32_t steps)
{
	return (struct reference_counts){
		.device_events = of_steps(REFERENCE_DEVICE_EVENTS, steps),
		.host_events = of_steps(REFERENCE_HOST_EVENTS, steps),
		.submitting_calls = of_steps(REFERENCE_SUBMITTING_CALLS, steps),
		.graph_launches = (uint64_t)steps * REFERENCE_GPUS * REFERENCE_LAUNCHES,
	};
}

/* Returns GPU's part of TOTAL in the present step, with TOTAL divided over all steps and GPUs. */
static uint64_t gpu_part(const struct reference_run *run, uint64_t total, uint32_t gpu)
{
	return part(total, (uint64_t)run->step * REFERENCE_GPUS + gpu,
		    (uint64_t)run->steps * REFERENCE_GPUS);
}

static struct reference_share gpu_share(const struct reference_run *run, uint32_t gpu)
{
	struct reference_counts counts = reference_spool_counts(run->steps);
	uint32_t calls = (uint32_t)gpu_part(run, counts.host_events, gpu);
	uint32_t submits = (uint32_t)gpu_part(run, counts.submitting_calls, gpu);
	uint32_t activities = (uint32_t)gpu_part(run, counts.device_events, gpu);

	return (struct reference_share){
		.calls = calls - calls / OTHERS_PART,
		.preamble = run->step ? 0 : reference_preamble_calls(run),
		.submits = submits,
		.doubles = activities - submits - (REFERENCE_GRAPH_ACTIVITIES - REFERENCE_LAUNCHES),
	};
}

static struct reference_share other_share(const struct reference_run *run, uint32_t other)
{
	uint64_t total = reference_spool_counts(run->steps).host_events;
	uint64_t calls = 0;

	for (uint32_t gpu = 0; gpu < REFERENCE_GPUS; gpu++)
		calls += gpu_part(run, total, gpu) / OTHERS_PART;
	return (struct reference_share){.calls = (uint32_t)part(calls, other, REFERENCE_OTHERS)};
}

/* ---- steps ---- */

static bool has_step_marker(const struct reference_worker *worker)
{
	return worker->index <= REFERENCE_GPUS; /* the threads that submit, and the main thread */
}

static void begin_step(struct reference_run *run)
{
	char text[64];

	run->arrived = 0;
	snprintf(text, sizeof(text), "train#step_num=%u#", run->step);
	for (uint32_t i = 0; i < REFERENCE_WORKERS; i++) {
		struct reference_worker *worker = &run->workers[i];

		worker->share = i < REFERENCE_GPUS ? gpu_share(run, i)
						   : other_share(run, i - REFERENCE_GPUS);
		worker->call = 0;
		run->next_ns[i] = run->latest_ns + 20000 + (uint64_t)i * 700;
		if (has_step_marker(worker))
			reference_scope_push(run, worker, text);
	}
}

static void end_share(struct reference_run *run, struct reference_worker *worker)
{
	while (worker->depth)
		reference_scope_pop(run, worker);
	run->next_ns[worker->index] = UINT64_MAX;
	if (++run->arrived < REFERENCE_WORKERS)
		return;
	if (++run->step < run->steps)
		begin_step(run);
}

static void act(struct reference_run *run, struct reference_worker *worker)
{
	uint32_t call = worker->call++;

	if (worker->index >= REFERENCE_GPUS)
		reference_other_call(run, worker, call);
	else if (call < worker->share.preamble)
		reference_preamble_call(run, worker, call);
	else
		reference_step_call(run, worker, call - worker->share.preamble);
	if (worker->call == worker->share.calls)
		end_share(run, worker);
}

static void keep_house(struct reference_run *run, uint64_t now_ns)
{
	run->house->now_ns = now_ns;
	reference_put_samples(run->machine, run->house);
	reference_put_witness(run->house, "hip", "calls", run->last_cid);
}

static uint32_t earliest(const struct reference_run *run)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < ACTORS; i++) {
		if (run->next_ns[i] < run->next_ns[first])
			first = i;
	}
	return first;
}

static void play(struct reference_run *run)
{
	begin_step(run);
	while (run->step < run->steps) {
		uint32_t actor = earliest(run);
		uint64_t now_ns = run->next_ns[actor];

		if (actor == MONITOR) {
			run->monitor->now_ns = now_ns;
			reference_collect(run->machine, now_ns);
			run->next_ns[actor] = now_ns + LOOK_NS;
		} else if (actor == HOUSE) {
			keep_house(run, now_ns);
			run->tick_ns = run->tick_ns * 2 < TICK_NS ? run->tick_ns * 2 : TICK_NS;
			run->next_ns[actor] = now_ns + run->tick_ns;
		} else {
			act(run, &run->workers[actor]);
		}
	}
}

/* ---- the file ---- */

static struct spool_stream *add_stream(struct reference_run *run, const char *name, uint32_t number,
				       uint64_t scope_number)
{
	struct writer_thread thread = {.tid = PID + number, .scope_number = scope_number};

	snprintf(thread.name, sizeof(thread.name), "%s", name);
	return spool_file_stream(run->file, &thread);
}

/* Scope numbers go to the threads that push: the main thread first, then those that submit. */
static int add_streams(struct reference_run *run, uint64_t seed)
{
	static const char *const others[] = {"python3", "pjrt_poller", "host_callbacks",
					     "rccl_proxy", "data_loader"};
	bool has_all = true;
	char name[16];

	for (uint32_t i = 0; i < REFERENCE_WORKERS; i++) {
		struct reference_worker *worker = &run->workers[i];
		bool is_main = i == REFERENCE_GPUS;

		worker->index = i;
		worker->random.state = seed + i;
		snprintf(name, sizeof(name), "xla_execute/%u", i % REFERENCE_GPUS);
		worker->stream =
			add_stream(run, i < REFERENCE_GPUS ? name : others[i - REFERENCE_GPUS],
				   is_main ? 0 : 100 + i,
				   is_main		? 1
				   : i < REFERENCE_GPUS ? 2 + i
							: 0);
		has_all &= worker->stream != NULL;
	}
	run->monitor = add_stream(run, "dagtap-monitor", 11, 0);
	run->house = add_stream(run, "dagtap-house", 10, 0);
	return has_all && run->monitor && run->house ? 0 : -ENOMEM;
}

static void put_note(struct spool_stream *stream, uint32_t steps)
{
	struct record_note record = {.ns = stream->now_ns};
	char text[128];

	snprintf(text, sizeof(text),
		 "made up by dagtap-bench reference, in the shape of a run of %u steps", steps);
	spool_stream_put_text(stream, RECORD_NOTE, (uint32_t)strlen(text), &record, sizeof(record),
			      text);
}

static void begin_session(struct reference_run *run)
{
	struct spool_stream *stream = run->workers[REFERENCE_GPUS].stream;
	const char *text;

	put_note(stream, run->steps);
	for (uint32_t function = 1; (text = reference_api_text(function)); function++) {
		struct record_api_name record = {.domain = RECORD_DOMAIN_HIP,
						 .text_bytes = strlen(text)};

		spool_stream_put_text(stream, RECORD_API_NAME, function, &record, sizeof(record),
				      text);
	}
	reference_put_agents(stream);
}

static void put_source(struct spool_stream *stream, const char *name, const char *text)
{
	struct record_source record = {.text_bytes = strlen(text)};

	memcpy(record.name, name, strlen(name));
	spool_stream_put_text(stream, RECORD_SOURCE, RECORD_SOURCE_ON, &record, sizeof(record),
			      text);
}

static void end_session(struct reference_run *run)
{
	struct spool_stream *stream = run->workers[REFERENCE_GPUS].stream;
	struct record_end *end;

	run->monitor->now_ns = run->latest_ns;
	reference_collect(run->machine, UINT64_MAX);
	run->latest_ns += 1000000;
	keep_house(run, run->latest_ns);
	stream->now_ns = run->latest_ns;
	reference_put_witness(stream, "hip", "open", 0);
	reference_put_witness(stream, "hip", "calls", run->last_cid);
	put_source(stream, "hip", "made up: no HIP library was called");
	put_source(stream, "hsa", "made up: no device ran");
	end = spool_stream_put(stream, RECORD_END, sizeof(*end), 0);
	end->ns = run->latest_ns;
}

static int write_run(struct reference_run *run, uint64_t seed)
{
	int error = add_streams(run, seed);

	if (!error)
		error = reference_calls_make(run->calls);
	if (error)
		return error;
	reference_kernels_make(run->kernels);
	error = reference_machine_create(run->kernels, ~seed, run->monitor, &run->machine);
	if (error)
		return error;
	reference_graphs_make(run->machine, run->graphs);
	run->latest_ns = REFERENCE_START_NS;
	run->tick_ns = TICK_FIRST_NS;
	run->next_ns[MONITOR] = REFERENCE_START_NS + LOOK_NS;
	run->next_ns[HOUSE] = REFERENCE_START_NS + run->tick_ns;
	begin_session(run);
	play(run);
	end_session(run);
	reference_machine_destroy(run->machine);
	return 0;
}

static int create_file(struct reference_run *run, const char *path, uint64_t seed)
{
	struct spool_file_identity identity = {
		.pid = PID,
		.session_id = seed ^ 0x7265666572656e63,
		.start_ns = REFERENCE_START_NS,
		.start_realtime_ns = REALTIME_NS,
		.host = "reference",
		.exe = "dagtap-bench",
	};
	char cmdline[128];
	int length = snprintf(cmdline, sizeof(cmdline),
			      "dagtap-bench reference --seed %" PRIu64 " --scale %u.%02u", seed,
			      run->steps / REFERENCE_STEPS, run->steps % REFERENCE_STEPS);

	for (char *space = cmdline; (space = strchr(space, ' '));)
		*space++ = '\0';
	identity.cmdline = cmdline;
	identity.cmdline_bytes = (uint32_t)length + 1;
	return spool_file_create(path, &identity, &run->file);
}

int reference_spool_write(const char *path, uint64_t seed, uint32_t steps)
{
	struct reference_run *run = calloc(1, sizeof(*run));
	int error, close_error;

	if (!run)
		return -ENOMEM;
	run->steps = steps;
	error = create_file(run, path, seed);
	if (error) {
		free(run);
		return error;
	}
	error = write_run(run, seed);
	close_error = spool_file_close(run->file, run->latest_ns);
	if (!error)
		error = close_error;
	if (error)
		unlink(path);
	free(run);
	return error;
}
