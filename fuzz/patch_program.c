/* Turns bytes into calls of libdagpatch and checks what they return: patch_program.h. What is added
 * to a recording is in patch_program_nodes.c. */
#include "patch_program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch_program_inner.h"

/* ---- what calls return ---- */

static void stop(const char *why, int rc)
{
	fprintf(stderr, "patch_program: %s (%d)\n", why, rc);
	abort();
}

static int checked(struct program *program, int rc)
{
	program->result.calls++;
	program->result.accepted += rc >= 0;
	if (rc > DAGPATCH_CANNOT_TELL || rc < -200)
		stop("a call returned what no call returns", rc);
	return rc;
}

/* ---- callbacks ---- */

static void step(struct program *program);

static void do_nothing(const void *arguments, const uint32_t grid[3], const uint32_t block[3])
{
	volatile uint64_t sum = *(const uint64_t *)arguments + grid[0] + block[0];

	(void)sum;
}

void program_host_function(void *user)
{
	++*(uint32_t *)user;
}

uint8_t program_fixed[FIXED_BYTES];
uint8_t program_habits[HABITS], program_without_addresses[HABITS];
uint32_t program_host_calls;
static struct program *running;

static uint8_t habit_at(const uint8_t *user)
{
	if (user >= program_habits && user < program_habits + sizeof(program_habits))
		return *user;
	return user ? program_habits[user - program_without_addresses] & 0xfe : 0;
}

int program_record(void *user, void *stream, void *const *addresses)
{
	uint8_t habit = habit_at(user);
	uint32_t one[3] = {1, 1, 1}, value = 1;
	uint64_t at = habit & 1 ? (uintptr_t)addresses[0] : habit;
	void *parameters[2] = {&at, &value};
	int rc = dagpatch_model_launch(stream, running->kernel, one, one, parameters);

	if (rc == 0 && (habit & 2))
		rc = dagpatch_model_host_async(stream, program_host_function, &program_host_calls);
	if (rc == 0 && (habit & 4) && (habit & 1))
		rc = dagpatch_model_memset_async(stream, addresses[0], habit, 1, 4);
	if ((habit & 8) && running->depth < DEPTH)
		step(running);
	return habit & 16 ? -EPIPE : rc;
}

/* Votes as a single rank, or together with a rank that gives the least possible value. */
static int vote(void *user, const struct dagpatch_vote *asked, int64_t *ret_least)
{
	uint8_t habit = habit_at(user);

	if ((habit & 8) && running->depth < DEPTH)
		step(running);
	memcpy(ret_least, asked->values, asked->count * sizeof(*ret_least));
	if (!(habit & 2))
		ret_least[0] = 0;
	return habit & 16 ? -ETIMEDOUT : 0;
}

static void observe(void *user, const struct dagpatch_change *change)
{
	if ((habit_at(user) & 8) && running->depth < DEPTH)
		step(running);
}

/* ---- calls of contexts and caches ---- */

static struct dagpatch_context *context_of(struct program *program)
{
	return program->contexts[byte(program) % CONTEXTS];
}

static void make_context(struct program *program)
{
	/*
	 * Features that the driver lacks: none, each alone, and the sets that HIP's releases lack.
	 */
	static const uint32_t features[] = {0, 1, 2, 4, 8, 16, 128, 129, 13, 29, 45, 61, 109, 237};
	struct dagpatch_context **at = &program->contexts[byte(program) % CONTEXTS];
	struct dagpatch_options options = {
		.size = size_of(program, sizeof(options)),
		.driver = one_in(program, 32) ? "none" : "model",
		.strategy = (enum dagpatch_strategy)(byte(program) % 9),
		.child_depth = byte(program) % 4,
		.table_versions = byte(program) % 8,
		.updates_before_instantiate = byte(program) % 4,
		.verify = one_in(program, 4),
		.observe = one_in(program, 4) ? observe : NULL,
		.observe_user = &program_habits[byte(program) % sizeof(program_habits)],
	};
	struct dagpatch_error error;

	if (*at)
		return;
	dagpatch_model_without(features[byte(program) % (sizeof(features) / sizeof(*features))]);
	checked(program, dagpatch_context_create(&options, at, one_in(program, 2) ? &error : NULL));
}

