/* The model device's table of addresses, the host's side (model_table_run.c: the device's side). As
 * the one for CUDA, it has a log of changes and, for each replay, the position that the log had
 * reached when the replay was launched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/model/model_parts.h"

static uint64_t bytes_on_device(const struct driver_table *table)
{
	return table->relocation_count * sizeof(*table->relocations);
}

void model_table_destroy(struct patch_device *device, struct driver_table *table)
{
	if (!table)
		return;
	model_is_here(device);
	if (table->taken)
		model_memory_give(bytes_on_device(table));
	free(table->given);
	free(table->relocations);
	free(table->addresses);
	free(table->log);
	free(table->ends);
	free(table->streams);
	free(table);
	model_live.tables--;
}

int model_table_create(struct patch_device *device, struct driver_graph *graph,
		       const struct patch_table_plan *plan, struct driver_table **ret_table)
{
	struct driver_table *table;
	int err = model_begin(device, "table_create");

	if (err < 0)
		return err;
	table = calloc(1, sizeof(*table));
	if (!table)
		return model_end("table_create", -ENOMEM);
	model_live.tables++;
	table->versions = device->table_versions;
	table->log_count = table->versions + plan->slot_count;
	table->relocation_count = plan->relocation_count;
	table->given = malloc(plan->relocation_count * sizeof(*table->given) + 1);
	table->relocations = malloc(plan->relocation_count * sizeof(*table->relocations) + 1);
	table->addresses = calloc(plan->slot_count + 1, sizeof(*table->addresses));
	table->log = calloc(table->log_count, sizeof(*table->log));
	table->ends = calloc(table->versions, sizeof(*table->ends));
	table->streams = calloc(table->versions, sizeof(struct dagpatch_model_stream *));
	if (!table->given || !table->relocations || !table->addresses || !table->log ||
	    !table->ends || !table->streams || model_memory_take(bytes_on_device(table)) < 0) {
		model_table_destroy(device, table);
		return model_end("table_create", -ENOMEM);
	}
	table->taken = true;
	memcpy(table->given, plan->relocations, plan->relocation_count * sizeof(*table->given));
	((struct dagpatch_model_graph *)graph)->has_table = true;
	*ret_table = table;
	return 0;
}

static int compare_nodes(const void *left, const void *right)
{
	const struct table_relocation *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

int model_table_attach(struct patch_device *device, struct driver_table *table,
		       struct driver_exec *handle)
{
	struct dagpatch_model_exec *exec = (struct dagpatch_model_exec *)handle;
	int err = model_begin(device, "table_attach");

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < table->relocation_count; i++) {
		const struct patch_table_relocation *given = &table->given[i];
		const struct plan_node *node =
			model_plan_find(exec->plan, (const struct model_node *)given->node);

		if (!node || node->kind != PATCH_KERNEL)
			return model_end("table_attach", -EINVAL);
		table->relocations[i] =
			(struct table_relocation){(uint32_t)(node - exec->plan->nodes), given->slot,
						  given->byte, given->addend};
	}
	qsort(table->relocations, table->relocation_count, sizeof(*table->relocations),
	      compare_nodes);
	table->exec = exec;
	exec->table = table;
	return 0;
}

static void await_entries(struct driver_table *table, uint64_t count)
{
	while (table->written + count - table->applied > table->log_count)
		model_stream_await(table->streams[table->started % table->versions],
				   &table->started, table->started + 1);
}

int model_table_bind(struct patch_device *device, struct driver_table *table, const uint32_t *slots,
		     const uint64_t *addresses, uint32_t count)
{
	int err = model_begin(device, "table_bind");

	if (err < 0)
		return err;
	await_entries(table, count);
	for (uint32_t i = 0; i < count; i++)
		table->log[table->written++ % table->log_count] =
			(struct table_entry){slots[i], addresses[i]};
	return 0;
}

void model_table_launch(struct driver_table *table, struct dagpatch_model_stream *stream)
{
	if (table->launched - table->started >= table->versions)
		model_stream_await(table->streams[table->started % table->versions],
				   &table->started, table->launched - table->versions + 1);
	table->ends[table->launched % table->versions] = table->written;
	table->streams[table->launched % table->versions] = stream;
	table->launched++;
}

void model_table_unlaunch(struct driver_table *table)
{
	table->launched--;
}

bool model_table_is_idle(struct patch_device *device, struct driver_table *table)
{
	return table->finished == table->launched;
}

void model_table_bytes(const struct driver_table *table, uint64_t *ret_device_bytes,
		       uint64_t *ret_pinned_bytes)
{
	*ret_device_bytes = bytes_on_device(table);
	*ret_pinned_bytes =
		table->log_count * sizeof(*table->log) + table->versions * sizeof(*table->ends);
}
