/* What is instantiated of graphs of the model device: flat plans, and executable graphs with the
 * parameters of their nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "patch/model/model_parts.h"

/* ---- plans ---- */

static int plan_add(struct plan *plan, const struct model_node *node, uint32_t *ret_index)
{
	int err = table_reserve((void **)&plan->nodes, &plan->room, (uint64_t)plan->count + 1,
				sizeof(*plan->nodes));

	if (err < 0)
		return err;
	plan->nodes[plan->count] = (struct plan_node){
		.origin = node,
		.kind = node->kind,
		.image = plan->value_bytes,
		.size = node->size,
		.condition = node->condition,
		.handle = node->handle,
	};
	plan->value_bytes += (node->size + 15) & ~15u;
	*ret_index = plan->count++;
	return 0;
}

static int plan_add_levels(struct plan *plan, uint32_t count, uint32_t *ret_first)
{
	uint32_t needed = plan->level_count + count;
	int err = table_reserve((void **)&plan->levels, &plan->level_room, needed,
				sizeof(*plan->levels));

	if (err < 0)
		return err;
	memset(plan->levels + plan->level_count, 0, count * sizeof(*plan->levels));
	*ret_first = plan->level_count;
	plan->level_count = needed;
	return 0;
}

/* The reverse of the dependencies: the nodes that wait for node i are waiters[first[i]] to
 * waiters[first[i + 1]]. waiting[i] counts the nodes that i still waits for. */
struct waiters {
	uint32_t *first, *waiters, *waiting;
};

static void waiters_release(struct waiters *waiters)
{
	free(waiters->first);
	free(waiters->waiters);
	free(waiters->waiting);
}

static int waiters_find(const struct dagpatch_model_graph *graph, struct waiters *waiters)
{
	uint32_t edges = 0;

	for (uint32_t i = 0; i < graph->count; i++)
		edges += graph->nodes[i]->after_count;
	waiters->first = calloc((size_t)graph->count + 2, sizeof(*waiters->first));
	waiters->waiters = malloc(((size_t)edges + 1) * sizeof(*waiters->waiters));
	waiters->waiting = malloc(((size_t)graph->count + 1) * sizeof(*waiters->waiting));
	if (!waiters->first || !waiters->waiters || !waiters->waiting)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->count; i++)
		for (uint32_t j = 0; j < graph->nodes[i]->after_count; j++)
			waiters->first[graph->nodes[i]->after[j]->index + 2]++;
	for (uint32_t i = 0; i < graph->count; i++)
		waiters->first[i + 2] += waiters->first[i + 1];
	for (uint32_t i = 0; i < graph->count; i++) {
		waiters->waiting[i] = graph->nodes[i]->after_count;
		for (uint32_t j = 0; j < graph->nodes[i]->after_count; j++) {
			uint32_t before = graph->nodes[i]->after[j]->index;

			waiters->waiters[waiters->first[before + 1]++] = i;
		}
	}
	return 0;
}

/* Of the nodes whose dependencies are done, the one that was added last runs first. A node waits
 * only for earlier nodes, so the search continues at the last node that has just become ready. */
static int order_level(const struct dagpatch_model_graph *graph, const uint32_t *places,
		       struct waiters *waiters, struct plan_level *level)
{
	uint32_t from = graph->count;

	level->order = malloc(((size_t)graph->count + 1) * sizeof(*level->order));
	if (!level->order)
		return -ENOMEM;
	while (from > 0) {
		uint32_t node = --from;

		if (waiters->waiting[node] != 0)
			continue;
		waiters->waiting[node] = UINT32_MAX;
		level->order[level->count++] = places[node];
		for (uint32_t i = waiters->first[node]; i < waiters->first[node + 1]; i++)
			if (--waiters->waiting[waiters->waiters[i]] == 0 &&
			    waiters->waiters[i] >= from)
				from = waiters->waiters[i] + 1;
	}
	return level->count == graph->count ? 0 : -EINVAL;
}