static void end_context(struct program *program)
{
	struct dagpatch_context **at = &program->contexts[byte(program) % CONTEXTS];

	dagpatch_context_destroy(*at);
	*at = NULL;
}

static void make_cache(struct program *program)
{
	struct dagpatch_cache **at = &program->caches[byte(program) % CACHES];
	struct dagpatch_cache_options options = {
		.size = size_of(program, sizeof(options)),
		.capacity = byte(program) % 3,
		.vote = one_in(program, 2) ? vote : NULL,
		.vote_user = &program_habits[byte(program) % sizeof(program_habits)],
		.ranks_change_together = one_in(program, 2),
	};

	if (!*at)
		checked(program, dagpatch_cache_create(context_of(program), &options, at));
}

static void end_cache(struct program *program)
{
	struct dagpatch_cache **at = &program->caches[byte(program) % CACHES];
	struct dagpatch_cache_stats stats = {.size = size_of(program, sizeof(stats))};

	checked(program, dagpatch_cache_stats(*at, &stats));
	dagpatch_cache_destroy(*at);
	*at = NULL;
}

/* ---- what is done with a recording ---- */

static int bind(struct program *program, struct dagpatch_recording *recording)
{
	const void *addresses[FEW];

	for (uint32_t i = 0; i < FEW; i++)
		addresses[i] = one_in(program, 64) ? NULL : buffer_of(program);
	if (one_in(program, 2))
		return dagpatch_bind_all(recording, array_of(program, addresses),
					 byte(program) % (FEW + 1));
	return dagpatch_bind(recording, number32(program, 3), addresses[0],
			     one_in(program, 8) ? number(program, 256) : SLOT_BYTES);
}

static int set_value(struct program *program, struct dagpatch_recording *recording)
{
	uint8_t bytes[16] = {0};

	if (one_in(program, 2))
		return dagpatch_set_memset_value(recording, number32(program, 8),
						 number32(program, 256));
	return dagpatch_set_argument(recording, number32(program, 8), number32(program, 2),
				     array_of(program, bytes), byte(program) % 17);
}

static int launch(struct program *program, struct dagpatch_recording *recording)
{
	void *stream = one_in(program, 64) ? NULL : program->streams[byte(program) % STREAMS];
	int rc = dagpatch_launch(recording, stream);

	program->result.launches += rc == 0;
	return rc;
}

/* The capture is discarded. */
static int into_capture(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_model_stream *stream = program->streams[byte(program) % STREAMS];
	struct dagpatch_model_graph *graph = NULL;
	int rc;

	if (program->depth > 1 || dagpatch_model_capture_begin(stream) < 0)
		return 0;
	rc = dagpatch_launch(recording, stream);
	if (dagpatch_model_capture_end(stream, &graph) == 0)
		dagpatch_model_graph_destroy(graph);
	return rc;
}

static int read_text(void *user, const char *text, size_t bytes)
{
	return memchr(text, 0, bytes) || habit_at(user) & 16 ? -EPIPE : 0;
}

static int look(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_stats stats = {.size = size_of(program, sizeof(stats))};
	struct dagpatch_relocation relocation;
	const struct dagpatch_error *error = dagpatch_recording_error(recording);

	if (strlen(error->message) >= sizeof(error->message))
		stop("a message without an end", 0);
	dagpatch_recording_state(recording);
	checked(program,
		dagpatch_recording_relocation(recording, number32(program, 8), &relocation));
	if (one_in(program, 4))
		dagpatch_recording_exec(recording);
	if (one_in(program, 4))
		dagpatch_node_handle(recording, number32(program, 8));
	if (one_in(program, 4))
		checked(program,
			dagpatch_dump(recording, byte(program) % 3, read_text, program_habits));
	return dagpatch_recording_stats(recording, &stats);
}

static int change_state(struct program *program, struct dagpatch_recording *recording)
{
	switch (byte(program) % 8) {
	case 0:
		return dagpatch_apply(recording);
	case 1:
		return dagpatch_revert(recording);
	case 2:
		return dagpatch_verify(recording);
	case 3:
		return dagpatch_evict(recording);
	default:
		return dagpatch_finalize(recording);
	}
}

