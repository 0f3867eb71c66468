/* What is added to a recording: slots, nodes of all kinds, and graphs. */
#include "patch_program_inner.h"

static struct dagpatch_after after_of(struct program *program, uint32_t nodes[FEW])
{
	for (uint32_t i = 0; i < FEW; i++)
		nodes[i] = number32(program, 8);
	return (struct dagpatch_after){array_of(program, nodes), byte(program) % (FEW + 1)};
}

int program_add_slot(struct program *program, struct dagpatch_recording *recording)
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

	/* Each recording begins with two slots. program_adopt has SLOTS_MOST addresses. */
	if (program->slots_added == SLOTS_MOST - 2)
		return 0;
	program->slots_added++;
	return dagpatch_slot_add(recording, array_of(program, &given),
				 one_in(program, 64) ? NULL : &slot);
}

int program_add_kernel(struct program *program, struct dagpatch_recording *recording)
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
		.address = one_in(program, 16) ? NULL : program_fixed,
		.pitch = is_fixed ? byte(program) % 16 : number(program, 64),
		.rows = is_fixed ? byte(program) % 16 : number(program, 8),
	};
}

int program_add_copy(struct program *program, struct dagpatch_recording *recording)
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

int program_add_memset(struct program *program, struct dagpatch_recording *recording)
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

int program_add_small(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_host host = {.size = size_of(program, sizeof(host)),
				     .function = one_in(program, 16) ? NULL : program_host_function,
				     .user = &program_host_calls};
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

int program_add_child(struct program *program, struct dagpatch_recording *recording)
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

int program_add_captured(struct program *program, struct dagpatch_recording *recording)
{
	struct dagpatch_collective collective = {.size = size_of(program, sizeof(collective)),
						 .communicator = byte(program) % 2,
						 .buffers_are_registered = one_in(program, 4)};
	uint32_t slots[FEW];
	void *addresses[2][FEW];
	uint32_t count = byte(program) % (FEW + 1);
	struct dagpatch_capture capture = {
		.size = size_of(program, sizeof(capture)),
		.record = one_in(program, 32) ? NULL : program_record,
		.user = &program_without_addresses[byte(program) % sizeof(program_habits)],
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
		capture.user = &program_habits[byte(program) % sizeof(program_habits)];
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

int program_add_graph(struct program *program, struct dagpatch_recording *recording)
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

int program_adopt(struct program *program, struct dagpatch_recording *recording)
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
