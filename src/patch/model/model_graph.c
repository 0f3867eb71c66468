/* Graphs of the model device. model_plan.c has what is instantiated of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "patch/model/model_parts.h"

static void node_destroy(struct model_node *node)
{
	if (!node)
		return;
	for (uint32_t i = 0; i < node->inner_count; i++)
		dagpatch_model_graph_destroy(node->inner[i]);
	free(node->inner);
	free(node->after);
	free(node->image);
	free(node);
	model_live.nodes--;
}

int model_graph_create(struct dagpatch_model_graph **ret_graph)
{
	struct dagpatch_model_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return -ENOMEM;
	model_live.graphs++;
	*ret_graph = graph;
	return 0;
}

void dagpatch_model_graph_destroy(struct dagpatch_model_graph *graph)
{
	if (!graph)
		return;
	for (uint32_t i = 0; i < graph->count; i++)
		node_destroy(graph->nodes[i]);
	free(graph->nodes);
	free(graph);
	model_live.graphs--;
}

/* Moves the arguments from the layout's offsets to the kernel's own offsets. */
static int kernel_image(const struct patch_params *params, struct patch_image *image)
{
	const struct patch_kernel *from = params->image;
	const struct dagpatch_model_kernel *kernel = from->function;
	bool by_block = from->form == PATCH_BY_BLOCK;
	struct patch_kernel *to;
	int err;

	if (!by_block && params->layout->count != kernel->count)
		return -EINVAL;
	image->size = 0;
	err = patch_image_resize(image, (uint32_t)sizeof(*to) +
						(by_block ? from->argument_bytes : kernel->bytes));
	if (err < 0)
		return err;
	to = (struct patch_kernel *)image->bytes;
	*to = *from;
	to->argument_bytes = (uint16_t)(image->size - sizeof(*to));
	if (by_block)
		memcpy(to->arguments, from->arguments, from->argument_bytes);
	for (uint32_t i = 0; !by_block && i < kernel->count; i++) {
		if (params->layout->parameters[i].bytes != kernel->parameters[i].bytes)
			return -EINVAL;
		memcpy(to->arguments + kernel->parameters[i].offset,
		       from->arguments + params->layout->parameters[i].offset,
		       kernel->parameters[i].bytes);
	}
	return 0;
}

int model_image(const struct patch_params *params, struct patch_image *image)
{
	int err;

	image->kind = params->kind;
	if (params->kind == PATCH_KERNEL)
		return kernel_image(params, image);
	image->size = 0;
	err = patch_image_resize(image, params->size);
	if (err == 0 && params->size > 0)
		memcpy(image->bytes, params->image, params->size);
	return err;
}

int model_image_read(struct patch_device *device, enum patch_kind kind, const uint8_t *bytes,
		     uint32_t size, struct patch_image *image)
{
	int err;

	image->kind = kind;
	image->layout = NULL;
	image->size = 0;
	err = patch_image_resize(image, size);
	if (err < 0)
		return err;
	if (size > 0)
		memcpy(image->bytes, bytes, size);
	if (kind != PATCH_KERNEL)
		return 0;
	err = patch_layout_find(device, ((const struct patch_kernel *)image->bytes)->function,
				&image->layout);
	if (err < 0 && err != -ENOTSUP)
		return err;
	if (!image->layout &&
	    ((const struct patch_kernel *)image->bytes)->form == PATCH_BY_POINTERS)
		return patch_fault(-ENOTSUP, "node_get", MODEL_REFUSED,
				   "kernel's parameters unknown");
	return 0;
}

static int node_attach(struct dagpatch_model_graph *graph, struct model_node *node)
{
	int err = table_reserve((void **)&graph->nodes, &graph->room, (uint64_t)graph->count + 1,
				sizeof(*graph->nodes));

	if (err < 0)
		return err;
	node->graph = graph;
	node->index = graph->count;
	graph->nodes[graph->count++] = node;
	return 0;
}

static int node_create(enum patch_kind kind, struct model_node *const *after, uint32_t after_count,
		       struct model_node **ret_node)
{
	struct model_node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	model_live.nodes++;
	node->kind = kind;
	node->after_count = after_count;
	node->after = malloc((after_count + 1) * sizeof(struct model_node *));
	if (!node->after) {
		node_destroy(node);
		return -ENOMEM;
	}
	if (after_count > 0)
		memcpy(node->after, after, after_count * sizeof(struct model_node *));
	*ret_node = node;
	return 0;
}