/* ---- a program ---- */

typedef int (*call_fn)(struct program *program, struct dagpatch_recording *recording);

static void call_recording(struct program *program, call_fn call)
{
	uint32_t index = byte(program) % RECORDINGS;
	struct dagpatch_recording *recording =
		one_in(program, 128) ? NULL : program->recordings[index];
	bool was_in_call = program->is_in_call[index];

	program->is_in_call[index] = recording != NULL || was_in_call;
	checked(program, call(program, recording));
	program->is_in_call[index] = was_in_call;
}

static void make_recording(struct program *program)
{
	struct dagpatch_recording **at = &program->recordings[byte(program) % RECORDINGS];
	uint32_t flags = one_in(program, 32) ? byte(program) : byte(program) % 4;
	struct dagpatch_context *context = context_of(program);

	if (!*at)
		checked(program, dagpatch_recording_create(context, flags, at));
}

static void end_recording(struct program *program)
{
	uint32_t index = byte(program) % RECORDINGS;

	dagpatch_recording_destroy(program->recordings[index]);
	/* A recording whose callback is running stays. */
	if (!program->is_in_call[index])
		program->recordings[index] = NULL;
}

static void disturb(struct program *program)
{
	switch (byte(program) % 4) {
	case 0:
		dagpatch_model_fail(1 + byte(program) % 16, byte(program) % 4);
		break;
	case 1:
		dagpatch_model_limit((uint64_t)byte(program) * 64);
		break;
	case 2:
		dagpatch_model_limit(0);
		break;
	default:
		program_habits[byte(program) % sizeof(program_habits)] = byte(program);
		break;
	}
}

static void step(struct program *program)
{
	static const call_fn calls[] = {
		program_add_slot,
		program_add_slot,
		program_add_kernel,
		program_add_kernel,
		program_add_copy,
		program_add_memset,
		program_add_small,
		bind,
		bind,
		program_add_child,
		program_add_captured,
		program_adopt,
		launch,
		launch,
		launch,
		set_value,
		change_state,
		change_state,
		look,
		program_add_graph,
		into_capture,
	};
	uint32_t count = sizeof(calls) / sizeof(*calls);
	uint32_t what = byte(program) % (count + 8);

	program->depth++;
	if (what < count)
		call_recording(program, calls[what]);
	else if (what == count)
		make_context(program);
	else if (what == count + 1)
		end_context(program);
	else if (what == count + 2)
		make_cache(program);
	else if (what == count + 3)
		end_cache(program);
	else if (what == count + 4)
		make_recording(program);
	else if (what == count + 5)
		end_recording(program);
	else if (what == count + 6 && program->depth == 1)
		dagpatch_model_stream_synchronize(program->streams[byte(program) % STREAMS]);
	else
		disturb(program);
	program->depth--;
}

/* Captures the same work twice, with different addresses of two slots. */
static void capture_pair(struct program *program, uint32_t first)
{
	struct dagpatch_model_stream *stream = program->streams[0];
	const uint32_t one[3] = {1, 1, 1};
	uint32_t value = 1;

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t at = (uintptr_t)program->buffers[2 * i];
		void *parameters[2] = {&at, &value};

		dagpatch_model_capture_begin(stream);
		dagpatch_model_launch(stream, program->kernel, one, one, parameters);
		if (first)
			dagpatch_model_memset_async(stream, program->buffers[2 * i + 1], 1, 4, 8);
		dagpatch_model_capture_end(stream, &program->graphs[first + i]);
		dagpatch_model_instantiate(program->graphs[first + i], &program->execs[first + i]);
	}
}

/*
 * Prepares recordings that need few further calls to be launched, so that short programs reach much
 * code: with two slots and a kernel, one of them finalized and bound, one nested.
 */
