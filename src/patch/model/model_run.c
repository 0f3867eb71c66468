/* Runs nodes and replays of the model device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "patch/model/model_parts.h"

/* Values of conditionals' handles while a replay runs. The kernel that sets a handle finds its
 * replay by the thread that it runs on. */
struct condition_value {
	uint64_t handle;
	uint32_t value;
};
struct run {
	const struct model_replay *replay;
	model_event_fn run_event;
	struct condition_value *conditions;
	uint32_t condition_count;
	size_t condition_room;
};
static _Thread_local struct run *current_run;

static struct condition_value *condition_find(struct run *run, uint64_t handle)
{
	for (uint32_t i = 0; i < run->condition_count; i++)
		if (run->conditions[i].handle == handle)
			return &run->conditions[i];
	return NULL;
}

static void condition_set(struct run *run, uint64_t handle, uint32_t value)
{
	struct condition_value *found = condition_find(run, handle);

	if (found) {
		found->value = value;
		return;
	}
	if (table_reserve((void **)&run->conditions, &run->condition_room,
			  (uint64_t)run->condition_count + 1, sizeof(*run->conditions)) < 0)
		return;
	run->conditions[run->condition_count++] = (struct condition_value){handle, value};
}

static void set_condition(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct patch_condition_arguments *arguments = block;
	const void *predicate = (const void *)(uintptr_t)arguments->predicate;
	int64_t value =
		arguments->is_byte ? *(const uint8_t *)predicate != 0 : *(const int32_t *)predicate;

	if (arguments->condition != DAGPATCH_CASE)
		value = value != 0;
	else if (arguments->is_byte)
		value = !value;
	if (arguments->condition == DAGPATCH_CASE && (value < 0 || value >= arguments->count))
		value = arguments->count - 1;
	condition_set(current_run, arguments->handle, (uint32_t)value);
}

uint64_t model_condition_handle(void)
{
	static _Atomic uint64_t last;

	return ++last;
}

struct dagpatch_model_kernel *model_condition_kernel(void)
{
	static struct {
		struct dagpatch_model_kernel kernel;
		struct dagpatch_parameter parameter;
	} made = {
		{set_condition, 1, sizeof(struct patch_condition_arguments), "set_condition"},
		{0, sizeof(struct patch_condition_arguments), DAGPATCH_PARAMETER_VALUE},
	};
	_Static_assert(offsetof(__typeof__(made), parameter) ==
			       offsetof(struct dagpatch_model_kernel, parameters),
		       "one parameter");

	return &made.kernel;
}

int dagpatch_model_kernel_create(dagpatch_model_fn function,
				 const struct dagpatch_parameter *parameters, uint32_t count,
				 struct dagpatch_model_kernel **ret_kernel)
{
	struct dagpatch_model_kernel *kernel;

	if (!function || !ret_kernel || (!parameters && count > 0))
		return -EINVAL;
	kernel = malloc(sizeof(*kernel) + count * sizeof(*kernel->parameters));
	if (!kernel)
		return -ENOMEM;
	kernel->function = function;
	kernel->count = count;
	kernel->bytes = 0;
	kernel->name = NULL;
	for (uint32_t i = 0; i < count; i++) {
		kernel->parameters[i] = parameters[i];
		kernel->bytes = parameters[i].offset + parameters[i].bytes;
	}
	model_live.kernels++;
	*ret_kernel = kernel;
	return 0;
}

void dagpatch_model_kernel_name(struct dagpatch_model_kernel *kernel, const char *name)
{
	if (kernel)
		kernel->name = name;
}

void dagpatch_model_kernel_destroy(struct dagpatch_model_kernel *kernel)
{
	if (!kernel)
		return;
	free(kernel);
	model_live.kernels--;
}

