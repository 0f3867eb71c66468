/* How new parameters get into an executable graph: node by node, or by an update of the whole
 * graph; and the choice between the two. */
#include <errno.h>

#include "patch/captured_graph.h"
#include "patch/context.h"
#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/layout.h"
#include "patch/node.h"
#include "patch/recapture.h"
#include "patch/recording.h"
#include "patch/strategy.h"

enum {
	FEW_NODES = 32, /* with fewer dirty nodes there is nothing to gain from a choice */
	/* from this many dirty nodes on, an update of the whole graph is tried once */
	TRY_NODES = 64,
};

/* The number of node updates after which the executable graph is worn out. */
static uint64_t update_limit(const struct dagpatch_recording *recording)
{
	uint64_t limit = recording->context->options.updates_before_instantiate;

	if (limit == 0)
		limit = recording->device->updates_before_instantiate;
	return limit == 0 || limit == UINT32_MAX ? UINT64_MAX : limit * recording->node_count;
}

/* Tests whether MORE updates are too many for the executable graph. */
static bool wears_out(const struct dagpatch_recording *recording, uint32_t more)
{
	return recording->is_spent ||
	       (!recording->foreign_exec && recording->updates + more > update_limit(recording));
}

bool strategy_is_worn(const struct dagpatch_recording *recording)
{
	return wears_out(recording, 0);
}

/* The first try costs one update of the whole graph; afterwards the measured costs decide. */
static bool is_update_cheaper(const struct dagpatch_recording *recording)
{
	const struct costs *costs = &recording->costs;
	uint32_t dirty = recording->dirty_count;

	if (recording->built.table || recording->updates == 0 || dirty < FEW_NODES ||
	    costs->set_one <= 0)
		return false;
	if (costs->update_all <= 0)
		return dirty >= TRY_NODES && dirty >= recording->node_count / 2;
	return costs->update_all < costs->set_one * dirty;
}

/* An update takes all parameters from the built graph, in which recaptured work is still as it was
 * at first. */
bool strategy_can_update(const struct dagpatch_recording *recording)
{
	return !recording->foreign_exec && recording->recapture_count == 0 &&
	       !recording->costs.cannot_update;
}

/* In a graph that dagpatch has flattened, no node is inside of another. */
static bool sets_all(const struct dagpatch_recording *recording)
{
	uint32_t capabilities = recording->device->capabilities;

	return (capabilities & PATCH_SETS_NESTED) ||
	       ((capabilities & PATCH_FLATTENS) && !recording->foreign_exec);
}

/* The driver cannot set this node because it is inside of a child graph. */
static bool is_out_of_reach(const struct dagpatch_recording *recording, uint32_t node)
{
	return recording->nodes[node].parent != DAGPATCH_NONE && !sets_all(recording);
}

/* Tests the first COUNT dirty nodes. */
static bool any_out_of_reach(const struct dagpatch_recording *recording, uint32_t count)
{
	if (sets_all(recording))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (is_out_of_reach(recording, recording->dirty[i]))
			return true;
	return false;
}

enum dagpatch_strategy strategy_choose(const struct dagpatch_recording *recording)
{
	enum dagpatch_strategy forced = recording->context->options.strategy;

	if (recording->table_choice.is_overdue)
		return DAGPATCH_INSTANTIATE;
	if (wears_out(recording, recording->dirty_count))
		return DAGPATCH_INSTANTIATE;
	if (recording->dirty_count == 0)
		return DAGPATCH_SET_PARAMS;
	if (forced == DAGPATCH_INSTANTIATE && !recording->foreign_exec)
		return forced;
	if (!strategy_can_update(recording))
		return DAGPATCH_SET_PARAMS;
	if (forced == DAGPATCH_UPDATE_GRAPH || any_out_of_reach(recording, recording->dirty_count))
		return DAGPATCH_UPDATE_GRAPH;
	return forced == DAGPATCH_AUTO && is_update_cheaper(recording) ? DAGPATCH_UPDATE_GRAPH
								       : DAGPATCH_SET_PARAMS;
}

