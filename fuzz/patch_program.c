/* Turns bytes into calls of libdagpatch and checks what they return: patch_program.h. */
#include "patch_program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dagpatch/model.h>

enum {
	CONTEXTS = 2,
	RECORDINGS = 4,
	CACHES = 2,
	STREAMS = 2,
	EVENTS = 2,
	GRAPHS = 4,
	FEW = 4, /* limit of most arrays */
	SLOTS_MOST = 32,
	SLOT_BYTES = 1024,
	BUFFERS = 4,
	BUFFER_BYTES = 4096,
	FIXED_BYTES = 1 << 19, /* memory for ends of copies that have no slot */
	DEPTH = 2,	       /* depth of calls inside callbacks */
};

struct program {
	const uint8_t *at, *end;
	struct patch_program_result result;
	uint32_t depth;
	uint32_t slots_added; /* in all recordings */
	struct dagpatch_context *contexts[CONTEXTS];
	struct dagpatch_cache *caches[CACHES];
	struct dagpatch_recording *recordings[RECORDINGS];
	bool is_in_call[RECORDINGS];
	struct dagpatch_model_stream *streams[STREAMS];
	struct dagpatch_model_event *events[EVENTS];
	struct dagpatch_model_kernel *kernel;
	struct dagpatch_model_graph *graphs[GRAPHS];
	struct dagpatch_model_exec *execs[GRAPHS];
	uint8_t *buffers[BUFFERS];
};

/* ---- numbers ---- */

static uint8_t byte(struct program *program)
{
	return program->at < program->end ? *program->at++ : 0;
}

static bool one_in(struct program *program, uint32_t times)
{
	return byte(program) % times == times - 1;
}

/* Returns mostly small numbers, sometimes ones that overflow. */
static uint64_t number(struct program *program, uint64_t small)
{
	static const uint64_t odd[] = {UINT32_MAX,	     UINT32_MAX - 1,	  UINT64_MAX,
				       UINT64_MAX - 7,	     UINT64_MAX / 2,	  (uint64_t)1 << 31,
				       (uint64_t)1 << 40,    (uint64_t)1 << 48,	  (uint64_t)1 << 60,
				       UINT64_MAX / 4 + 1,   SLOT_BYTES,	  SLOT_BYTES - 8,
				       0x7fffffffffffff00ul, 0xffffffff00000000ul};
	uint8_t drawn = byte(program);

	if (drawn < 224)
		return small ? drawn % small : 0;
	return odd[drawn % (sizeof(odd) / sizeof(*odd))];
}

static uint32_t number32(struct program *program, uint32_t small)
{
	return (uint32_t)number(program, small);
}

/*
 * Returns the struct's size or one that dagpatch refuses. Never a size between the two: there is no
 * memory behind the struct.
 */
static size_t size_of(struct program *program, size_t size)
{
	size_t drawn = one_in(program, 64) ? number(program, 200) : size;

	return drawn > size && drawn < 1 << 16 ? size : drawn;
}

/* Returns ARRAY, or sometimes NULL, which is invalid there. */
static const void *array_of(struct program *program, const void *array)
{
	return one_in(program, 64) ? NULL : array;
}

static uint8_t *buffer_of(struct program *program)
{
	return program->buffers[byte(program) % BUFFERS] + 256 * (byte(program) % 8);
}

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

static void host_function(void *user)
{
	++*(uint32_t *)user;
}

/* A few bytes of the program say what a callback does; it does the same at each call. */
static uint8_t fixed[FIXED_BYTES];
static uint8_t habits[8];
static uint8_t
	without_addresses[8]; /* for captures that have no addresses; same index as in habits */
static uint32_t host_calls;
static struct program *running;

static uint8_t habit_at(const uint8_t *user)
{
	if (user >= habits && user < habits + sizeof(habits))
		return *user;
	return user ? habits[user - without_addresses] & 0xfe : 0;
}

