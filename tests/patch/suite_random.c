/* Random graphs that are bound and set again and again. The result of each replay must be equal,
 * bit for bit, to that of a fresh recording at the same addresses and to the result computed on
 * the host. Scalars equal addresses of buffers, structs hold several addresses with offsets,
 * children are nested, and copies have every shape. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum {
	SLOTS = 6,
	BUFFERS = 9,
	QUARTER = 64, /* in words; an operation works on quarters, so its operands never overlap */
	BUFFER_WORDS = 4 * QUARTER,
	MOST_OPERATIONS = 8,
	DEPTH = 5,
};

/* GIVEN: captured by the test and added as a graph. ADOPTED: likewise, as the whole content of a
 * nested recording. */
enum operation_kind {
	ADD,
	MUL,
	FOLD,
	STRUCT,
	PACKED,
	MARK,
	COPY,
	MEMSET,
	CHILD,
	CAPTURED,
	GIVEN,
	ADOPTED,
	KINDS
};

struct block;
struct operation {
	enum operation_kind kind;
	uint32_t slots[3], quarters[3];
	uint64_t scalar;
	/* copies: bytes, rows, slices; memsets: bytes of an element, elements */
	uint32_t extent[3];
	uint32_t blocks; /* recorded kernels: blocks of the grid */
	struct block *inner;
	uint32_t map[SLOTS]; /* slots of this block for those of the inner block */
	uint32_t node;
};
struct block {
	struct operation operations[MOST_OPERATIONS];
	uint32_t count;
};

struct world {
	uint64_t state; /* state of the random number generator */
	struct scene *scene;
	uint32_t *buffers[BUFFERS];
	uint32_t *elsewhere[SLOTS];		/* addresses of captures that never run */
	uint32_t before[BUFFERS][BUFFER_WORDS]; /* contents before the launch */
	uint32_t host[BUFFERS][BUFFER_WORDS];	/* expected contents after the launch */
	struct block *top;
	uint32_t bound[SLOTS]; /* number of the buffer of each slot */
	uint32_t round;
	bool is_derived; /* dependencies are derived from the slots that were accessed first */
};

static uint32_t below(struct world *world, uint32_t limit)
{
	world->state = world->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((world->state >> 33) % limit);
}

/* ---- making graphs ---- */

static uint64_t any_scalar(struct world *world)
{
	if (below(world, 2))
		return (uintptr_t)world->buffers[below(world, BUFFERS)] + 4 * below(world, 3);
	return below(world, 1000);
}

static void make_copy(struct world *world, struct operation *operation)
{
	static const uint32_t most[3][3] = {{256, 1, 1}, {32, 8, 1}, {16, 4, 4}};
	const uint32_t *limit = most[below(world, 3)];

	for (uint32_t i = 0; i < 3; i++)
		operation->extent[i] = 1 + below(world, limit[i]);
	if (limit[1] > 1 && operation->extent[1] == 1)
		operation->extent[1] = 2;
	if (limit[2] > 1 && operation->extent[2] == 1)
		operation->extent[2] = 2;
	if (operation->slots[0] == operation->slots[1] &&
	    operation->quarters[0] == operation->quarters[1])
		operation->quarters[1] = (operation->quarters[0] + 1) % 4;
}

static void make_memset(struct world *world, struct operation *operation)
{
	operation->extent[0] = 1u << below(world, 3);
	operation->extent[1] = 1 + below(world, QUARTER * 4 / operation->extent[0]);
}

static void make_places(struct world *world, struct operation *operation)
{
	for (uint32_t i = 0; i < 3; i++) {
		operation->slots[i] = below(world, SLOTS);
		operation->quarters[i] = below(world, 4);
	}
}

static void make_map(struct world *world, struct operation *operation)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		operation->map[i] = i;
	for (uint32_t i = SLOTS - 1; i > 0; i--) {
		uint32_t j = below(world, i + 1), kept = operation->map[i];

		operation->map[i] = operation->map[j];
		operation->map[j] = kept;
	}
}