static void begin_with(struct program *program)
{
	const uint32_t flags[RECORDINGS] = {0, 0, DAGPATCH_DERIVE_DEPENDENCIES, DAGPATCH_NESTED};
	struct dagpatch_pointer pointer = {.slot = 1};
	uint32_t value = 7, slot;
	struct dagpatch_argument arguments[2] = {dagpatch_address(&pointer),
						 dagpatch_value(&value, 4)};

	dagpatch_context_create(&DAGPATCH_SIZED(options, .driver = "model"), &program->contexts[0],
				NULL);
	for (uint32_t i = 0; i < RECORDINGS; i++) {
		struct dagpatch_recording **at = &program->recordings[i];

		dagpatch_recording_create(program->contexts[0], flags[i], at);
		for (uint32_t j = 0; j < 2; j++)
			dagpatch_slot_add(*at, &DAGPATCH_SIZED(slot, .bytes = SLOT_BYTES), &slot);
		dagpatch_add_kernel(*at,
				    &DAGPATCH_SIZED(kernel, .function = program->kernel,
						    .grid = {1, 1, 1}, .block = {1, 1, 1},
						    .argument_count = 2, .arguments = arguments),
				    NULL, NULL);
		if (i % 2 == 0)
			continue;
		dagpatch_finalize(*at);
		dagpatch_bind_all(*at, (const void *[]){program->buffers[0], program->buffers[1]},
				  2);
	}
}

static void begin(struct program *program)
{
	static const struct dagpatch_parameter parameters[2] = {{0, 8, DAGPATCH_PARAMETER_POINTER},
								{8, 4, DAGPATCH_PARAMETER_VALUE}};

	memset(program_habits, 0, sizeof(program_habits));
	dagpatch_model_kernel_create(do_nothing, parameters, 2, &program->kernel);
	for (uint32_t i = 0; i < STREAMS; i++)
		dagpatch_model_stream_create(DAGPATCH_MODEL_LAZY, &program->streams[i]);
	for (uint32_t i = 0; i < EVENTS; i++)
		dagpatch_model_event_create(&program->events[i]);
	for (uint32_t i = 0; i < BUFFERS; i++)
		program->buffers[i] = dagpatch_model_alloc(BUFFER_BYTES);
	capture_pair(program, 0);
	capture_pair(program, 2);
	begin_with(program);
}

static void end(struct program *program)
{
	/* Destroys recordings before or after contexts: both orders are allowed. */
	if (byte(program) & 1)
		for (uint32_t i = 0; i < CONTEXTS; i++) {
			dagpatch_context_destroy(program->contexts[i]);
			program->contexts[i] = NULL;
		}
	dagpatch_model_fail(0, 0);
	dagpatch_model_limit(0);
	for (uint32_t i = 0; i < RECORDINGS; i++)
		dagpatch_recording_destroy(program->recordings[i]);
	for (uint32_t i = 0; i < CACHES; i++)
		dagpatch_cache_destroy(program->caches[i]);
	for (uint32_t i = 0; i < CONTEXTS; i++)
		dagpatch_context_destroy(program->contexts[i]);
	for (uint32_t i = 0; i < STREAMS; i++)
		dagpatch_model_stream_destroy(program->streams[i]);
	dagpatch_model_stream_synchronize(NULL);
	for (uint32_t i = 0; i < GRAPHS; i++) {
		dagpatch_model_exec_destroy(program->execs[i]);
		dagpatch_model_graph_destroy(program->graphs[i]);
	}
	for (uint32_t i = 0; i < EVENTS; i++)
		dagpatch_model_event_destroy(program->events[i]);
	for (uint32_t i = 0; i < BUFFERS; i++)
		dagpatch_model_free(program->buffers[i]);
	dagpatch_model_kernel_destroy(program->kernel);
	dagpatch_model_without(0);
}

struct patch_program_result patch_program_run(const uint8_t *bytes, size_t size)
{
	struct program program = {.at = bytes, .end = bytes + size};
	struct dagpatch_model_live before, after;
	uint64_t stale = dagpatch_model_stale_replays();

	running = &program;
	dagpatch_model_live(&before);
	begin(&program);
	while (program.at < program.end)
		step(&program);
	end(&program);
	dagpatch_model_live(&after);
	if (memcmp(&before, &after, sizeof(before)) != 0)
		stop("something of dagpatch's is left", 0);
	if (dagpatch_model_held() != 0)
		stop("memory of the device is left", (int)dagpatch_model_held());
	if (dagpatch_model_stale_replays() != stale)
		stop("a replay outlived its executable graph", 0);
	return program.result;
}