/* ---- node by node ---- */

/* TAKES_NEXT: the graph that recaptured work shall have; otherwise the one that it had. */
static struct driver_graph *recapture_graph(const struct dagpatch_recording *recording,
					    uint32_t node, bool takes_next)
{
	const struct recapture *recapture = &recording->recaptures[recording->nodes[node].detail];

	return (takes_next && recapture->next ? recapture->next : recapture->current)->graph;
}

static int set_again(struct dagpatch_recording *recording, uint32_t node, bool takes_next)
{
	struct patch_child child = {recapture_graph(recording, node, takes_next)};
	int err;

	if (recording->device->capabilities & PATCH_FLATTENS) {
		uint32_t set;

		err = recapture_set_flat(recording,
					 &recording->recaptures[recording->nodes[node].detail],
					 takes_next, &set);
		recording->updates += set;
		return err;
	}
	pthread_mutex_lock(&recording->device->shared_graphs);
	err = recording->device->driver->exec_set(
		recording->device, current_exec(recording), recording->nodes[node].handle,
		&(struct patch_params){
			.kind = PATCH_CHILD, .size = sizeof(child), .image = &child});
	pthread_mutex_unlock(&recording->device->shared_graphs);
	return err;
}

static int set_other(struct dagpatch_recording *recording, uint32_t number, bool takes_next)
{
	struct node *node = &recording->nodes[number];
	struct patch_params params;

	if (node->parent != DAGPATCH_NONE && is_out_of_reach(recording, number))
		return -ENOTSUP;
	if (node->flags & NODE_RECAPTURED)
		return set_again(recording, number, takes_next);
	node->flags |= NODE_STALE;
	params = node_params(recording, number);
	return recording->device->driver->exec_set(recording->device, current_exec(recording),
						   node->handle, &params);
}

/* Sets the first COUNT dirty nodes. *RET_AT is the index of the last one that was tried. This loop
 * decides what binding costs. So fields of the recording are in variables, because the compiler
 * would load them again after each call of the driver; and the layout of the last kernel is kept,
 * because neighbours often have the same. */
static int set_nodes(struct dagpatch_recording *recording, uint32_t count, bool takes_next,
		     uint32_t *ret_at)
{
	struct patch_device *device = recording->device;
	struct driver_exec *exec = current_exec(recording);
	struct node *nodes = recording->nodes;
	const uint32_t *dirty = recording->dirty;
	struct patch_params kernel = {.kind = PATCH_KERNEL};
	uint32_t layout = DAGPATCH_NONE;
	uint32_t i = 0;
	int err = 0;

	for (; err == 0 && i < count; i++) {
		struct node *node = &nodes[dirty[i]];
		const struct patch_kernel *image;

		if (node->kind != PATCH_KERNEL || node->parent != DAGPATCH_NONE) {
			err = set_other(recording, dirty[i], takes_next);
			continue;
		}
		if (node->detail != layout) {
			layout = node->detail;
			kernel.layout = layout == DAGPATCH_NONE ? NULL : layout_at(device, layout);
		}
		image = (const void *)(recording->images + node->image);
		kernel.size = (uint32_t)sizeof(*image) + image->argument_bytes;
		kernel.image = image;
		node->flags |= NODE_STALE;
		err = device->driver->exec_set(device, exec, node->handle, &kernel);
	}
	*ret_at = i ? i - 1 : 0;
	return err;
}

/* A node that was refused is unchanged. But a recaptured child is set node by node, so some of its
 * nodes may have changed. */
static bool may_have_changed(const struct dagpatch_recording *recording, uint32_t node, int err)
{
	return err != -ENOTSUP || ((recording->nodes[node].flags & NODE_RECAPTURED) &&
				   !is_out_of_reach(recording, node));
}