static struct block *make_block(struct world *world, uint32_t depth, bool is_captured);

static void make_operation(struct world *world, struct operation *operation, uint32_t depth,
			   bool is_captured)
{
	uint32_t kinds = is_captured ? CHILD : depth > 0 ? KINDS : CHILD;

	operation->kind = below(world, kinds);
	if (is_captured && operation->kind == COPY && suite_bed->no_captured_copies)
		operation->kind = MEMSET;
	/* The test itself captures GIVEN and ADOPTED operations. dagpatch cannot keep these
	 * graph calls apart from those of other threads. */
	if (operation->kind > CAPTURED && world->scene->is_shared && suite_bed->graph_calls_race)
		operation->kind = CAPTURED;
	make_places(world, operation);
	operation->scalar = any_scalar(world);
	operation->blocks = 1u << below(world, 3);
	make_map(world, operation);
	if (operation->kind == COPY)
		make_copy(world, operation);
	if (operation->kind == MEMSET)
		make_memset(world, operation);
	if (operation->kind >= CHILD)
		operation->inner = make_block(world, depth - 1, operation->kind > CHILD);
}

static struct block *make_block(struct world *world, uint32_t depth, bool is_captured)
{
	struct block *block = calloc(1, sizeof(*block));

	assert_non_null(block);
	block->count = 1 + below(world, MOST_OPERATIONS);
	for (uint32_t i = 0; i < block->count; i++)
		make_operation(world, &block->operations[i], depth, is_captured);
	/* Some graphs have the maximum depth. */
	if (depth > 0 && !is_captured && !block->operations[0].inner) {
		block->operations[0].kind = CHILD;
		block->operations[0].inner = make_block(world, depth - 1, false);
	}
	return block;
}

static void free_block(struct block *block)
{
	for (uint32_t i = 0; i < block->count; i++)
		if (block->operations[i].inner)
			free_block(block->operations[i].inner);
	free(block);
}

/* ---- expected results, computed on the host ---- */

static void reckon_copy(const struct operation *operation, uint8_t *dst, const uint8_t *src)
{
	uint32_t pitch = operation->extent[2] > 1 ? 16 : 32;

	for (uint32_t z = 0; z < operation->extent[2]; z++)
		for (uint32_t y = 0; y < operation->extent[1]; y++)
			memmove(dst + (z * 4 + y) * pitch, src + (z * 4 + y) * pitch,
				operation->extent[0]);
}

static void reckon_fold(uint32_t *out, const uint32_t *in, uint64_t scalar)
{
	for (uint32_t i = 0; i < QUARTER / 2; i++) {
		uint64_t to, from;

		memcpy(&to, out + 2 * i, sizeof(to));
		memcpy(&from, in + 2 * i, sizeof(from));
		to = to * 31 + from + scalar;
		memcpy(out + 2 * i, &to, sizeof(to));
	}
}

static void reckon(const struct operation *operation, uint32_t *const words[3])
{
	uint32_t scalar = operation->kind == PACKED ? (uint8_t)operation->scalar
						    : (uint32_t)operation->scalar;

	for (uint32_t i = 0; i < QUARTER; i++) {
		if (operation->kind == ADD)
			words[0][i] = words[1][i] + words[2][i];
		else if (operation->kind == MUL)
			words[0][i] = words[1][i] * words[2][i];
		else if (operation->kind == STRUCT || operation->kind == PACKED)
			words[0][i] = words[1][i] + scalar;
	}
	if (operation->kind == FOLD)
		reckon_fold(words[0], words[1], operation->scalar);
	if (operation->kind == MARK)
		words[0][0] += scalar;
	if (operation->kind == COPY)
		reckon_copy(operation, (uint8_t *)words[0], (const uint8_t *)words[1]);
	for (uint32_t i = 0; operation->kind == MEMSET && i < operation->extent[1]; i++)
		memcpy((uint8_t *)words[0] + i * operation->extent[0], &operation->scalar,
		       operation->extent[0]);
}

