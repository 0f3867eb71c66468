/* dagpatch_verify: checks that the graph has the bound addresses. It compares with a fresh capture
 * and, where the driver lets executable graphs be read, with the executable graph; never with
 * dagpatch's own bookkeeping. What cannot be read is reported as such. */
#include <errno.h>
#include <stdlib.h>

#include "patch/apply.h"
#include "patch/capture.h"
#include "patch/captured_graph.h"
#include "patch/errors.h"
#include "patch/images.h"
#include "patch/node.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/work.h"

/* ---- comparison with an image ---- */

static int compare_params(struct dagpatch_recording *recording, uint32_t node,
			  const struct patch_params *params, const struct patch_image *image,
			  const char *where)
{
	const uint8_t *expected = params->image;
	uint32_t byte = 0;

	if (image->kind != params->kind || image->size != params->size)
		return recording_fail_at(recording, -EILSEQ, node, DAGPATCH_NONE,
					 "it is another one in %s", where);
	while (byte < image->size && image->bytes[byte] == expected[byte])
		byte++;
	if (byte == image->size)
		return 0;
	byte = public_byte(recording, node, byte);
	return recording_fail_at(recording, -EILSEQ, node, byte, "differs in %s", where);
}

static int compare_image(struct dagpatch_recording *recording, uint32_t node,
			 const struct patch_image *image, const char *where)
{
	struct patch_params params = node_params(recording, node);

	return compare_params(recording, node, &params, image, where);
}

/* ---- fresh captures ---- */

static int compare_level(struct dagpatch_recording *recording, struct driver_graph *graph,
			 uint32_t *at);

static int compare_node(struct dagpatch_recording *recording, struct driver_graph *graph,
			struct driver_node *handle, struct patch_image *image, uint32_t *at)
{
	uint32_t node = (*at)++;
	int err;

	if (node >= recording->node_count)
		return recording_fail(recording, -EILSEQ, "a fresh capture has more nodes");
	err = recording->device->driver->node_get(recording->device, graph, handle, image);
	if (err < 0)
		return recording_fail_at(recording, err, node, DAGPATCH_NONE, "reading it");
	if (image->kind == PATCH_CHILD && recording->nodes[node].kind == PATCH_CHILD)
		return compare_level(recording, ((const struct patch_child *)image->bytes)->graph,
				     at);
	/* Captures do not have values that were set later. The addresses are checked through the
	 * relocations. */
	if (recording->nodes[node].flags & NODE_EDITED)
		return 0;
	return compare_image(recording, node, image, "a fresh capture");
}

static int compare_level(struct dagpatch_recording *recording, struct driver_graph *graph,
			 uint32_t *at)
{
	struct patch_image image = {0};
	struct node_list list;
	int err = capture_nodes(recording, graph, &list);

	if (err < 0)
		return err;
	for (uint32_t i = 0; err == 0 && i < list.count; i++)
		err = compare_node(recording, graph, list.nodes[i], &image, at);
	patch_image_release(&image);
	free(list.nodes);
	return err;
}

static int compare_work(struct dagpatch_recording *recording, uint32_t node,
			const uint64_t *at_addresses)
{
	const struct placed_work *placed = &recording->works[recording->nodes[node].detail];
	void **addresses = malloc((placed->work->slot_count + 1) * sizeof(void *));
	struct driver_graph *graph = NULL;
	uint32_t at = node + 1;
	int err = 0;

	if (!addresses)
		return recording_fail(recording, -ENOMEM, "no memory to verify");
	for (uint32_t i = 0; i < placed->work->slot_count; i++)
		addresses[i] = (void *)(uintptr_t)(slot_address(recording, at_addresses,
								placed->slots[i]) +
						   placed->offsets[i]);
	err = capture_graph(recording, placed->work->record, placed->work->user, addresses, &graph);
	free(addresses);
	if (err < 0)
		return err;
	err = compare_level(recording, graph, &at);
	recording->device->driver->graph_destroy(recording->device, graph);
	if (err == 0 && at != node_end(recording, node))
		err = recording_fail_at(recording, -EILSEQ, node, DAGPATCH_NONE,
					"a fresh capture has fewer nodes");
	return err;
}