static int node_make_inner(struct model_node *node, uint32_t count)
{
	node->inner = calloc(count, sizeof(struct dagpatch_model_graph *));
	if (!node->inner)
		return -ENOMEM;
	for (; node->inner_count < count; node->inner_count++)
		if (model_graph_create(&node->inner[node->inner_count]) < 0)
			return -ENOMEM;
	return 0;
}

static int node_fill(struct model_node *node, const struct patch_params *params)
{
	struct patch_image image = {0};
	int err;

	if (params->kind == PATCH_CHILD) {
		const struct patch_child *child = params->image;

		node->inner = calloc(1, sizeof(struct dagpatch_model_graph *));
		if (!node->inner)
			return -ENOMEM;
		err = model_graph_copy((struct dagpatch_model_graph *)child->graph,
				       &node->inner[0]);
		node->inner_count = err == 0;
		return err;
	}
	err = model_image(params, &image);
	if (err < 0) {
		patch_image_release(&image);
		return err;
	}
	node->image = image.bytes;
	node->size = image.size;
	return 0;
}

int model_node_add(struct dagpatch_model_graph *graph, const struct patch_params *params,
		   struct model_node *const *after, uint32_t after_count,
		   struct model_node **ret_node)
{
	struct model_node *node;
	int err = node_create(params->kind, after, after_count, &node);

	if (err < 0)
		return err;
	if (params->attributes)
		node->attributes = *params->attributes;
	err = node_fill(node, params);
	if (err == 0)
		err = node_attach(graph, node);
	if (err < 0) {
		node_destroy(node);
		return err;
	}
	*ret_node = node;
	return 0;
}

int model_conditional_add(struct dagpatch_model_graph *graph, enum dagpatch_condition condition,
			  uint32_t body_count, struct model_node *const *after,
			  uint32_t after_count, struct model_node **ret_node)
{
	struct model_node *node;
	int err = node_create(PATCH_CONDITIONAL, after, after_count, &node);

	if (err < 0)
		return err;
	node->condition = condition;
	err = node_make_inner(node, body_count);
	if (err == 0)
		err = node_attach(graph, node);
	if (err < 0) {
		node_destroy(node);
		return err;
	}
	*ret_node = node;
	return 0;
}

int model_node_set(struct model_node *node, const struct patch_params *params)
{
	struct patch_image image = {0};
	int err = model_image(params, &image);

	if (err == 0 && node->kind != params->kind)
		err = -EINVAL;
	if (err < 0) {
		patch_image_release(&image);
		return err;
	}
	free(node->image);
	node->image = image.bytes;
	node->size = image.size;
	return 0;
}

static int copy_node(struct dagpatch_model_graph *copy, const struct model_node *node)
{
	struct model_node *made;
	int err;

	if (node->kind == PATCH_CONDITIONAL)
		return -ENOTSUP;
	err = node_create(node->kind, node->after, node->after_count, &made);
	if (err < 0)
		return err;
	made->attributes = node->attributes;
	for (uint32_t i = 0; i < node->after_count; i++)
		made->after[i] = copy->nodes[node->after[i]->index];
	if (node->kind == PATCH_CHILD) {
		struct patch_child child = {(struct driver_graph *)node->inner[0]};

		err = node_fill(made, &(struct patch_params){.kind = PATCH_CHILD, .image = &child});
	} else if (node->size > 0) {
		made->image = malloc(node->size);
		err = made->image ? 0 : -ENOMEM;
		if (err == 0)
			memcpy(made->image, node->image, node->size);
		made->size = node->size;
	}
	if (err == 0)
		err = node_attach(copy, made);
	if (err < 0)
		node_destroy(made);
	return err;
}

int model_graph_copy(struct dagpatch_model_graph *graph, struct dagpatch_model_graph **ret_copy)
{
	struct dagpatch_model_graph *copy;
	int err;

	graph->reads++;
	if (graph->has_table)
		return -ENOTSUP;
	err = model_graph_create(&copy);
	for (uint32_t i = 0; err == 0 && i < graph->count; i++) {
		err = copy_node(copy, graph->nodes[i]);
		if (err < 0)
			dagpatch_model_graph_destroy(copy);
	}
	if (err == 0)
		*ret_copy = copy;
	return err;
}

bool model_graph_has_priority(struct dagpatch_model_graph *graph)
{
	graph->reads++;
	for (uint32_t i = 0; i < graph->count; i++) {
		const struct model_node *node = graph->nodes[i];

		if (node->attributes.priority)
			return true;
		for (uint32_t j = 0; j < node->inner_count; j++)
			if (model_graph_has_priority(node->inner[j]))
				return true;
	}
	return false;
}