static int record(void *user, void *stream, void *const *addresses)
{
	uint8_t habit = habit_at(user);
	uint32_t one[3] = {1, 1, 1}, value = 1;
	uint64_t at = habit & 1 ? (uintptr_t)addresses[0] : habit;
	void *parameters[2] = {&at, &value};
	int rc = dagpatch_model_launch(stream, running->kernel, one, one, parameters);

	if (rc == 0 && (habit & 2))
		rc = dagpatch_model_host_async(stream, host_function, &host_calls);
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
		.observe_user = &habits[byte(program) % sizeof(habits)],
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
		.vote_user = &habits[byte(program) % sizeof(habits)],
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

/* ---- what is added to a recording ---- */

static struct dagpatch_after after_of(struct program *program, uint32_t nodes[FEW])
{
	for (uint32_t i = 0; i < FEW; i++)
		nodes[i] = number32(program, 8);
	return (struct dagpatch_after){array_of(program, nodes), byte(program) % (FEW + 1)};
}

static int add_slot(struct program *program, struct dagpatch_recording *recording)
{
	uint32_t slot;
	struct dagpatch_slot given = {
		.size = size_of(program, sizeof(given)),
		.name = one_in(program, 2) ? "slot" : NULL,
		.bytes = one_in(program, 16) ? byte(program) : SLOT_BYTES,
		.alignment = one_in(program, 4) ? number(program, 65) : 0,
		.flags = one_in(program, 4) ? number32(program, 5) : 0,
		.on_host = one_in(program, 8),
	};

	/* Each recording begins with two slots. adopt has SLOTS_MOST addresses. */
	if (program->slots_added == SLOTS_MOST - 2)
		return 0;
	program->slots_added++;
	return dagpatch_slot_add(recording, array_of(program, &given),
				 one_in(program, 64) ? NULL : &slot);
}

static int add_kernel(struct program *program, struct dagpatch_recording *recording)
{
	uint32_t value = 3, nodes[FEW], node;
	struct dagpatch_after after = after_of(program, nodes);
	struct dagpatch_pointer pointers[2];
	struct dagpatch_argument arguments[FEW];
	struct dagpatch_kernel kernel = {
		.size = size_of(program, sizeof(kernel)),
		.function = one_in(program, 32) ? NULL : program->kernel,
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
		.argument_count = one_in(program, 16) ? byte(program) % (FEW + 1) : 2,
		.arguments = array_of(program, arguments),
	};

	for (uint32_t i = 0; i < 2; i++)
		pointers[i] = (struct dagpatch_pointer){
			.byte = one_in(program, 16) ? number32(program, 9) : 0,
			.slot = number32(program, 3),
			.offset = number(program, 16),
			.range_bytes = number(program, 4),
			.access = number32(program, 4),
		};
	for (uint32_t i = 0; i < FEW; i++)
		arguments[i] = (struct dagpatch_argument){
			.size = one_in(program, 16) ? byte(program) % 9
				: i		    ? 4
						    : 8,
			.bytes = i ? &value : NULL,
			.pointer_count = i ? 0 : byte(program) % 3,
			.pointers = array_of(program, pointers),
		};
	for (uint32_t i = 0; i < FEW; i++)
		if (arguments[i].size > sizeof(value))
			arguments[i].bytes = NULL;
	return dagpatch_add_kernel(recording, array_of(program, &kernel),
				   one_in(program, 2) ? &after : NULL, &node);
}

/* An end without a slot has its rows close together: there are only FIXED_BYTES of memory. */
static struct dagpatch_end end_of(struct program *program, bool may_be_fixed)
{
	bool is_fixed = may_be_fixed && one_in(program, 3);

	return (struct dagpatch_end){
		.slot = is_fixed ? DAGPATCH_NONE : number32(program, 3) % DAGPATCH_NONE,
		.on_host = one_in(program, 8),
		.offset = is_fixed ? 0 : number(program, 64),
		.address = one_in(program, 16) ? NULL : fixed,
		.pitch = is_fixed ? byte(program) % 16 : number(program, 64),
		.rows = is_fixed ? byte(program) % 16 : number(program, 8),
	};
}

static int add_copy(struct program *program, struct dagpatch_recording *recording)
{
	uint32_t nodes[FEW];
	struct dagpatch_after after = after_of(program, nodes);
	struct dagpatch_copy copy = {
		.size = size_of(program, sizeof(copy)),
		.dst = end_of(program, false),
		.src = end_of(program, true),
		.width_bytes = number(program, 128),
		.height = number(program, 3),
		.depth = number(program, 3),
	};

	return dagpatch_add_copy(recording, &copy, one_in(program, 2) ? &after : NULL, NULL);
}

static int add_memset(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_memset set = {
		.size = size_of(program, sizeof(set)),
		.slot = number32(program, 3),
		.offset = number(program, 64) & ~(uint64_t)3,
		.value = number32(program, 256),
		.element_bytes =
			one_in(program, 8) ? number32(program, 6) : 1u << byte(program) % 3,
		.width = number(program, 64),
		.height = number(program, 3),
		.pitch = number(program, 128) & ~(uint64_t)3,
	};

	return dagpatch_add_memset(recording, &set, NULL, NULL);
}

static int add_small(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_host host = {.size = size_of(program, sizeof(host)),
				     .function = one_in(program, 16) ? NULL : host_function,
				     .user = &host_calls};
	void *event = one_in(program, 16) ? NULL : program->events[byte(program) % EVENTS];
	uint32_t nodes[FEW];
	struct dagpatch_after after = after_of(program, nodes);

	switch (byte(program) % 4) {
	case 0:
		return dagpatch_add_host(recording, &host, &after, NULL);
	case 1:
		return dagpatch_add_event_record(recording, event, &after, NULL);
	case 2:
		return dagpatch_add_event_wait(recording, event, NULL, NULL);
	default:
		return dagpatch_add_empty(recording, &after, NULL);
	}
}

static struct dagpatch_child child_of(struct program *program, struct dagpatch_mapping *mappings)
{
	for (uint32_t i = 0; i < FEW; i++)
		mappings[i] =
			(struct dagpatch_mapping){number32(program, 3), 256 * number(program, 2)};
	return (struct dagpatch_child){
		.size = size_of(program, sizeof(struct dagpatch_child)),
		.nested = program->recordings[byte(program) % RECORDINGS],
		.mappings = array_of(program, mappings),
		.mapping_count = byte(program) % (FEW + 1),
	};
}

static int add_child(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_mapping mappings[2][FEW];
	struct dagpatch_child children[2] = {child_of(program, mappings[0]),
					     child_of(program, mappings[1])};
	/* Makes no WHILE, which might never end. */
	struct dagpatch_conditional conditional = {
		.size = size_of(program, sizeof(conditional)),
		.condition = (enum dagpatch_condition)(one_in(program, 16) ? 3 + byte(program)
									   : byte(program) % 2),
		.predicate_slot = number32(program, 3),
		.predicate_offset = number(program, 8) & ~(uint64_t)3,
		.predicate_is_byte = one_in(program, 2),
		.bodies = array_of(program, children),
		.body_count = byte(program) % 3,
	};

	children[1].size = sizeof(children[1]);
	if (children[0].size != sizeof(children[0]))
		conditional.body_count %= 2;
	if (one_in(program, 2))
		return dagpatch_add_conditional(recording, &conditional, NULL, NULL);
	return dagpatch_add_child(recording, &children[0], NULL, NULL);
}

static int add_captured(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_collective collective = {.size = size_of(program, sizeof(collective)),
						 .communicator = byte(program) % 2,
						 .buffers_are_registered = one_in(program, 4)};
	uint32_t slots[FEW];
	void *addresses[2][FEW];
	uint32_t count = byte(program) % (FEW + 1);
	struct dagpatch_capture capture = {
		.size = size_of(program, sizeof(capture)),
		.record = one_in(program, 32) ? NULL : record,
		.user = &without_addresses[byte(program) % sizeof(habits)],
		.slots = array_of(program, slots),
		.slot_count = count,
		.flags = one_in(program, 16) ? byte(program) : byte(program) % 4,
		.collective = one_in(program, 4) ? &collective : NULL,
		.cache = one_in(program, 2) ? program->caches[byte(program) % CACHES] : NULL,
	};

	for (uint32_t i = 0; i < FEW; i++) {
		slots[i] = one_in(program, 8) ? number32(program, 4) : i;
		for (uint32_t j = 0; j < 2; j++)
			addresses[j][i] = program->buffers[2 * j + i % 2] + SLOT_BYTES * (i / 2);
	}
	if (one_in(program, 4))
		capture.addresses[0] = addresses[0];
	if (one_in(program, 4))
		capture.addresses[1] = addresses[1];
	if (count > 0 && capture.size == sizeof(capture))
		capture.user = &habits[byte(program) % sizeof(habits)];
	return dagpatch_add_captured(recording, &capture, NULL, NULL);
}

/* Fills the addresses of two captures of the same work: the first two buffers, and other ones. */
static void fill_addresses(struct program *program, void *addresses[2][SLOTS_MOST])
{
	for (uint32_t i = 0; i < SLOTS_MOST; i++)
		for (uint32_t j = 0; j < 2; j++)
			addresses[j][i] =
				program->buffers[2 * j + i % 2] + SLOT_BYTES * (i % FEW / 2);
}

static int add_graph(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_model_graph **graphs = &program->graphs[2 * (byte(program) % 2)];
	const uint32_t slots[FEW] = {0, 1, 2};
	void *addresses[2][SLOTS_MOST];
	struct dagpatch_declared declared = {.byte = number32(program, 9),
					     .slot = number32(program, 2)};
	struct dagpatch_graph graph = {
		.size = size_of(program, sizeof(graph)),
		.graph = graphs[0],
		.slots = array_of(program, slots),
		.slot_count = byte(program) % (FEW + 1),
		.addresses = {addresses[0], addresses[1]},
		.other_graph = one_in(program, 3) ? NULL : graphs[1],
		.declared = one_in(program, 3) ? &declared : NULL,
		.declared_count = byte(program) % 2,
	};

	fill_addresses(program, addresses);
	return dagpatch_add_graph(recording, &graph, NULL, NULL);
}

static int adopt(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_model_graph **graphs = &program->graphs[2 * (byte(program) % 2)];
	struct dagpatch_model_exec **exec = &program->execs[2 * (byte(program) % 2)];
	void *addresses[2][SLOTS_MOST];
	struct dagpatch_declared declared = {.node = number32(program, 2),
					     .byte = number32(program, 9),
					     .slot = number32(program, 2),
					     .offset = number(program, 2)};
	struct dagpatch_adoption adoption = {
		.size = size_of(program, sizeof(adoption)),
		.graph = graphs[0],
		.other_graph = one_in(program, 3) ? NULL : graphs[1],
		.declared = one_in(program, 3) ? &declared : NULL,
		.declared_count = byte(program) % 2,
		.exec = one_in(program, 2) && exec == &program->execs[graphs - program->graphs]
				? *exec
				: NULL,
		.further_graph_count = one_in(program, 8) ? byte(program) % 3 : 0,
	};

	fill_addresses(program, addresses);
	adoption.addresses[0] = array_of(program, addresses[0]);
	adoption.addresses[1] = array_of(program, addresses[1]);
	return dagpatch_adopt(recording, &adoption);
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
		checked(program, dagpatch_dump(recording, byte(program) % 3, read_text, habits));
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
		habits[byte(program) % sizeof(habits)] = byte(program);
		break;
	}
}

static void step(struct program *program)
{
	static const call_fn calls[] = {
		add_slot, add_slot,  add_kernel,   add_kernel,	 add_copy, add_memset, add_small,
		bind,	  bind,	     add_child,	   add_captured, adopt,	   launch,     launch,
		launch,	  set_value, change_state, change_state, look,	   add_graph,  into_capture,
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

	memset(habits, 0, sizeof(habits));
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