static void reckon_block(struct world *world, const struct block *block, const uint32_t *bound)
{
	for (uint32_t i = 0; i < block->count; i++) {
		const struct operation *operation = &block->operations[i];
		uint32_t *words[3], inner[SLOTS];

		for (uint32_t j = 0; j < 3; j++)
			words[j] = world->host[bound[operation->slots[j]]] +
				   operation->quarters[j] * QUARTER;
		for (uint32_t j = 0; j < SLOTS; j++)
			inner[j] = bound[operation->map[j]];
		if (operation->inner)
			reckon_block(world, operation->inner, inner);
		else
			reckon(operation, words);
	}
}

/* ---- capturing ---- */

static int capture_kernel(void *stream, enum bed_kernel kernel, void *const *parameters)
{
	return suite_bed->launch(stream, kernel, 1, QUARTER, parameters) ? -EIO : 0;
}

static int capture_operation(const struct operation *operation, void *stream, uint32_t *const at[3])
{
	uint32_t count = operation->kind == FOLD ? QUARTER / 2 : QUARTER;
	uint32_t scalar = (uint32_t)operation->scalar;
	struct bed_struct by_value = {
		.dst = at[0], .scalar = operation->scalar, .count = QUARTER, .src = at[1]};
	struct bed_packed packed = {
		.count = QUARTER, .dst = at[0], .scalar = (uint8_t)scalar, .src = at[1]};
	uint32_t pitch = operation->extent[2] > 1 ? 16 : 32;

	switch (operation->kind) {
	case ADD:
	case MUL:
		return capture_kernel(
			stream, operation->kind == ADD ? BED_ADD : BED_MUL,
			(void *[]){(void *)&at[0], (void *)&at[1], (void *)&at[2], &count});
	case FOLD:
		return capture_kernel(stream, BED_FOLD,
				      (void *[]){(void *)&at[0], (void *)&at[1],
						 (void *)&operation->scalar, &count});
	case STRUCT:
		return capture_kernel(stream, BED_STRUCT, (void *[]){&by_value});
	case PACKED:
		return capture_kernel(stream, BED_PACKED, (void *[]){&packed});
	case MARK:
		return capture_kernel(stream, BED_MARK, (void *[]){(void *)&at[0], &scalar});
	case COPY:
		return suite_bed->copy(stream, &(struct bed_copy){.dst = at[0],
								  .src = at[1],
								  .dst_pitch = pitch,
								  .src_pitch = pitch,
								  .dst_rows = 4,
								  .src_rows = 4,
								  .width = operation->extent[0],
								  .height = operation->extent[1],
								  .depth = operation->extent[2]})
			       ? -EIO
			       : 0;
	default:
		memcpy(&scalar, &operation->scalar, operation->extent[0]);
		if (operation->extent[0] < 4)
			scalar &= (1u << 8 * operation->extent[0]) - 1;
		return suite_bed->memset(stream, at[0], scalar, operation->extent[0],
					 operation->extent[1])
			       ? -EIO
			       : 0;
	}
}

static int capture_block(void *user, void *stream, void *const *addresses)
{
	const struct block *block = user;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < block->count; i++) {
		const struct operation *operation = &block->operations[i];
		uint32_t *at[3];

		for (uint32_t j = 0; j < 3; j++)
			at[j] = (uint32_t *)addresses[operation->slots[j]] +
				operation->quarters[j] * QUARTER;
		rc = capture_operation(operation, stream, at);
	}
	return rc;
}

/* ---- recording ---- */

static void add_slots(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t number;

		OK(recording,
		   dagpatch_slot_add(recording, &DAGPATCH_SIZED(slot, .bytes = BUFFER_WORDS * 4),
				     &number));
		assert_int_equal(number, i);
	}
}

/* The destination of an operation: a new node, or an existing one. */
struct target {
	const struct scene *scene;
	struct dagpatch_recording *recording;
	const struct dagpatch_after *after;
	uint32_t *node;
	bool is_set;
};

