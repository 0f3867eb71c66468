/*
 * The ways of `dagtap-bench patch` to keep a graph whose buffers move (patch_ways.h).
 */
#include "patch_ways.h"

#include <errno.h>
#include <stdlib.h>

struct patch_run patch_run;

/* ---- the graph ---- */

static uint32_t slot_of(uint32_t node)
{
	uint32_t slot = 0;

	while (node >= patch_run.slot_first[slot + 1])
		slot++;
	return slot;
}

static void *address_of(const struct subject *subject, uint32_t node)
{
	uint32_t slot = slot_of(node);

	return (uint32_t *)patch_run.memory[subject->side[slot]][slot] + node;
}

static int capture(const struct subject *subject, void **ret_graph)
{
	uint32_t value = MARK_VALUE;
	int err = 0;

	patch_run.bed->capture_begin(patch_run.stream);
	for (uint32_t i = 0; !err && i < patch_run.node_count; i++) {
		void *at = address_of(subject, i);
		void *parameters[] = {&at, &value};

		err = patch_run.bed->launch(patch_run.stream, BED_MARK, 1, MARK_BLOCK, parameters);
	}
	*ret_graph = patch_run.bed->capture_end(patch_run.stream);
	return err;
}

/* ---- without dagpatch ---- */

static int prepare_exec(struct subject *subject)
{
	int err = capture(subject, &subject->graph);

	if (!err)
		subject->exec = patch_run.bed->instantiate(subject->graph);
	subject->nodes = malloc(patch_run.node_count * sizeof(*subject->nodes));
	if (!subject->nodes)
		return -ENOMEM;
	return err ? err
		   : patch_run.floor->nodes(subject->graph, subject->nodes, patch_run.node_count);
}

static int launch_exec(struct subject *subject)
{
	patch_run.bed->exec_launch(subject->exec, patch_run.stream);
	return 0;
}

static int change_nothing(struct subject *subject, uint32_t moved)
{
	return 0;
}

/* The old executable graph is destroyed after the measurement. */
static int change_instantiate(struct subject *subject, uint32_t moved)
{
	int err;

	subject->old_graph = subject->graph;
	subject->old_exec = subject->exec;
	err = capture(subject, &subject->graph);
	subject->exec = patch_run.bed->instantiate(subject->graph);
	return err;
}

static int change_update(struct subject *subject, uint32_t moved)
{
	int err;

	subject->old_graph = subject->graph;
	err = capture(subject, &subject->graph);
	return err ? err : patch_run.floor->update(subject->exec, subject->graph);
}

static int set_nodes(struct subject *subject, uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < count; i++)
		err = patch_run.floor->set(subject->exec, subject->nodes[i],
					   address_of(subject, i));
	return err;
}

static int change_set_all(struct subject *subject, uint32_t moved)
{
	return set_nodes(subject, patch_run.node_count);
}

static int change_set_moved(struct subject *subject, uint32_t moved)
{
	return set_nodes(subject, patch_run.slot_first[moved]);
}

/* ---- with dagpatch ---- */

int patch_add_mark(struct dagpatch_recording *recording, struct dagpatch_pointer at,
		   const struct dagpatch_after *after, uint32_t *ret_node)
{
	uint32_t value = MARK_VALUE;
	struct dagpatch_argument arguments[] = {dagpatch_address(&at),
						dagpatch_value(&value, sizeof(value))};
	struct dagpatch_kernel kernel = {
		.size = sizeof(kernel),
		.function = patch_run.bed->function(BED_MARK),
		.grid = {1, 1, 1},
		.block = {MARK_BLOCK, 1, 1},
		.argument_count = 2,
		.arguments = arguments,
	};

	return dagpatch_add_kernel(recording, &kernel, after, ret_node);
}

static int add_nodes(struct dagpatch_recording *recording, const uint32_t *slots)
{
	uint32_t last = DAGPATCH_NONE;
	int err = 0;

	for (uint32_t i = 0; !err && i < patch_run.node_count; i++) {
		struct dagpatch_pointer at = {.slot = slots[slot_of(i)],
					      .offset = i * sizeof(uint32_t)};
		struct dagpatch_after after = {&last, 1};

		err = patch_add_mark(recording, at, i ? &after : NULL, &last);
	}
	return err;
}

