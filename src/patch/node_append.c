/* What every function that adds a node uses: appends nodes and relocations, and removes what a call
 * that fails has added. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cache.h"
#include "patch/captured_graph.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_append.h"
#include "patch/node_order.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/work.h"

int node_append(struct dagpatch_recording *recording, enum patch_kind kind, uint32_t size,
		uint32_t *ret_node)
{
	uint32_t words = (size + 7) / 8;
	uint64_t count = (uint64_t)recording->node_count + 1;
	int err = count == DAGPATCH_NONE ? -ENOMEM : 0;

	if (err == 0)
		err = recording_grow(&recording->nodes, &recording->node_capacity, count,
				     sizeof(*recording->nodes));
	if (err == 0)
		err = recording_grow(&recording->after_end, &recording->after_end_capacity, count,
				     sizeof(*recording->after_end));
	if (err == 0)
		err = recording_grow(&recording->images, &recording->image_capacity,
				     (uint64_t)recording->image_words + words,
				     sizeof(*recording->images));
	if (err < 0)
		return recording_fail(recording, err, "no memory for a node");
	recording->nodes[recording->node_count] = (struct node){
		.image = words ? recording->image_words : DAGPATCH_NONE,
		.parent = DAGPATCH_NONE,
		.kind = (uint8_t)kind,
	};
	if (words > 0)
		memset(recording->images + recording->image_words, 0, words * sizeof(uint64_t));
	recording->image_words += words;
	recording->after_end[recording->node_count] = recording->after_count;
	*ret_node = recording->node_count++;
	return 0;
}

int relocation_append(struct dagpatch_recording *recording, uint32_t node, uint32_t byte,
		      uint32_t slot, uint64_t offset)
{
	int err = recording_grow(&recording->loose, &recording->loose_capacity,
				 (uint64_t)recording->loose_count + 1, sizeof(*recording->loose));

	if (err < 0)
		return recording_fail(recording, err, "no memory for a relocation");
	recording->loose[recording->loose_count++] =
		(struct loose_relocation){node, byte, slot, offset};
	return 0;
}

/* ---- going back ---- */

struct mark recording_mark(const struct dagpatch_recording *recording)
{
	return (struct mark){
		.nodes = recording->node_count,
		.image_words = recording->image_words,
		.after = recording->after_count,
		.accesses = recording->access_count,
		.works = recording->work_count,
		.recaptures = recording->recapture_count,
		.conditionals = recording->conditional_count,
		.attributes = recording->attribute_count,
		.loose = recording->loose_count,
	};
}

static void recapture_release(struct recapture *recapture)
{
	captured_graph_release(recapture->current);
	captured_graph_release(recapture->next);
	cache_name_release(recapture->name);
	free(recapture->next_key);
	free(recapture->slots);
	free(recapture->offsets);
	free(recapture->handles);
}

void recording_rewind(struct dagpatch_recording *recording, const struct mark *mark)
{
	while (recording->work_count > mark->works)
		placed_work_release(&recording->works[--recording->work_count]);
	while (recording->recapture_count > mark->recaptures)
		recapture_release(&recording->recaptures[--recording->recapture_count]);
	recording->node_count = mark->nodes;
	recording->image_words = mark->image_words;
	recording->after_count = mark->after;
	recording->access_count = mark->accesses;
	recording->conditional_count = mark->conditionals;
	recording->attribute_count = mark->attributes;
	recording->loose_count = mark->loose;
}

/* ---- adding a node at the top ---- */

int add_check(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark)
{
	int err = recording_expect(recording, DAGPATCH_CREATED, what);

	if (err == 0 && recording->is_adopted)
		err = recording_fail(recording, -EINVAL,
				     "%s: an adopted graph is the whole content", what);
	*ret_mark = recording_mark(recording);
	return err;
}

int add_begin(struct dagpatch_recording *recording, const char *what, struct mark *ret_mark)
{
	int err = recording_check(recording);

	return err < 0 ? err : add_check(recording, what, ret_mark);
}

int add_end(struct dagpatch_recording *recording, int err, const struct mark *mark,
	    const struct dagpatch_after *after, uint32_t *ret_node)
{
	uint32_t node = mark->nodes;

	if (err == 0)
		err = order_node(recording, node, after, mark->accesses);
	if (err < 0) {
		recording_rewind(recording, mark);
		return err;
	}
	if (ret_node)
		*ret_node = node;
	return 0;
}