static int give_kernel(const struct target *target, const struct dagpatch_kernel *kernel)
{
	return target->is_set ? dagpatch_set_kernel(target->recording, *target->node, kernel)
			      : dagpatch_add_kernel(target->recording, kernel, target->after,
						    target->node);
}

static int give_copy(const struct target *target, const struct dagpatch_copy *copy)
{
	return target->is_set
		       ? dagpatch_set_copy(target->recording, *target->node, copy)
		       : dagpatch_add_copy(target->recording, copy, target->after, target->node);
}

static int give_memset(const struct target *target, const struct dagpatch_memset *memset)
{
	return target->is_set ? dagpatch_set_memset(target->recording, *target->node, memset)
			      : dagpatch_add_memset(target->recording, memset, target->after,
						    target->node);
}

static int record_kernel(const struct target *target, const struct operation *operation)
{
	static const enum bed_kernel kernels[] = {BED_ADD,    BED_MUL,	  BED_FOLD,
						  BED_STRUCT, BED_PACKED, BED_MARK};
	uint32_t count = operation->kind == FOLD ? QUARTER / 2 : QUARTER;
	uint32_t scalar = (uint32_t)operation->scalar;
	struct bed_struct by_value = {.scalar = operation->scalar, .count = QUARTER};
	struct bed_packed packed = {.scalar = (uint8_t)scalar, .count = QUARTER};
	struct dagpatch_pointer pointers[3];
	struct dagpatch_argument arguments[4];
	uint32_t argument_count = 4;

	for (uint32_t i = 0; i < 3; i++) {
		pointers[i] = (struct dagpatch_pointer){
			.slot = operation->slots[i],
			.offset = operation->quarters[i] * QUARTER * 4,
			.range_bytes = QUARTER * 4,
			.access = i ? DAGPATCH_READS : DAGPATCH_WRITES | DAGPATCH_READS,
		};
		arguments[i] = dagpatch_address(&pointers[i]);
	}
	arguments[3] = dagpatch_value(&count, 4);
	if (operation->kind == FOLD)
		arguments[2] = dagpatch_value(&operation->scalar, 8);
	if (operation->kind == MARK) {
		arguments[1] = dagpatch_value(&scalar, 4);
		argument_count = 2;
	}
	if (operation->kind == STRUCT || operation->kind == PACKED) {
		bool is_packed = operation->kind == PACKED;

		pointers[0].byte = is_packed ? offsetof(struct bed_packed, dst)
					     : offsetof(struct bed_struct, dst);
		pointers[1].byte = is_packed ? offsetof(struct bed_packed, src)
					     : offsetof(struct bed_struct, src);
		arguments[0] = (struct dagpatch_argument){
			is_packed ? (void *)&packed : (void *)&by_value,
			is_packed ? sizeof(packed) : sizeof(by_value), 2, pointers};
		argument_count = 1;
	}
	return give_kernel(
		target, &(struct dagpatch_kernel){
				.size = sizeof(struct dagpatch_kernel),
				.function = scene_function(target->scene, kernels[operation->kind]),
				.grid = {operation->blocks, 1, 1},
				.block = {QUARTER / operation->blocks, 1, 1},
				.argument_count = argument_count,
				.arguments = arguments,
			});
}

static int record_plain(const struct target *target, const struct operation *operation)
{
	uint64_t offsets[2] = {operation->quarters[0] * QUARTER * 4,
			       operation->quarters[1] * QUARTER * 4};
	uint32_t pitch = operation->extent[2] > 1 ? 16 : 32, value;

	if (operation->kind < COPY)
		return record_kernel(target, operation);
	if (operation->kind == COPY)
		return give_copy(
			target, &(struct dagpatch_copy){
					.size = sizeof(struct dagpatch_copy),
					.dst = {operation->slots[0], 0, offsets[0], NULL, pitch, 4},
					.src = {operation->slots[1], 0, offsets[1], NULL, pitch, 4},
					.width_bytes = operation->extent[0],
					.height = operation->extent[1],
					.depth = operation->extent[2],
				});
	value = (uint32_t)operation->scalar;
	if (operation->extent[0] < 4)
		value &= (1u << 8 * operation->extent[0]) - 1;
	return give_memset(target, &(struct dagpatch_memset){
					   .size = sizeof(struct dagpatch_memset),
					   .slot = operation->slots[0],
					   .offset = offsets[0],
					   .value = value,
					   .element_bytes = operation->extent[0],
					   .width = operation->extent[1],
				   });
}

