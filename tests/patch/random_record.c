/* Random graphs (random_world.h): recording them with dagpatch, and setting their nodes. */
#include "random_world.h"

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

/* The values that the arguments of a kernel point to. */
struct kernel_values {
	uint32_t count, scalar;
	struct bed_struct by_value;
	struct bed_packed packed;
	struct dagpatch_pointer pointers[3];
	struct dagpatch_argument arguments[4];
};

/* Fills the arguments of a kernel that takes one struct by value, with two addresses in it. */
static uint32_t struct_arguments(const struct operation *operation, struct kernel_values *values)
{
	bool is_packed = operation->kind == PACKED;

	values->by_value = (struct bed_struct){.scalar = operation->scalar, .count = QUARTER};
	values->packed = (struct bed_packed){.scalar = (uint8_t)values->scalar, .count = QUARTER};
	values->pointers[0].byte =
		is_packed ? offsetof(struct bed_packed, dst) : offsetof(struct bed_struct, dst);
	values->pointers[1].byte =
		is_packed ? offsetof(struct bed_packed, src) : offsetof(struct bed_struct, src);
	values->arguments[0] = (struct dagpatch_argument){
		is_packed ? (void *)&values->packed : (void *)&values->by_value,
		is_packed ? sizeof(values->packed) : sizeof(values->by_value), 2, values->pointers};
	return 1;
}

/* Fills the arguments of the operation's kernel. Returns their number. */
static uint32_t kernel_arguments(const struct operation *operation, struct kernel_values *values)
{
	values->count = operation->kind == FOLD ? QUARTER / 2 : QUARTER;
	values->scalar = (uint32_t)operation->scalar;
	for (uint32_t i = 0; i < 3; i++) {
		values->pointers[i] = (struct dagpatch_pointer){
			.slot = operation->slots[i],
			.offset = operation->quarters[i] * QUARTER * 4,
			.range_bytes = QUARTER * 4,
			.access = i ? DAGPATCH_READS : DAGPATCH_WRITES | DAGPATCH_READS,
		};
		values->arguments[i] = dagpatch_address(&values->pointers[i]);
	}
	values->arguments[3] = dagpatch_value(&values->count, 4);
	switch (operation->kind) {
	case FOLD:
		values->arguments[2] = dagpatch_value(&operation->scalar, 8);
		return 4;
	case MARK:
		values->arguments[1] = dagpatch_value(&values->scalar, 4);
		return 2;
	case STRUCT:
	case PACKED:
		return struct_arguments(operation, values);
	default:
		return 4;
	}
}

static int record_kernel(const struct target *target, const struct operation *operation)
{
	static const enum bed_kernel kernels[] = {BED_ADD,    BED_MUL,	  BED_FOLD,
						  BED_STRUCT, BED_PACKED, BED_MARK};
	struct kernel_values values;
	uint32_t count = kernel_arguments(operation, &values);

	return give_kernel(
		target, &(struct dagpatch_kernel){
				.size = sizeof(struct dagpatch_kernel),
				.function = scene_function(target->scene, kernels[operation->kind]),
				.grid = {operation->blocks, 1, 1},
				.block = {QUARTER / operation->blocks, 1, 1},
				.argument_count = count,
				.arguments = values.arguments,
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

static void *capture_at(const struct world *world, struct block *block, uint32_t *const *addresses)
{
	uint32_t before = scene_visit(world->scene);
	void *stream = suite_bed->stream_create(), *graph;

	suite_bed->capture_begin(stream);
	assert_int_equal(block_capture(block, stream, (void *const *)addresses), 0);
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
			&DAGPATCH_SIZED(capture, .record = block_capture, .user = operation->inner,
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
		block_record(world, nested, operation->inner, is_derived);
	for (uint32_t i = 0; i < SLOTS; i++)
		mappings[i] = (struct dagpatch_mapping){operation->map[i], 0};
	child = DAGPATCH_SIZED(child, nested, mappings, SLOTS);
	rc = target->is_set
		     ? dagpatch_set_child(target->recording, *target->node, &child)
		     : dagpatch_add_child(target->recording, &child, target->after, target->node);
	dagpatch_recording_destroy(nested);
	return rc;
}

int operation_record(struct world *world, const struct target *target, struct operation *operation,
		     bool is_derived)
{
	return operation->inner ? record_inner(world, target, operation, is_derived)
				: record_plain(target, operation);
}

void block_record(struct world *world, struct dagpatch_recording *recording, struct block *block,
		  bool is_derived)
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
		OK(recording, operation_record(world, &target, operation, is_derived));
	}
	OK(recording, dagpatch_finalize(recording));
}
