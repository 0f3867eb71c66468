/* Launch attributes of kernels: those that recordings give, and the priorities of captured
 * kernels. */
#include <errno.h>
#include <string.h>

#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_attributes.h"
#include "patch/recording.h"

/* Returns the index of the first entry of NODE or of a later node. */
static uint32_t find(const struct dagpatch_recording *recording, uint32_t node)
{
	uint32_t low = 0, high = recording->attribute_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (recording->attributes[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct dagpatch_attributes *attributes_entry(const struct dagpatch_recording *recording,
					     uint32_t node)
{
	uint32_t at = find(recording, node);

	return at < recording->attribute_count && recording->attributes[at].node == node
		       ? &recording->attributes[at].values
		       : NULL;
}

const struct dagpatch_attributes *attributes_of(const struct dagpatch_recording *recording,
						uint32_t node)
{
	const struct dagpatch_attributes *entry =
		recording->attribute_count > 0 ? attributes_entry(recording, node) : NULL;

	return entry && entry->given ? entry : NULL;
}

int attributes_reserve(struct dagpatch_recording *recording, uint32_t node)
{
	uint32_t at = find(recording, node);
	int err;

	if (attributes_entry(recording, node))
		return 0;
	err = recording_grow(&recording->attributes, &recording->attribute_capacity,
			     (uint64_t)recording->attribute_count + 1,
			     sizeof(*recording->attributes));
	if (err < 0)
		return recording_fail(recording, err, "no memory for launch attributes");
	memmove(recording->attributes + at + 1, recording->attributes + at,
		(recording->attribute_count - at) * sizeof(*recording->attributes));
	recording->attributes[at] = (struct node_attributes){.node = node};
	recording->attribute_count++;
	return 0;
}

static int check(struct dagpatch_recording *recording, const struct dagpatch_attributes *attributes)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {{DAGPATCH_PRIORITY, "priority"},
		     {DAGPATCH_COOPERATIVE, "cooperative"},
		     {DAGPATCH_CLUSTER, "cluster"},
		     {DAGPATCH_PROGRAMMATIC, "programmatic"}};
	uint32_t known = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		known |= names[i].bit;
		if (attributes->given & names[i].bit & ~recording->device->attributes)
			return recording_fail(recording, -ENOTSUP,
					      "this driver has no launch attribute \"%s\"",
					      names[i].name);
	}
	if (attributes->given & ~known)
		return recording_fail(recording, -EINVAL, "unknown launch attributes");
	if ((attributes->given & DAGPATCH_PROGRAMMATIC) &&
	    attributes->programmatic > DAGPATCH_ON_START)
		return recording_fail(recording, -EINVAL, "no such programmatic dependency");
	return 0;
}

int attributes_add(struct dagpatch_recording *recording, uint32_t node,
		   const struct dagpatch_attributes *given)
{
	struct dagpatch_attributes attributes;
	int err = recording_read(recording, &attributes, sizeof(attributes), given, "attributes");

	if (err == 0)
		err = check(recording, &attributes);
	if (err == 0)
		err = attributes_reserve(recording, node);
	if (err < 0)
		return err;
	*attributes_entry(recording, node) = attributes;
	recording->has_priorities |= (attributes.given & DAGPATCH_PRIORITY) && attributes.priority;
	return 0;
}

int attributes_copy(struct dagpatch_recording *recording, const struct dagpatch_recording *nested,
		    uint32_t base)
{
	recording->has_priorities |= nested->has_priorities;
	for (uint32_t i = 0; i < nested->attribute_count; i++) {
		uint32_t node = nested->attributes[i].node + base;
		int err = attributes_reserve(recording, node);

		if (err < 0)
			return err;
		*attributes_entry(recording, node) = nested->attributes[i].values;
	}
	return 0;
}

void attributes_merge(struct dagpatch_attributes *to, const struct dagpatch_attributes *from)
{
	to->size = sizeof(*to);
	to->given |= from->given;
	if (from->given & DAGPATCH_PRIORITY)
		to->priority = from->priority;
	if (from->given & DAGPATCH_COOPERATIVE)
		to->cooperative = from->cooperative;
	if (from->given & DAGPATCH_CLUSTER)
		memcpy(to->cluster, from->cluster, sizeof(to->cluster));
	if (from->given & DAGPATCH_PROGRAMMATIC)
		to->programmatic = from->programmatic;
}

int attributes_give(struct dagpatch_recording *recording, const struct dagpatch_recording *content,
		    uint32_t node, struct driver_node *handle)
{
	const struct dagpatch_attributes *attributes = attributes_of(content, node);
	int err = attributes ? recording->device->driver->attributes_set(recording->device, handle,
									 attributes)
			     : 0;

	return err < 0 ? recording_fail_at(recording, err, node, DAGPATCH_NONE,
					   "setting its launch attributes")
		       : 0;
}

/* ---- attributes of captured kernels ---- */

int attributes_find(struct dagpatch_recording *recording, struct driver_graph *graph, bool *ret_has)
{
	struct patch_device *device = recording->device;
	int has_priority;

	if (ret_has)
		*ret_has = false;
	if (!(device->attributes & DAGPATCH_PRIORITY))
		return 0;
	has_priority = device->driver->graph_has_priority(device, graph);
	if (has_priority < 0)
		return recording_fail(recording, has_priority, "reading kernels' priorities");
	recording->has_priorities |= has_priority;
	if (ret_has)
		*ret_has = has_priority;
	return 0;
}