static void run_kernel(const struct patch_kernel *node, const struct driver_table *table,
		       uint32_t index)
{
	const struct dagpatch_model_kernel *kernel = node->function;
	uint8_t *arguments = aligned_alloc(16, ((size_t)node->argument_bytes + 31) & ~15ul);

	if (!arguments)
		return;
	memcpy(arguments, node->arguments, node->argument_bytes);
	if (table)
		model_table_overlay(table, index, arguments);
	kernel->function(arguments, node->grid, node->block);
	free(arguments);
}

static uint8_t *end_address(uint64_t address, const struct patch_end *end)
{
	return (uint8_t *)(uintptr_t)address + (end->z * end->rows + end->y) * end->pitch +
	       end->x_bytes;
}

static void run_copy(const struct patch_copy *copy)
{
	uint8_t *dst = end_address(copy->dst_address, &copy->dst);
	uint8_t *src = end_address(copy->src_address, &copy->src);

	for (uint64_t z = 0; z < copy->depth; z++)
		for (uint64_t y = 0; y < copy->height; y++)
			memmove(dst + (z * copy->dst.rows + y) * copy->dst.pitch,
				src + (z * copy->src.rows + y) * copy->src.pitch,
				copy->width_bytes);
}

static void run_memset(const struct patch_memset *node)
{
	for (uint64_t y = 0; y < node->height; y++) {
		uint8_t *row = (uint8_t *)(uintptr_t)node->address + y * node->pitch;

		for (uint64_t x = 0; x < node->width; x++)
			memcpy(row + x * node->element_bytes, &node->value, node->element_bytes);
	}
}

static void run_host(const struct patch_host *host)
{
	host->function(host->user);
}

/* TABLE: may be NULL; it sets arguments of the kernel that is node INDEX of the plan. */
static void run_node(enum patch_kind kind, const void *image, const struct driver_table *table,
		     uint32_t index, model_event_fn run_event)
{
	switch (kind) {
	case PATCH_KERNEL:
		run_kernel(image, table, index);
		break;
	case PATCH_COPY:
		run_copy(image);
		break;
	case PATCH_MEMSET:
		run_memset(image);
		break;
	case PATCH_HOST:
		run_host(image);
		break;
	case PATCH_EVENT_RECORD:
	case PATCH_EVENT_WAIT:
		run_event(((const struct patch_event *)image)->event, kind == PATCH_EVENT_RECORD);
		break;
	default:
		break;
	}
}

void model_run_image(enum patch_kind kind, const void *image, model_event_fn run_event)
{
	run_node(kind, image, NULL, 0, run_event);
}

static void run_level(struct run *run, uint32_t level);

static void run_conditional(struct run *run, const struct plan_node *node)
{
	struct condition_value *value = condition_find(run, node->handle);
	uint32_t chosen = value ? value->value : 0;

	if (node->condition == DAGPATCH_CASE) {
		run_level(run, node->first_level + chosen);
		return;
	}
	while (chosen) {
		run_level(run, node->first_level);
		value = condition_find(run, node->handle);
		chosen = node->condition == DAGPATCH_WHILE && value ? value->value : 0;
	}
}

static void run_level(struct run *run, uint32_t level)
{
	const struct plan *plan = run->replay->plan;

	for (uint32_t i = 0; i < plan->levels[level].count; i++) {
		uint32_t index = plan->levels[level].order[i];
		const struct plan_node *node = &plan->nodes[index];

		if (node->kind == PATCH_CHILD)
			run_level(run, node->first_level);
		else if (node->kind == PATCH_CONDITIONAL)
			run_conditional(run, node);
		else
			run_node(node->kind, run->replay->values->bytes + node->image,
				 run->replay->table, index, run->run_event);
	}
}

void model_run_replay(const struct model_replay *replay, model_event_fn run_event)
{
	struct run run = {.replay = replay, .run_event = run_event};

	if (replay->table)
		model_table_advance(replay->table);
	current_run = &run;
	run_level(&run, 0);
	current_run = NULL;
	if (replay->table)
		model_table_finish(replay->table);
	free(run.conditions);
}