static void record_block(struct world *world, struct dagpatch_recording *recording,
			 struct block *block, bool is_derived);

static void *capture_at(const struct world *world, struct block *block, uint32_t *const *addresses)
{
	uint32_t before = scene_visit(world->scene);
	void *stream = suite_bed->stream_create(), *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(capture_block(block, stream, (void *const *)addresses), 0);
	graph = suite_bed->capture_end(stream);
	suite_bed->stream_destroy(stream);
	device_back(before);
	return graph;
}

/* Adds the operation's graph in the slots of its map. The nodes are captured at buffers that are
 * bound, too. */
static int record_given(struct world *world, const struct target *target,
			struct operation *operation)
{
	struct dagpatch_graph graph = {
		.size = sizeof(graph),
		.graph = capture_at(world, operation->inner, world->buffers),
		.slots = operation->map,
		.slot_count = SLOTS,
		.addresses = {(void *const *)world->buffers, (void *const *)world->elsewhere},
		.other_graph = capture_at(world, operation->inner, world->elsewhere),
	};
	int rc = dagpatch_add_graph(target->recording, &graph, target->after, target->node);

	suite_bed->graph_destroy(graph.graph);
	suite_bed->graph_destroy(graph.other_graph);
	return rc;
}

static void adopt_block(struct world *world, struct dagpatch_recording *nested, struct block *block)
{
	struct dagpatch_adoption adoption = {
		.size = sizeof(adoption),
		.graph = capture_at(world, block, world->buffers),
		.addresses = {(void *const *)world->buffers, (void *const *)world->elsewhere},
		.other_graph = capture_at(world, block, world->elsewhere),
	};

	add_slots(nested);
	OK(nested, dagpatch_adopt(nested, &adoption));
	OK(nested, dagpatch_finalize(nested));
	suite_bed->graph_destroy(adoption.graph);
	suite_bed->graph_destroy(adoption.other_graph);
}

static int record_inner(struct world *world, const struct target *target,
			struct operation *operation, bool is_derived)
{
	struct dagpatch_mapping mappings[SLOTS];
	struct dagpatch_recording *nested;
	struct dagpatch_child child;
	int rc;

	if (operation->kind == CAPTURED)
		return dagpatch_add_captured(
			target->recording,
			&DAGPATCH_SIZED(capture, .record = capture_block, .user = operation->inner,
					.slots = operation->map, .slot_count = SLOTS),
			target->after, target->node);
	if (operation->kind == GIVEN)
		return record_given(world, target, operation);
	OK(NULL, dagpatch_recording_create(world->scene->context,
					   DAGPATCH_NESTED |
						   (is_derived ? DAGPATCH_DERIVE_DEPENDENCIES : 0),
					   &nested));
	if (operation->kind == ADOPTED)
		adopt_block(world, nested, operation->inner);
	else
		record_block(world, nested, operation->inner, is_derived);
	for (uint32_t i = 0; i < SLOTS; i++)
		mappings[i] = (struct dagpatch_mapping){operation->map[i], 0};
	child = DAGPATCH_SIZED(child, nested, mappings, SLOTS);
	rc = target->is_set
		     ? dagpatch_set_child(target->recording, *target->node, &child)
		     : dagpatch_add_child(target->recording, &child, target->after, target->node);
	dagpatch_recording_destroy(nested);
	return rc;
}

/* Records the operations in order, either with explicit dependencies, each on the previous one,
 * or with dependencies derived from accesses. */
