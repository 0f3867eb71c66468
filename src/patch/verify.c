/* Has the graph what is bound? Three witnesses: the relocations, a fresh capture, and the executable
 * graph itself where the driver lets it be read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/recording.h"

static int check_relocations(struct dagpatch_recording *recording)
{
	for (uint32_t slot = 0; slot < recording->slot_count; slot++) {
		uint64_t base = slot_address(recording, recording->applied, slot);

		for (uint32_t i = recording->first_relocation[slot]; i < recording->host_end[slot];
		     i++) {
			const struct relocation *relocation = &recording->relocations[i];
			uint64_t expected = base + relocation->offset, there;

			if (relocation->byte == RELOCATION_AGAIN)
				continue;
			memcpy(&there,
			       (uint8_t *)node_image(recording, relocation->node) +
				       relocation->byte,
			       sizeof(there));
			if (there != expected)
				return recording_fail_at(
					recording, -EILSEQ, relocation->node,
					public_byte(recording, relocation->node, relocation->byte),
					"node %u has 0x%llx, bound is 0x%llx", relocation->node,
					(unsigned long long)there, (unsigned long long)expected);
		}
	}
	return 0;
}

/* ---- against an image that is read ---- */

static int compare_image(struct dagpatch_recording *recording, uint32_t node,
			 const struct patch_image *image, const char *where)
{
	struct patch_params params = node_params(recording, node);
	const uint8_t *expected = params.image;
	uint32_t byte = 0;

	if (image->kind != params.kind || image->size != params.size)
		return recording_fail_at(recording, -EILSEQ, node, DAGPATCH_NONE,
					 "node %u is another one in %s", node, where);
	while (byte < image->size && image->bytes[byte] == expected[byte])
		byte++;
	if (byte == image->size)
		return 0;
	byte = public_byte(recording, node, byte);
	return recording_fail_at(recording, -EILSEQ, node, byte, "node %u, byte %u: differs in %s",
				 node, byte, where);
}

/* ---- fresh captures ---- */

static int compare_level(struct dagpatch_recording *recording, struct driver_graph *graph,
			 uint32_t *at);

static int compare_node(struct dagpatch_recording *recording, struct driver_graph *graph,
			struct driver_node *handle, struct patch_image *image, uint32_t *at)
{
	uint32_t node = (*at)++;
	int rc;

	if (node >= recording->node_count)
		return recording_fail(recording, -EILSEQ, "a fresh capture has more nodes");
	rc = recording->device->driver->node_get(recording->device, graph, handle, image);
	if (rc < 0)
		return recording_fail_at(recording, rc, node, DAGPATCH_NONE, "reading node %u",
					 node);
	if (image->kind == PATCH_CHILD && recording->nodes[node].kind == PATCH_CHILD)
		return compare_level(recording, ((const struct patch_child *)image->bytes)->graph,
				     at);
	/* What was given afterwards is in no capture; the addresses are in the relocations. */
	if (recording->nodes[node].flags & NODE_EDITED)
		return 0;
	return compare_image(recording, node, image, "a fresh capture");
}

static int compare_level(struct dagpatch_recording *recording, struct driver_graph *graph,
			 uint32_t *at)
{
	struct patch_image image = {0};
	struct node_list list;
	int rc = capture_nodes(recording, graph, &list);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < list.count; i++)
		rc = compare_node(recording, graph, list.nodes[i], &image, at);
	patch_image_release(&image);
	free(list.nodes);
	return rc;
}

static int compare_work(struct dagpatch_recording *recording, uint32_t node)
{
	const struct placed_work *placed = &recording->works[recording->nodes[node].detail];
	void **addresses = malloc((placed->work->slot_count + 1) * sizeof(void *));
	struct driver_graph *graph = NULL;
	uint32_t at = node + 1;
	int rc = 0;

	if (!addresses)
		return recording_fail(recording, -ENOMEM, "no memory to verify");
	for (uint32_t i = 0; i < placed->work->slot_count; i++)
		addresses[i] = (void *)(uintptr_t)(slot_address(recording, recording->applied,
								placed->slots[i]) +
						   placed->offsets[i]);
	rc = capture_graph(recording, placed->work->record, placed->work->user, addresses, &graph);
	free(addresses);
	if (rc < 0)
		return rc;
	rc = compare_level(recording, graph, &at);
	recording->device->driver->graph_destroy(recording->device, graph);
	if (rc == 0 && at != node_end(recording, node))
		rc = recording_fail_at(recording, -EILSEQ, node, DAGPATCH_NONE,
				       "a fresh capture of node %u has fewer nodes", node);
	return rc;
}

/* ---- the executable graph ---- */

static int compare_exec(struct dagpatch_recording *recording)
{
	const struct patch_driver *driver = recording->device->driver;
	struct patch_image image = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && driver->exec_get && i < recording->node_count; i++) {
		const struct node *node = &recording->nodes[i];

		if (node->image == DAGPATCH_NONE || (node->flags & NODE_IN_TABLE))
			continue;
		rc = driver->exec_get(recording->device, current_exec(recording), node->handle,
				      &image);
		if (rc == -ENOTSUP) /* a kernel whose parameters nobody knows */
			rc = 0;
		else if (rc < 0)
			recording_fail_at(recording, rc, i, DAGPATCH_NONE, "reading node %u", i);
		else
			rc = compare_image(recording, i, &image, "the executable graph");
	}
	patch_image_release(&image);
	return rc;
}

int dagpatch_verify(struct dagpatch_recording *recording)
{
	int rc = recording_expect(recording, DAGPATCH_READY, "dagpatch_verify");

	if (rc == 0 && ((recording->flags & DAGPATCH_NESTED) || !current_exec(recording)))
		rc = recording_fail(recording, -EINVAL, "there is no graph yet to verify");
	if (rc == 0)
		rc = check_relocations(recording);
	if (rc < 0)
		return rc;
	/* Those in the table are written when they are looked at. */
	images_write(recording, recording->applied);
	for (uint32_t i = 0; rc == 0 && i < recording->node_count; i++)
		if ((recording->nodes[i].flags & NODE_CAPTURED) &&
		    !recording->works[recording->nodes[i].detail].work->is_unstable)
			rc = compare_work(recording, i);
	return rc < 0 ? rc : compare_exec(recording);
}
