/* Graphs that somebody else captured. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/recording.h"

static int check_further(struct dagpatch_recording *recording,
			 const struct dagpatch_adoption *adoption)
{
	if (adoption->again_count > CAPTURES_MOST - 2)
		return recording_fail(recording, -EINVAL, "%u further captures, more than %u",
				      adoption->again_count, CAPTURES_MOST - 2);
	if (adoption->again_count > 0 && !adoption->other_graph)
		return recording_fail(recording, -EINVAL, "further captures without a second one");
	for (uint32_t i = 0; i < adoption->again_count; i++)
		if (!adoption->again || !adoption->again[i])
			return recording_fail(recording, -EINVAL, "further capture %u is missing",
					      i);
	return 0;
}

static int check_adoption(struct dagpatch_recording *recording,
			  const struct dagpatch_adoption *adoption)
{
	if (recording->node_count > 0 || (recording->flags & DAGPATCH_NESTED))
		return recording_fail(
			recording, -EINVAL,
			"an adopted graph is the whole content of a recording of its own");
	if (!adoption->graph || !adoption->addresses[0])
		return recording_fail(recording, -EINVAL, "no graph or no addresses to adopt");
	if (!adoption->other_graph == !adoption->declared)
		return recording_fail(
			recording, -EINVAL,
			"an adopted graph needs a second capture or declared relocations");
	if (adoption->other_graph && !adoption->addresses[1])
		return recording_fail(recording, -EINVAL,
				      "the second capture's addresses are missing");
	for (uint32_t i = 0; i < recording->slot_count; i++)
		if (recording->slots[i].flags)
			return recording_fail(recording, -EINVAL,
					      "an adopted graph has no shadows");
	return check_further(recording, adoption);
}

static int append_declared(struct dagpatch_recording *recording,
			   const struct dagpatch_declared *declared, void *const *addresses)
{
	uint32_t node = declared->node, byte = declared->byte;
	uint64_t there, expected;
	int rc =
		slot_check(recording, declared->slot, declared->offset, 0, "a declared relocation");

	if (rc < 0)
		return rc;
	if (node >= recording->node_count)
		return recording_fail(recording, -EINVAL, "declared for node %u of %u", node,
				      recording->node_count);
	if (recording->nodes[node].kind == PATCH_KERNEL)
		byte += (uint32_t)sizeof(struct patch_kernel);
	if (recording->nodes[node].image == DAGPATCH_NONE || byte < declared->byte ||
	    image_size(recording, node) < 8 || byte > image_size(recording, node) - 8)
		return recording_fail_at(recording, -EINVAL, node, declared->byte,
					 "node %u has no byte %u", node, declared->byte);
	memcpy(&there, (uint8_t *)node_image(recording, node) + byte, sizeof(there));
	expected = (uintptr_t)addresses[declared->slot] + declared->offset;
	if (there != expected)
		return recording_fail_at(recording, -EILSEQ, node, declared->byte,
					 "node %u, byte %u: 0x%llx is there, 0x%llx was declared",
					 node, declared->byte, (unsigned long long)there,
					 (unsigned long long)expected);
	return relocation_append(recording, node, byte, declared->slot, declared->offset);
}

static int append_source(struct dagpatch_recording *recording,
			 const struct dagpatch_adoption *adoption)
{
	uint32_t *slots = malloc((recording->slot_count + 1) * sizeof(*slots));
	struct captures captures = {
		.graphs = {recording->source, adoption->other_graph},
		.count = adoption->other_graph ? 2 + adoption->again_count : 1,
		.slots = slots,
		.slot_count = recording->slot_count,
		.addresses = {adoption->addresses[0], adoption->addresses[1]},
		.inside_flag = NODE_INSIDE,
		.keeps_handles = recording->foreign_exec != NULL,
	};
	int rc;

	if (!slots)
		return recording_fail(recording, -ENOMEM, "no memory for a graph");
	for (uint32_t i = 0; i < recording->slot_count; i++)
		slots[i] = i;
	for (uint32_t i = 2; i < captures.count; i++)
		captures.graphs[i] = adoption->again[i - 2];
	rc = adoption->other_graph
		     ? addresses_check(recording, slots, recording->slot_count, captures.addresses)
		     : 0;
	if (rc == 0)
		rc = capture_append(recording, &captures,
				    &(struct capture_place){DAGPATCH_NONE, 0});
	free(slots);
	for (uint32_t i = 0; rc == 0 && i < adoption->declared_count; i++)
		rc = append_declared(recording, &adoption->declared[i], adoption->addresses[0]);
	return rc;
}

static int keep_addresses(struct dagpatch_recording *recording, void *const *addresses)
{
	recording->adopted = malloc((recording->slot_count + 1) * sizeof(*recording->adopted));
	if (!recording->adopted)
		return recording_fail(recording, -ENOMEM, "no memory for addresses");
	for (uint32_t i = 0; i < recording->slot_count; i++)
		recording->adopted[i] = (uintptr_t)addresses[i];
	return 0;
}

static int adopt(struct dagpatch_recording *recording, const struct dagpatch_adoption *given)
{
	struct dagpatch_adoption adoption;
	struct mark mark;
	int rc = add_begin(recording, "dagpatch_adopt", &mark);

	if (rc == 0)
		rc = recording_read(recording, &adoption, sizeof(adoption), given, "adoption");
	if (rc == 0)
		rc = check_adoption(recording, &adoption);
	if (rc < 0)
		return rc;
	if (adoption.exec) {
		recording->source = adoption.graph;
		recording->foreign_exec = adoption.exec;
	} else {
		rc = recording->device->driver->graph_clone(recording->device, adoption.graph,
							    &recording->source);
		if (rc < 0)
			return recording_fail(recording, rc, "copying the adopted graph");
	}
	rc = append_source(recording, &adoption);
	if (rc == 0)
		rc = keep_addresses(recording, adoption.addresses[0]);
	if (rc < 0) {
		recording_rewind(recording, &mark);
		if (!recording->foreign_exec)
			recording->device->driver->graph_destroy(recording->device,
								 recording->source);
		recording->source = NULL;
		recording->foreign_exec = NULL;
		return rc;
	}
	return 0;
}

int dagpatch_adopt(struct dagpatch_recording *recording, const struct dagpatch_adoption *adoption)
{
	struct device_visit visit;
	int rc = recording_enter(recording, &visit);

	if (rc < 0)
		return rc;
	rc = adopt(recording, adoption);
	device_leave(&visit);
	return rc;
}