int strategy_set_params(struct dagpatch_recording *recording, uint32_t *ret_done)
{
	char slots[PLACE_TEXT];
	uint32_t at = 0;
	int err = set_nodes(recording, recording->dirty_count, true, &at);

	*ret_done = err == 0 ? recording->dirty_count
			     : at + may_have_changed(recording, recording->dirty[at], err);
	recording->updates += *ret_done;
	if (err < 0)
		recording_fail_at(recording, err, recording->dirty[at], DAGPATCH_NONE,
				  "setting parameters%s",
				  changed_text(recording, recording->dirty[at], slots));
	return err;
}

void strategy_put_back(struct dagpatch_recording *recording, uint32_t done)
{
	uint32_t at;

	/* If some of the nodes cannot be set one by one, the whole graph was updated, too. */
	recording->updates += done;
	if (any_out_of_reach(recording, done)) {
		if (strategy_update_graph(recording, &at) < 0)
			recording->state = DAGPATCH_LOST;
		return;
	}
	if (set_nodes(recording, done, false, &at) < 0)
		recording->state = DAGPATCH_LOST;
}

static int set_memset(struct dagpatch_recording *recording,
		      const struct dagpatch_recording *content, uint32_t node,
		      struct driver_node *handle)
{
	struct patch_params params = node_params(content, node);
	int err = recording->device->driver->exec_set(recording->device, current_exec(recording),
						      handle, &params);

	recording->updates++;
	return err < 0 && err != -ENOTSUP
		       ? recording_fail_at(recording, err,
					   content == recording ? node : DAGPATCH_NONE,
					   DAGPATCH_NONE, "setting a memset's parameters again")
		       : err;
}

static int set_memsets_again(struct dagpatch_recording *recording,
			     const struct recapture *recapture)
{
	const struct dagpatch_recording *content = recapture->current->content;
	int err = 0;

	for (uint32_t i = 0; err == 0 && content && i < content->node_count; i++)
		if (content->nodes[i].kind == PATCH_MEMSET)
			err = set_memset(recording, content, i, recapture->handles[i]);
	return err;
}

static int set_all_memsets(struct dagpatch_recording *recording)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < recording->node_count; i++) {
		const struct node *node = &recording->nodes[i];

		if (is_out_of_reach(recording, i))
			continue;
		if (node->kind == PATCH_MEMSET)
			err = set_memset(recording, recording, i, node->handle);
		else if ((node->flags & NODE_RECAPTURED) && !recording->foreign_exec)
			err = set_memsets_again(recording, &recording->recaptures[node->detail]);
	}
	return err;
}

/* If the driver cannot set a memset, each launch gets a new executable graph, unless the executable
 * graph is the caller's. */
int strategy_set_memsets(struct dagpatch_recording *recording)
{
	int err = set_all_memsets(recording);

	if (err != -ENOTSUP)
		return err;
	recording->is_spent = !recording->foreign_exec;
	patch_fault_take();
	return 0;
}

/* ---- the whole graph ---- */

int strategy_update_graph(struct dagpatch_recording *recording, uint32_t *ret_done)
{
	const struct patch_driver *driver = recording->device->driver;
	char slots[PLACE_TEXT];
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < recording->node_count; i++) {
		struct node *node = &recording->nodes[i];
		struct patch_params params;

		if (!(node->flags & (NODE_STALE | NODE_DIRTY)))
			continue;
		params = node_params(recording, i);
		err = driver->node_set(recording->device, node->handle, &params);
		if (err == 0 && !(node->flags & NODE_DIRTY))
			node->flags &= (uint8_t)~NODE_STALE;
		else
			node->flags |= NODE_STALE; /* until the update has succeeded */
		if (err < 0)
			recording_fail_at(recording, err, i, DAGPATCH_NONE,
					  "setting parameters of the graph%s",
					  changed_text(recording, i, slots));
	}
	if (err < 0)
		return err;
	*ret_done = recording->dirty_count;
	recording->updates += recording->dirty_count;
	err = driver->exec_update(recording->device, recording->built.exec, recording->built.graph);
	if (err < 0)
		return recording_fail(recording, err, "updating the executable graph");
	for (uint32_t i = 0; i < recording->dirty_count; i++)
		recording->nodes[recording->dirty[i]].flags &= (uint8_t)~NODE_STALE;
	return 0;
}
