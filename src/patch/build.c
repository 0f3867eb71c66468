/* Builds the driver's graph of what was recorded: at first, when the driver can no longer patch
 * the graph that exists, and when that graph is lost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/build.h"
#include "patch/capture.h"
#include "patch/captured_graph.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/retire.h"

/* ---- the previous graph's handles and flags, restored when building fails ---- */

static int keep(const struct dagpatch_recording *recording, struct replaced *kept)
{
	kept->handles = malloc((recording->node_count + 1) * sizeof(struct driver_node *));
	kept->flags = malloc(recording->node_count + 1);
	kept->conditions = malloc((recording->conditional_count + 1) * sizeof(*kept->conditions));
	if (!kept->handles || !kept->flags || !kept->conditions)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->node_count; i++) {
		kept->handles[i] = recording->nodes[i].handle;
		kept->flags[i] = recording->nodes[i].flags;
	}
	for (uint32_t i = 0; i < recording->conditional_count; i++)
		kept->conditions[i] = recording->conditionals[i].handle;
	return 0;
}

static void restore(struct dagpatch_recording *recording, const struct replaced *kept)
{
	for (uint32_t i = 0; i < recording->node_count; i++) {
		struct node *node = &recording->nodes[i];

		node->handle = kept->handles[i];
		node->flags = kept->flags[i];
		if (node->kind == PATCH_CONDITIONAL)
			build_place_condition(recording, i, kept->conditions[node->detail]);
	}
}

static void kept_release(struct replaced *kept)
{
	free(kept->handles);
	free(kept->flags);
	free(kept->conditions);
	*kept = (struct replaced){0};
}

/* ---- handles of recaptured work in a flattened graph ---- */

/* Exchanges the handles in the new graph with those in the graph that it replaces. */
static void swap_handles(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		struct recapture *recapture = &recording->recaptures[i];
		struct driver_node **handles = recapture->handles;

		recapture->handles = recapture->made_handles;
		recapture->made_handles = handles;
	}
}

/* Frees made_handles. */
static void drop_handles(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->recapture_count; i++) {
		free(recording->recaptures[i].made_handles);
		recording->recaptures[i].made_handles = NULL;
	}
}

/* ---- building ---- */

static int build_flat(struct dagpatch_recording *recording, struct built *built)
{
	int err = recording->device->driver->graph_create(recording->device, &built->graph);

	return err < 0 ? recording_fail(recording, err, "making the graph")
		       : flatten(recording, &(struct patch_capturing){.graph = built->graph}, NULL);
}

static int build_graph(struct dagpatch_recording *recording, struct built *built)
{
	const struct patch_driver *driver = recording->device->driver;
	int err;

	if (recording->device->capabilities & PATCH_FLATTENS)
		return build_flat(recording, built);
	err = recording->source
		      ? driver->graph_clone(recording->device, recording->source, &built->graph)
		      : driver->graph_create(recording->device, &built->graph);
	if (err < 0)
		recording_fail(recording, err, "making the graph");
	else if (recording->source)
		err = build_take_nodes(recording, built->graph);
	else
		err = build_add_nodes(recording, built->graph, NULL, 0);
	return err;
}

static int instantiate(struct dagpatch_recording *recording, struct built *built)
{
	const struct patch_driver *driver = recording->device->driver;
	int err = build_table(recording, built);

	if (err < 0)
		return err;
	err = driver->instantiate(recording->device, built->graph, recording->has_priorities,
				  &built->exec);
	if (err < 0)
		return recording_fail(recording, err, "instantiating the graph");
	built->by_priorities = recording->has_priorities;
	if (built->table && driver->table_attach) {
		err = driver->table_attach(recording->device, built->table, built->exec);
		if (err < 0)
			return recording_fail(recording, err, "attaching the table of addresses");
	}
	return 0;
}

static int attempt(struct dagpatch_recording *recording, struct built *built)
{
	int err;

	build_leave_table(recording);
	built->room = retired_create();
	if (!built->room)
		return recording_fail(recording, -ENOMEM, "no memory for a graph");
	err = build_graph(recording, built);
	if (err == 0)
		err = instantiate(recording, built);
	if (err < 0)
		built_release(recording->device, built);
	return err;
}

/* Builds without the table if this graph cannot have one. */
static int attempt_any(struct dagpatch_recording *recording, struct built *built)
{
	int err = attempt(recording, built);

	if (err != -EAGAIN)
		return err;
	recording->cannot_table = true;
	return attempt(recording, built);
}