static int bind_slots(struct subject *subject, uint32_t count)
{
	int err = 0;

	for (uint32_t slot = 0; !err && slot < count; slot++)
		err = dagpatch_bind(subject->recording, slot,
				    patch_run.memory[subject->side[slot]][slot],
				    patch_run.node_count * sizeof(uint32_t));
	return err;
}

static int prepare_recording(struct subject *subject)
{
	uint32_t slots[SLOTS];
	struct dagpatch_slot slot = {.size = sizeof(slot),
				     .bytes = patch_run.node_count * sizeof(uint32_t),
				     .alignment = 4};
	int err = dagpatch_recording_create(patch_run.contexts[subject->way->strategy], 0,
					    &subject->recording);

	for (int i = 0; !err && i < SLOTS; i++)
		err = dagpatch_slot_add(subject->recording, &slot, &slots[i]);
	if (!err)
		err = add_nodes(subject->recording, slots);
	if (!err)
		err = dagpatch_finalize(subject->recording);
	if (!err)
		err = bind_slots(subject, SLOTS);
	return err ? err : dagpatch_apply(subject->recording);
}

static int change_bind(struct subject *subject, uint32_t moved)
{
	int err = bind_slots(subject, moved ? moved : SLOTS);

	return err ? err : dagpatch_apply(subject->recording);
}

static int launch_recording(struct subject *subject)
{
	return dagpatch_launch(subject->recording, patch_run.stream);
}

#define DAGPATCH_WAY(its_name, its_strategy)                                                       \
	{                                                                                          \
		.name = its_name, .strategy = its_strategy, .prepare = prepare_recording,          \
		.change = change_bind, .launch = launch_recording,                                 \
	}
#define DRIVER_WAY(its_name, its_change)                                                           \
	{                                                                                          \
		.name = its_name, .prepare = prepare_exec, .change = its_change,                   \
		.launch = launch_exec,                                                             \
	}

#define PLAIN_WAY(its_name)                                                                        \
	{                                                                                          \
		.name = its_name, .prepare = prepare_exec, .change = change_nothing,               \
		.launch = launch_exec, .replays_only = true,                                       \
	}

const struct way patch_ways[] = {
	PLAIN_WAY("plain"),
	DRIVER_WAY("capture_instantiate", change_instantiate),
	DRIVER_WAY("capture_update", change_update),
	DRIVER_WAY("set_all", change_set_all),
	{.name = "set_changed",
	 .prepare = prepare_exec,
	 .change = change_set_moved,
	 .launch = launch_exec,
	 .is_bare = true},
	DAGPATCH_WAY("dagpatch_set_params", DAGPATCH_SET_PARAMS),
	DAGPATCH_WAY("dagpatch_table", DAGPATCH_DEVICE_TABLE),
	DAGPATCH_WAY("dagpatch_update_graph", DAGPATCH_UPDATE_GRAPH),
	DAGPATCH_WAY("dagpatch_instantiate", DAGPATCH_INSTANTIATE),
	DAGPATCH_WAY("dagpatch_auto", DAGPATCH_AUTO),
	PLAIN_WAY("plain_again"), /* repeated to see whether the machine has changed */
};

const size_t patch_way_count = sizeof(patch_ways) / sizeof(*patch_ways);
_Static_assert(sizeof(patch_ways) / sizeof(*patch_ways) <= WAYS_MOST, "rows are counted so");

bool way_is_auto(const struct way *way)
{
	return way->prepare == prepare_recording && way->strategy == DAGPATCH_AUTO;
}

bool way_is_possible(const struct way *way)
{
	uint32_t capabilities = dagpatch_context_capabilities(patch_run.contexts[DAGPATCH_AUTO]);

	return way->strategy != DAGPATCH_DEVICE_TABLE || capabilities & DAGPATCH_HAS_TABLE;
}