static int plan_add_graph(struct plan *plan, const struct dagpatch_model_graph *graph,
			  uint32_t level);

static int plan_add_node(struct plan *plan, const struct model_node *node, uint32_t *ret_index)
{
	uint32_t index, first = 0;
	int err = plan_add(plan, node, &index);

	if (err == 0)
		err = plan_add_levels(plan, node->inner_count, &first);
	for (uint32_t i = 0; err == 0 && i < node->inner_count; i++)
		err = plan_add_graph(plan, node->inner[i], first + i);
	if (err < 0)
		return err;
	plan->nodes[index].first_level = first;
	plan->nodes[index].level_count = node->inner_count;
	plan->nodes[index].inner_nodes = plan->count - index - 1;
	*ret_index = index;
	return 0;
}

static int plan_add_graph(struct plan *plan, const struct dagpatch_model_graph *graph,
			  uint32_t level)
{
	uint32_t *places = malloc(((size_t)graph->count + 1) * sizeof(*places));
	struct waiters waiters = {0};
	int err = places ? waiters_find(graph, &waiters) : -ENOMEM;

	for (uint32_t i = 0; err == 0 && i < graph->count; i++)
		err = plan_add_node(plan, graph->nodes[i], &places[i]);
	if (err == 0)
		err = order_level(graph, places, &waiters, &plan->levels[level]);
	waiters_release(&waiters);
	free(places);
	return err;
}

static int compare_origins(const void *left, const void *right)
{
	const struct plan_node *a = *(struct plan_node *const *)left;
	const struct plan_node *b = *(struct plan_node *const *)right;

	return (a->origin > b->origin) - (a->origin < b->origin);
}

static int plan_index(struct plan *plan)
{
	plan->by_origin = malloc((plan->count + 1) * sizeof(struct plan_node *));
	if (!plan->by_origin)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->count; i++)
		plan->by_origin[i] = &plan->nodes[i];
	qsort(plan->by_origin, plan->count, sizeof(struct plan_node *), compare_origins);
	return 0;
}

struct plan_node *model_plan_find(const struct plan *plan, const struct model_node *node)
{
	struct plan_node key = {.origin = node};
	struct plan_node *pointer = &key;
	struct plan_node **found = bsearch(&pointer, plan->by_origin, plan->count,
					   sizeof(struct plan_node *), compare_origins);

	return found ? *found : NULL;
}

int model_plan_create(struct dagpatch_model_graph *graph, struct plan **ret_plan,
		      struct plan_values **ret_values)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	struct plan_values *values;
	uint32_t level;
	int err;

	if (!plan)
		return -ENOMEM;
	plan->references = 1;
	graph->reads++;
	err = plan_add_levels(plan, 1, &level);
	if (err == 0)
		err = plan_add_graph(plan, graph, level);
	if (err == 0)
		err = plan_index(plan);
	values = err == 0 ? malloc(sizeof(*values) + plan->value_bytes) : NULL;
	if (!values) {
		model_plan_release(plan);
		return err < 0 ? err : -ENOMEM;
	}
	values->references = 1;
	for (uint32_t i = 0; i < plan->count; i++)
		if (plan->nodes[i].size > 0)
			memcpy(values->bytes + plan->nodes[i].image, plan->nodes[i].origin->image,
			       plan->nodes[i].size);
	*ret_plan = plan;
	*ret_values = values;
	return 0;
}

void model_plan_release(struct plan *plan)
{
	if (!plan || --plan->references > 0)
		return;
	for (uint32_t i = 0; i < plan->level_count; i++)
		free(plan->levels[i].order);
	free(plan->levels);
	free(plan->by_origin);
	free(plan->nodes);
	free(plan);
}

void model_values_release(struct plan_values *values)
{
	if (values && --values->references == 0)
		free(values);
}

/* ---- executable graphs ---- */

