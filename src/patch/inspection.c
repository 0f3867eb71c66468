/* Inspection of a recording: statistics, relocations, handles. */
#include <errno.h>
#include <string.h>

#include "patch/captured_graph.h"
#include "patch/node.h"
#include "patch/node_attributes.h"
#include "patch/node_order.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/revise.h"
#include "patch/slot_add.h"
#include "patch/work.h"

static uint64_t relocation_total(const struct dagpatch_recording *recording)
{
	return recording->first_relocation ? recording->first_relocation[recording->slot_count]
					   : recording->loose_count;
}

static void fill_sizes(const struct dagpatch_recording *recording, struct dagpatch_stats *stats)
{
	uint64_t nodes = recording->node_count;

	stats->node_count = nodes;
	stats->relocation_count = relocation_total(recording);
	stats->node_bytes = nodes * (sizeof(struct node) + sizeof(*recording->after_end) +
				     (recording->dirty ? sizeof(*recording->dirty) : 0)) +
			    recording->after_count * sizeof(*recording->after) +
			    recording->access_count * sizeof(*recording->accesses) +
			    recording->conditional_count * sizeof(*recording->conditionals) +
			    recording->attribute_count * sizeof(*recording->attributes);
	stats->relocation_bytes = stats->relocation_count *
				  (recording->first_relocation ? sizeof(struct relocation)
							       : sizeof(struct loose_relocation));
	stats->parameter_bytes = (uint64_t)recording->image_words * sizeof(*recording->images);
}

/* All heap memory of the recording, by capacity rather than use. */
static uint64_t own_bytes(const struct dagpatch_recording *recording)
{
	uint64_t slots = recording->relocations ? (uint64_t)recording->slot_count + 1 : 0;
	uint64_t bytes = sizeof(*recording);

	bytes += recording->slot_capacity * sizeof(*recording->slots) +
		 recording->node_capacity * sizeof(*recording->nodes) +
		 recording->image_capacity * sizeof(*recording->images) +
		 recording->after_end_capacity * sizeof(*recording->after_end) +
		 recording->after_capacity * sizeof(*recording->after) +
		 recording->access_capacity * sizeof(*recording->accesses) +
		 recording->work_capacity * sizeof(*recording->works) +
		 recording->recapture_capacity * sizeof(*recording->recaptures) +
		 recording->conditional_capacity * sizeof(*recording->conditionals) +
		 recording->attribute_capacity * sizeof(*recording->attributes) +
		 recording->loose_capacity * sizeof(*recording->loose);
	bytes += slots * (sizeof(*recording->first_relocation) + sizeof(*recording->host_end) +
			  sizeof(*recording->wanted) + sizeof(*recording->applied) +
			  sizeof(*recording->changed) + sizeof(*recording->is_changed) +
			  sizeof(*recording->table_slots) + sizeof(*recording->table_addresses));
	if (recording->relocations)
		bytes += relocation_total(recording) * sizeof(*recording->relocations) +
			 recording->node_count * sizeof(*recording->dirty);
	for (uint32_t i = 0; i < recording->slot_count; i++)
		if (recording->slots[i].name)
			bytes += strlen(recording->slots[i].name) + 1;
	if (recording->revisions.scratch)
		bytes += own_bytes(recording->revisions.scratch);
	return bytes + revisions_bytes(recording);
}

/* Memory that the driver holds for the recording. */
static void fill_driver_bytes(const struct dagpatch_recording *recording,
			      struct dagpatch_stats *stats)
{
	const struct patch_driver *driver = recording->device->driver;
	const struct built *built = &recording->built;

	for (uint32_t i = 0; i < recording->slot_count; i++) {
		const struct slot *slot = &recording->slots[i];

		if (slot->shadow && slot->on_host)
			stats->pinned_bytes += slot->bytes;
		else if (slot->shadow)
			stats->device_bytes += slot->bytes;
	}
	if (built->table) {
		uint64_t device_bytes, pinned_bytes;

		driver->table_bytes(built->table, &device_bytes, &pinned_bytes);
		stats->device_bytes += device_bytes;
		stats->pinned_bytes += pinned_bytes;
	}
	if (built->exec && driver->exec_bytes)
		stats->exec_bytes = driver->exec_bytes(recording->device, built->exec);
}

int dagpatch_recording_stats(const struct dagpatch_recording *recording,
			     struct dagpatch_stats *ret_stats)
{
	struct dagpatch_stats stats;
	size_t size;
	bool looked;

	if (!recording || !ret_stats || ret_stats->size < sizeof(stats.size))
		return -EINVAL;
	size = ret_stats->size < sizeof(stats) ? ret_stats->size : sizeof(stats);
	looked = recording_look(recording);
	stats = recording->stats;
	fill_sizes(recording, &stats);
	stats.host_bytes = own_bytes(recording);
	fill_driver_bytes(recording, &stats);
	stats.evictions = recording->evictions;
	recording_look_away(recording, looked);
	stats.size = size;
	memcpy(ret_stats, &stats, size);
	return 0;
}

int dagpatch_recording_relocation(const struct dagpatch_recording *recording, uint32_t index,
				  struct dagpatch_relocation *ret_relocation)
{
	const struct relocation *relocation;
	uint32_t slot = 0;

	if (!recording || !ret_relocation)
		return -EINVAL;
	if (!recording->first_relocation || index >= relocation_total(recording))
		return -ERANGE;
	while (recording->first_relocation[slot + 1] <= index)
		slot++;
	relocation = &recording->relocations[index];
	*ret_relocation = (struct dagpatch_relocation){
		.node = relocation->node,
		.byte = public_byte(recording, relocation->node, relocation->byte),
		.slot = slot,
		.offset = relocation->offset,
	};
	return 0;
}

/* A graph whose handles the caller knows must not be evicted. */
static void *hand_out(const struct dagpatch_recording *recording, uint32_t node)
{
	bool looked = recording_look(recording);
	void *handle = NULL;

	if (node == DAGPATCH_NONE)
		handle = current_exec(recording);
	else if (node < recording->node_count && current_exec(recording))
		handle = recording->nodes[node].handle;
	if (handle)
		recording_stays(recording);
	recording_look_away(recording, looked);
	return handle;
}

void *dagpatch_recording_exec(const struct dagpatch_recording *recording)
{
	return recording ? hand_out(recording, DAGPATCH_NONE) : NULL;
}

void *dagpatch_node_handle(const struct dagpatch_recording *recording, uint32_t node)
{
	return recording && node != DAGPATCH_NONE ? hand_out(recording, node) : NULL;
}