static void record_block(struct world *world, struct dagpatch_recording *recording,
			 struct block *block, bool is_derived)
{
	add_slots(recording);
	for (uint32_t i = 0; i < block->count; i++) {
		struct operation *operation = &block->operations[i];
		uint32_t previous = i > 0 ? operation[-1].node : 0;
		struct dagpatch_after one = {&previous, 1};
		struct target target = {
			.scene = world->scene, .recording = recording, .node = &operation->node};

		if (!is_derived && i > 0)
			target.after = &one;
		if (operation->inner)
			OK(recording, record_inner(world, &target, operation, is_derived));
		else
			OK(recording, record_plain(&target, operation));
	}
	OK(recording, dagpatch_finalize(recording));
}

/* ---- setting parameters ---- */

/* Gives an operation other parameters for the same kind of node. If dependencies were derived,
 * the operation accesses the same slots as before. */
static void change(struct world *world, struct operation *operation)
{
	operation->scalar = any_scalar(world);
	operation->blocks = 1u << below(world, 3);
	for (uint32_t i = 0; operation->inner && i < operation->inner->count; i++)
		change(world, &operation->inner->operations[i]);
	if (world->is_derived) {
		if (operation->kind == ADD || operation->kind == MUL)
			operation->kind = below(world, 2) ? ADD : MUL;
		return;
	}
	make_places(world, operation);
	make_map(world, operation);
	if (operation->kind < COPY)
		operation->kind = below(world, COPY);
	if (operation->kind == COPY)
		make_copy(world, operation);
	if (operation->kind == MEMSET)
		make_memset(world, operation);
}

/* Sets OPERATION, which is NODE of the recording, or an operation inside it, down to captured
 * work. OUTER maps the slots of its block to those of the recording. */
static void set(struct world *world, struct operation *operation, uint32_t node,
		const uint32_t outer[SLOTS])
{
	struct target target = {.scene = world->scene,
				.recording = world->scene->recording,
				.node = &node,
				.is_set = true};
	struct operation here;

	if (operation->kind == CAPTURED || operation->kind == GIVEN)
		return;
	if (operation->kind == CHILD && below(world, 3) > 0) {
		uint32_t index = below(world, operation->inner->count), inner[SLOTS];

		for (uint32_t i = 0; i < SLOTS; i++)
			inner[i] = outer[operation->map[i]];
		set(world, &operation->inner->operations[index],
		    node + 1 + operation->inner->operations[index].node, inner);
		return;
	}
	change(world, operation);
	here = *operation;
	for (uint32_t i = 0; i < 3; i++)
		here.slots[i] = outer[here.slots[i]];
	for (uint32_t i = 0; i < SLOTS; i++)
		here.map[i] = outer[here.map[i]];
	if (operation->inner)
		OK(target.recording, record_inner(world, &target, &here, world->is_derived));
	else
		OK(target.recording, record_plain(&target, &here));
}

static void set_some(struct world *world)
{
	static const uint32_t same[SLOTS] = {0, 1, 2, 3, 4, 5};
	uint32_t count = below(world, 3);

	for (uint32_t i = 0; i < count; i++) {
		struct operation *operation =
			&world->top->operations[below(world, world->top->count)];

		set(world, operation, operation->node, same);
	}
}

/* ---- binding and comparing ---- */

static void bind_slots(struct world *world, struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		OK(recording,
		   dagpatch_bind(recording, i, world->buffers[world->bound[i]], BUFFER_WORDS * 4));
}

/* Binds some slots to other buffers, never two slots to the same buffer. */
static void rebind(struct world *world)
{
	uint32_t changes = 1 + below(world, SLOTS);

	for (uint32_t i = 0; i < changes; i++) {
		uint32_t slot_number = below(world, SLOTS), to = below(world, BUFFERS);

		for (uint32_t j = 0; j < SLOTS; j++)
			if (world->bound[j] == to)
				world->bound[j] = world->bound[slot_number];
		world->bound[slot_number] = to;
	}
}

