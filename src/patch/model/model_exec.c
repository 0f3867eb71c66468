/* Executable graphs of the model device, as the driver's table has them. model_plan.c has what they
 * consist of. */
#include <errno.h>
#include <stdlib.h>

#include "patch/model/model_parts.h"

int dagpatch_model_instantiate(struct dagpatch_model_graph *graph,
			       struct dagpatch_model_exec **ret_exec)
{
	struct dagpatch_model_exec *exec;
	int err;

	if (!graph || !ret_exec)
		return -EINVAL;
	exec = calloc(1, sizeof(*exec));
	err = exec ? 0 : -ENOMEM;
	if (err == 0)
		exec->order = calloc(1, sizeof(*exec->order));
	if (err == 0 && !exec->order)
		err = -ENOMEM;
	if (err == 0)
		err = model_plan_create(graph, &exec->plan, &exec->values);
	if (err == 0) {
		exec->device = dagpatch_model_device();
		exec->order->references = 1;
		exec->order->bytes =
			exec->plan->count * sizeof(struct plan_node) + exec->plan->value_bytes;
		err = model_memory_take(exec->order->bytes);
	}
	if (err < 0) {
		if (exec && exec->plan) {
			model_plan_release(exec->plan);
			model_values_release(exec->values);
		}
		free(exec ? exec->order : NULL);
		free(exec);
		return err;
	}
	model_live.execs++;
	*ret_exec = exec;
	return 0;
}

int model_instantiate(struct patch_device *device, struct driver_graph *graph, bool by_priorities,
		      struct driver_exec **ret_exec)
{
	int err = model_begin(device, "instantiate");

	if (err < 0)
		return err;
	err = dagpatch_model_instantiate((struct dagpatch_model_graph *)graph,
					 (struct dagpatch_model_exec **)ret_exec);
	if (err == 0)
		((struct dagpatch_model_exec *)*ret_exec)->by_priorities = by_priorities;
	return model_end("instantiate", err);
}

static void destroy(struct dagpatch_model_exec *exec, bool is_kept)
{
	model_exec_order_release(exec, is_kept);
	model_plan_release(exec->plan);
	model_values_release(exec->values);
	free(exec->is_used);
	free(exec);
	model_live.execs--;
}

void dagpatch_model_exec_destroy(struct dagpatch_model_exec *exec)
{
	if (exec)
		destroy(exec, true);
}

void model_exec_destroy(struct patch_device *device, struct driver_exec *exec)
{
	model_is_here(device);
	destroy((struct dagpatch_model_exec *)exec, device->capabilities & PATCH_KEEPS_EXECS);
}

uint64_t model_exec_bytes(struct patch_device *device, struct driver_exec *exec)
{
	return ((struct dagpatch_model_exec *)exec)->order->bytes;
}

static bool is_other_function(const void *a, const void *b)
{
	const struct patch_kernel *from = a, *to = b;

	return from->function != to->function;
}

bool model_can_set(struct patch_device *device, const struct patch_params *from,
		   const struct patch_params *to)
{
	return !(model_missing() & DAGPATCH_MODEL_NO_FUNCTIONS) || from->kind != PATCH_KERNEL ||
	       !is_other_function(from->image, to->image);
}

/* DAGPATCH_MODEL_NO_FUNCTIONS: the change to another function that is lost. */
static bool is_lost(const struct dagpatch_model_exec *exec, const struct model_node *node,
		    const struct patch_params *params)
{
	const struct plan_node *planned = model_plan_find(exec->plan, node);

	return (model_missing() & DAGPATCH_MODEL_NO_FUNCTIONS) && params->kind == PATCH_KERNEL &&
	       planned && is_other_function(exec->values->bytes + planned->image, params->image);
}

static bool cannot_be_set(enum patch_kind kind)
{
	uint32_t missing = model_missing();

	return (kind == PATCH_CHILD && (missing & DAGPATCH_MODEL_NO_CHILDREN)) ||
	       (kind == PATCH_MEMSET && (missing & DAGPATCH_MODEL_NO_MEMSET_SETS));
}

/* An injected failure is returned after the node was changed: the worst that a driver may do. */
int model_exec_set(struct patch_device *device, struct driver_exec *handle,
		   struct driver_node *node, const struct patch_params *params)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	const struct model_node *origin = (struct model_node *)node;
	int injected = model_begin(device, "exec_set");
	int err;

	if (cannot_be_set(params->kind))
		return model_end("exec_set", -ENOTSUP);
	if (params->kind == PATCH_CHILD) {
		const struct patch_child *child = params->image;

		err = model_exec_take(exec, origin, (struct dagpatch_model_graph *)child->graph,
				      UINT32_MAX);
	} else {
		err = is_lost(exec, origin, params) ? 0 : model_exec_write(exec, origin, params);
	}
	return injected < 0 ? injected : model_end("exec_set", err);
}

/* An injected failure is returned after half of the nodes were changed, as HIP does. */
int model_exec_update(struct patch_device *device, struct driver_exec *handle,
		      struct driver_graph *graph)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	int injected = model_begin(device, "exec_update");
	int err;

	if (model_missing() & DAGPATCH_MODEL_NO_UPDATE)
		return model_end("exec_update", -ENOTSUP);
	err = model_exec_take(exec, NULL, (struct dagpatch_model_graph *)graph,
			      injected < 0 ? exec->plan->count / 2 : UINT32_MAX);
	return injected < 0 ? injected : model_end("exec_update", err);
}

int model_exec_get(struct patch_device *device, struct driver_exec *handle,
		   struct driver_node *node, struct patch_image *image)
{
	const struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	const struct plan_node *planned =
		model_plan_find(exec->plan, (const struct model_node *)node);
	int err = model_begin(device, "exec_get");

	if (err < 0)
		return err;
	if (!planned)
		return model_end("exec_get", -EINVAL);
	return model_image_read(device, planned->kind, exec->values->bytes + planned->image,
				planned->size, image);
}

int model_launch(struct patch_device *device, struct driver_exec *exec, struct driver_table *table,
		 struct driver_stream *stream)
{
	struct dagpatch_model_exec *model_exec = (struct dagpatch_model_exec *)exec;
	struct plan_values *kept = NULL;
	int err = model_begin(device, "launch");

	if (err < 0)
		return err;
	if (model_missing() & DAGPATCH_MODEL_NO_KEPT_MEMSETS)
		err = model_exec_forget(model_exec, &kept);
	if (err < 0)
		return model_end("launch", err);
	if (table)
		model_table_launch(table, model_stream_of((struct dagpatch_model_stream *)stream));
	err = dagpatch_model_exec_launch(model_exec, (struct dagpatch_model_stream *)stream);
	if (kept)
		model_exec_remember(model_exec, kept);
	if (err < 0 && table)
		model_table_unlaunch(table);
	return model_end("launch", err);
}