/* If there was no memory, frees some and tries once more. */
static int attempt_twice(struct dagpatch_recording *recording, struct built *built)
{
	uint64_t failures = recording->stats.failures;
	int err = attempt_any(recording, built);

	if (err != -ENOMEM || !evict_for_memory(recording))
		return err;
	recording->stats.memory_retries++;
	recording->stats.failures = failures;
	return attempt_any(recording, built);
}

int build(struct dagpatch_recording *recording, struct replaced *ret_replaced)
{
	struct built built = {0};
	struct replaced kept = {.is_there = true, .built = recording->built};
	int err = keep(recording, &kept);

	if (err < 0) {
		kept_release(&kept);
		return recording_fail(recording, err, "no memory for a graph");
	}
	reap(recording->context);
	err = attempt_twice(recording, &built);
	if (err < 0) {
		restore(recording, &kept);
		drop_handles(recording);
		kept_release(&kept);
		return err;
	}
	swap_handles(recording);
	for (uint32_t i = 0; i < recording->node_count; i++)
		recording->nodes[i].flags &= (uint8_t)~NODE_STALE;
	recording->built = built;
	*ret_replaced = kept;
	return 0;
}

void build_accept(struct dagpatch_recording *recording, struct replaced *replaced)
{
	if (!replaced->is_there)
		return;
	retire_built(recording, &replaced->built);
	drop_handles(recording);
	kept_release(replaced);
	recording->launches = (struct launches){0};
	recording->updates = 0;
	recording->is_spent = false;
	recording_note_use(recording);
	atomic_store_explicit(&recording->is_built, true, memory_order_relaxed);
}

void build_undo(struct dagpatch_recording *recording, struct replaced *replaced)
{
	if (!replaced->is_there)
		return;
	built_release(recording->device, &recording->built);
	recording->built = replaced->built;
	restore(recording, replaced);
	swap_handles(recording);
	drop_handles(recording);
	kept_release(replaced);
}

/* ---- into a graph of the caller's ---- */

/* Adds an adopted graph as a child: the driver, not the recording, has the dependencies of its
 * nodes, and they come with the copy. */
static int add_source(struct dagpatch_recording *recording, const struct patch_capturing *into,
		      struct driver_node **ret_node)
{
	const struct patch_driver *driver = recording->device->driver;
	struct patch_child child = {recording->source};
	struct driver_graph *embedded;
	int err = driver->node_add(
		recording->device, into->graph,
		&(struct patch_params){.kind = PATCH_CHILD, .size = sizeof(child), .image = &child},
		into->after, into->after_count, ret_node);

	if (err == 0)
		err = driver->child_graph(recording->device, *ret_node, &embedded);
	if (err < 0)
		return recording_fail(recording, err, "adding the adopted graph");
	return build_take_nodes(recording, embedded);
}

/* Lists the nodes at the top that no other node waits for. */
static int find_ends(struct dagpatch_recording *recording, struct node_list *ends)
{
	bool *is_waited_for = calloc((size_t)recording->node_count + 1, sizeof(*is_waited_for));

	if (!is_waited_for)
		return recording_fail(recording, -ENOMEM, "no memory for a graph");
	for (uint32_t i = 0; i < recording->after_count; i++)
		is_waited_for[recording->after[i]] = true;
	for (uint32_t i = 0; i < recording->node_count; i = node_end(recording, i))
		if (!is_waited_for[i])
			ends->nodes[ends->count++] = recording->nodes[i].handle;
	free(is_waited_for);
	return 0;
}

static int add_all(struct dagpatch_recording *recording, const struct patch_capturing *into,
		   struct node_list *ends)
{
	int err;

	if (recording->device->capabilities & PATCH_FLATTENS) {
		ends->count = 1;
		return flatten(recording, into, ends->nodes);
	}
	if (recording->source) {
		ends->count = 1;
		return add_source(recording, into, ends->nodes);
	}
	err = build_add_nodes(recording, into->graph, into->after, into->after_count);
	return err < 0 ? err : find_ends(recording, ends);
}

int build_into(struct dagpatch_recording *recording, const struct patch_capturing *into,
	       struct node_list *ret_ends)
{
	struct node_list ends = {.nodes = malloc(((size_t)recording->node_count + 1) *
						 sizeof(struct driver_node *))};
	struct replaced kept = {0};
	int err = keep(recording, &kept);

	if (err < 0 || !ends.nodes) {
		err = recording_fail(recording, -ENOMEM, "no memory for a graph");
	} else {
		err = add_all(recording, into, &ends);
		restore(recording, &kept);
		drop_handles(recording);
	}
	kept_release(&kept);
	if (err < 0)
		free(ends.nodes);
	else
		*ret_ends = ends;
	return err;
}