/* ---- the executable graph ---- */

/* 1: the node was read and is right; 0: it cannot be read. */
static int compare_handle(struct dagpatch_recording *recording, uint32_t node,
			  struct driver_node *handle, const struct patch_params *params,
			  struct patch_image *image)
{
	const struct patch_driver *driver = recording->device->driver;
	int err = driver->exec_get ? driver->exec_get(recording->device, current_exec(recording),
						      handle, image)
				   : -ENOTSUP;

	if (err == -ENOTSUP) {
		patch_fault_take(); /* the kernel's parameters are unknown: not a failure */
		return 0;
	}
	if (err < 0)
		return recording_fail_at(recording, err, node, DAGPATCH_NONE, "reading it");
	err = compare_params(recording, node, params, image, "the executable graph");
	return err < 0 ? err : 1;
}

/* Compares the nodes of recaptured work, where these were built into the top graph. */
static int compare_again(struct dagpatch_recording *recording, const struct recapture *recapture,
			 struct patch_image *image)
{
	const struct dagpatch_recording *content =
		(recapture->next ? recapture->next : recapture->current)->content;
	int is_read = content && recapture->handles;

	for (uint32_t i = 0; is_read > 0 && i < content->node_count; i++) {
		struct patch_params params = node_params(content, i);

		if (params.image)
			is_read = compare_handle(recording, recapture->node, recapture->handles[i],
						 &params, image);
	}
	return is_read;
}

static int compare_one(struct dagpatch_recording *recording, uint32_t node,
		       struct patch_image *image)
{
	const struct node *record = &recording->nodes[node];
	struct patch_params params;

	if (record->flags & NODE_RECAPTURED)
		return compare_again(recording, &recording->recaptures[record->detail], image);
	if (record->flags & NODE_IN_TABLE)
		return 0;
	if (record->image == DAGPATCH_NONE)
		return 1;
	params = node_params(recording, node);
	return compare_handle(recording, node, record->handle, &params, image);
}

/* Counts the nodes with addresses or changed values that cannot be read. */
static int compare_exec(struct dagpatch_recording *recording)
{
	struct patch_image image = {0};
	uint64_t unread = 0;
	int err = 0;

	for (uint32_t i = 0; err >= 0 && i < recording->node_count; i++) {
		err = compare_one(recording, i, &image);
		unread += err == 0 && (recording->nodes[i].flags & (NODE_MOVES | NODE_RECAPTURED));
	}
	patch_image_release(&image);
	if (err < 0)
		return err;
	recording->stats.unread_nodes = unread;
	return unread > 0 ? DAGPATCH_CANNOT_TELL : 0;
}

static bool can_capture(const struct dagpatch_recording *recording, uint32_t node)
{
	const struct work *work;

	if (!(recording->nodes[node].flags & NODE_CAPTURED))
		return false;
	work = recording->works[recording->nodes[node].detail].work;
	return work->record && !work->is_unstable;
}

int verify_graph(struct dagpatch_recording *recording, const uint64_t *addresses)
{
	int err = 0;

	/* Images of nodes in the table are written only when they are needed. */
	images_write(recording, addresses);
	for (uint32_t i = 0; err == 0 && i < recording->node_count; i++)
		if (can_capture(recording, i))
			err = compare_work(recording, i, addresses);
	return err < 0 ? err : compare_exec(recording);
}

static int verify(struct dagpatch_recording *recording)
{
	int err = recording_expect(recording, DAGPATCH_READY, "dagpatch_verify");

	if (err == 0 && ((recording->flags & DAGPATCH_NESTED) || !current_exec(recording)))
		err = recording_fail(recording, -EINVAL, "there is no graph yet to verify");
	return err < 0 ? err : verify_graph(recording, recording->applied);
}

int dagpatch_verify(struct dagpatch_recording *recording)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = verify(recording);
	recording_leave(recording);
	return err;
}