static struct plan_values *values_copy(const struct dagpatch_model_exec *exec)
{
	struct plan_values *copy = malloc(sizeof(*copy) + exec->plan->value_bytes);

	if (!copy)
		return NULL;
	copy->references = 1;
	memcpy(copy->bytes, exec->values->bytes, exec->plan->value_bytes);
	return copy;
}

/* Replays in flight keep the values that they were launched with. */
static int exec_own_values(struct dagpatch_model_exec *exec)
{
	struct plan_values *own;

	if (exec->values->references == 1)
		return 0;
	own = values_copy(exec);
	if (!own)
		return -ENOMEM;
	model_values_release(exec->values);
	exec->values = own;
	return 0;
}

int model_exec_write(struct dagpatch_model_exec *exec, const struct model_node *node,
		     const struct patch_params *params)
{
	const struct plan_node *planned = model_plan_find(exec->plan, node);
	struct patch_image image = {0};
	int err;

	if (!planned)
		return -EINVAL;
	err = model_image(params, &image);
	if (err == 0 && planned->kind != params->kind)
		err = -EINVAL;
	else if (err == 0 && planned->size != image.size)
		err = -ENOTSUP; /* a kernel with other arguments */
	if (err == 0)
		err = exec_own_values(exec);
	if (err == 0 && image.size > 0)
		memcpy(exec->values->bytes + planned->image, image.bytes, image.size);
	if (err == 0 && exec->is_used)
		exec->is_used[planned - exec->plan->nodes] = false;
	patch_image_release(&image);
	return err;
}

int model_exec_forget(struct dagpatch_model_exec *exec, struct plan_values **ret_kept)
{
	const struct plan_level *top = &exec->plan->levels[0];
	struct plan_values *values = values_copy(exec);

	if (!exec->is_used)
		exec->is_used = calloc(exec->plan->count + 1, sizeof(*exec->is_used));
	if (!values || !exec->is_used) {
		free(values);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < top->count; i++) {
		const struct plan_node *node = &exec->plan->nodes[top->order[i]];
		struct patch_memset *image = (struct patch_memset *)(values->bytes + node->image);

		if (node->kind == PATCH_MEMSET && exec->is_used[top->order[i]])
			image->value ^= UINT32_MAX;
	}
	*ret_kept = exec->values;
	exec->values = values;
	return 0;
}

void model_exec_remember(struct dagpatch_model_exec *exec, struct plan_values *kept)
{
	model_values_release(exec->values);
	exec->values = kept;
	memset(exec->is_used, true, exec->plan->count);
}

static bool is_same_shape(const struct plan_node *a, const struct plan_node *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].kind != b[i].kind || a[i].size != b[i].size ||
		    a[i].inner_nodes != b[i].inner_nodes)
			return false;
	return true;
}

int model_exec_take(struct dagpatch_model_exec *exec, const struct model_node *origin,
		    struct dagpatch_model_graph *graph, uint32_t count)
{
	const struct plan_node *from, *to = exec->plan->nodes;
	const struct plan_node *outer = origin ? model_plan_find(exec->plan, origin) : NULL;
	uint32_t total = outer ? outer->inner_nodes : exec->plan->count;
	struct plan_values *values;
	struct plan *plan;
	int err;

	if (origin && !outer)
		return -EINVAL;
	if (outer)
		to = outer + 1;
	err = model_plan_create(graph, &plan, &values);
	if (err < 0)
		return err;
	from = plan->nodes;
	if (plan->count != total || !is_same_shape(from, to, total))
		err = -ENOTSUP;
	if (err == 0)
		err = exec_own_values(exec);
	for (uint32_t i = 0; err == 0 && i < total && i < count; i++)
		memcpy(exec->values->bytes + to[i].image, values->bytes + from[i].image,
		       from[i].size);
	if (err == 0 && exec->is_used)
		memset(exec->is_used + (to - exec->plan->nodes), false,
		       total < count ? total : count);
	model_plan_release(plan);
	model_values_release(values);
	return err;
}