static void write_buffers(struct world *world)
{
	uint32_t before = scene_visit(world->scene);

	for (uint32_t i = 0; i < BUFFERS; i++)
		suite_bed->write(world->buffers[i], world->before[i], BUFFER_WORDS * 4);
	device_back(before);
}

static void expect_buffers(struct world *world, const char *what)
{
	uint32_t before = scene_visit(world->scene);
	uint32_t words[BUFFER_WORDS];

	for (uint32_t i = 0; i < BUFFERS; i++) {
		suite_bed->read(words, world->buffers[i], sizeof(words));
		for (uint32_t j = 0; j < BUFFER_WORDS; j++)
			if (words[j] != world->host[i][j])
				fail_msg("%s, rebind %u: buffer %u, word %u is 0x%x, not 0x%x",
					 what, world->round, i, j, words[j], world->host[i][j]);
	}
	device_back(before);
}

static void run_fresh(struct world *world)
{
	struct dagpatch_recording *fresh;

	OK(NULL, dagpatch_recording_create(world->scene->context, 0, &fresh));
	record_block(world, fresh, world->top, false);
	bind_slots(world, fresh);
	OK(fresh, dagpatch_launch(fresh, world->scene->stream));
	scene_wait(world->scene);
	dagpatch_recording_destroy(fresh);
	expect_buffers(world, "a fresh recording");
}

/* ---- a world ---- */

static void next_graph(struct world *world)
{
	if (world->top)
		free_block(world->top);
	world->is_derived = below(world, 2);
	world->top = make_block(world, below(world, DEPTH + 1), false);
	scene_again(world->scene, world->is_derived ? DAGPATCH_DERIVE_DEPENDENCIES : 0);
	record_block(world, world->scene->recording, world->top, world->is_derived);
	for (uint32_t i = 0; i < SLOTS; i++)
		world->bound[i] = i;
}

struct world *world_create(struct scene *scene, uint64_t seed)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t before = scene_visit(scene);

	assert_non_null(world);
	world->state = seed;
	world->scene = scene;
	for (uint32_t i = 0; i < BUFFERS; i++)
		world->buffers[i] = suite_bed->alloc(BUFFER_WORDS * 4);
	for (uint32_t i = 0; i < SLOTS; i++)
		world->elsewhere[i] = suite_bed->alloc(BUFFER_WORDS * 4);
	device_back(before);
	return world;
}

void world_round(struct world *world)
{
	if (world->round++ % WORLD_ROUNDS == 0)
		next_graph(world);
	if (below(world, 3))
		rebind(world);
	set_some(world);
	bind_slots(world, world->scene->recording);
	for (uint32_t i = 0; i < BUFFERS; i++)
		for (uint32_t j = 0; j < BUFFER_WORDS; j++)
			world->before[i][j] = world->host[i][j] = below(world, 1u << 30);
	write_buffers(world);
	reckon_block(world, world->top, world->bound);
	scene_run(world->scene);
	expect_buffers(world, "patched");
	write_buffers(world);
	run_fresh(world);
}

void world_destroy(struct world *world)
{
	uint32_t before = scene_visit(world->scene);

	for (uint32_t i = 0; i < BUFFERS; i++)
		suite_bed->free(world->buffers[i]);
	for (uint32_t i = 0; i < SLOTS; i++)
		suite_bed->free(world->elsewhere[i]);
	device_back(before);
	if (world->top)
		free_block(world->top);
	free(world);
}

static uint64_t random_seed;
static uint32_t random_rebinds;

static void random_graphs(void **state)
{
	struct world *world = world_create(*state, random_seed);

	print_message("seed %" PRIu64 ", %u rebinds\n", random_seed, random_rebinds);
	for (uint32_t i = 0; i < random_rebinds; i++)
		world_round(world);
	world_destroy(world);
}

int suite_random(uint64_t seed, uint32_t rebinds)
{
	const struct CMUnitTest tests[] = {SCENE(random_graphs)};

	random_seed = seed;
	random_rebinds = rebinds;
	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
