/* Dependencies of nodes: those that the caller names, and those between nodes that touch the same
 * bytes of a slot when one of the two writes them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_order.h"
#include "patch/recording.h"

static int append(struct dagpatch_recording *recording, uint32_t node)
{
	int err = recording_grow(&recording->after, &recording->after_capacity,
				 (uint64_t)recording->after_count + 1, sizeof(*recording->after));

	if (err < 0)
		return recording_fail(recording, err, "no memory for a dependency");
	recording->after[recording->after_count++] = node;
	return 0;
}

/* Drivers refuse a dependency that is given twice. */
static int append_once(struct dagpatch_recording *recording, uint32_t begin, uint32_t node)
{
	for (uint32_t i = begin; i < recording->after_count; i++)
		if (recording->after[i] == node)
			return 0;
	return append(recording, node);
}

int access_append(struct dagpatch_recording *recording, const struct access *access)
{
	int err;

	if (!(recording->flags & DAGPATCH_DERIVE_DEPENDENCIES))
		return 0;
	err = recording_grow(&recording->accesses, &recording->access_capacity,
			     (uint64_t)recording->access_count + 1, sizeof(*recording->accesses));
	if (err < 0)
		return recording_fail(recording, err, "no memory for an access");
	recording->accesses[recording->access_count++] = *access;
	return 0;
}

static bool conflict(const struct access *a, const struct access *b)
{
	return a->slot == b->slot && (a->writes || b->writes) && a->begin < b->end &&
	       b->begin < a->end;
}

/* If LATER overwrites all bytes of EARLIER, later nodes need not wait for EARLIER's node: they
 * wait for LATER's node, which waits for it. */
static bool covers(const struct access *later, const struct access *earlier)
{
	return later->writes && later->slot == earlier->slot && later->begin <= earlier->begin &&
	       later->end >= earlier->end;
}

static int derive(struct dagpatch_recording *recording, uint32_t begin, uint32_t first_access)
{
	for (uint32_t i = 0; i < first_access; i++)
		for (uint32_t j = first_access; j < recording->access_count; j++) {
			int err;

			if (!conflict(&recording->accesses[i], &recording->accesses[j]))
				continue;
			err = append_once(recording, begin, recording->accesses[i].node);
			if (err < 0)
				return err;
		}
	return 0;
}

static void forget_covered(struct dagpatch_recording *recording, uint32_t first_access)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < recording->access_count; i++) {
		bool is_covered = false;

		for (uint32_t j = first_access; i < first_access && j < recording->access_count;
		     j++)
			is_covered |= covers(&recording->accesses[j], &recording->accesses[i]);
		if (!is_covered)
			recording->accesses[kept++] = recording->accesses[i];
	}
	recording->access_count = kept;
}

static int check_after(struct dagpatch_recording *recording, uint32_t node,
		       const struct dagpatch_after *after)
{
	if (!after->nodes && after->count > 0)
		return recording_fail(recording, -EINVAL, "the nodes to wait for are missing");
	for (uint32_t i = 0; i < after->count; i++)
		if (after->nodes[i] >= node ||
		    recording->nodes[after->nodes[i]].parent != DAGPATCH_NONE)
			return recording_fail_at(recording, -EINVAL, node, DAGPATCH_NONE,
						 "it cannot wait for node %u, which is no earlier "
						 "node of this graph",
						 after->nodes[i]);
	return 0;
}

/* The nodes inside of NODE were recorded, with their dependencies, before NODE's own dependencies
 * were known. Moves the latter from the end of the array to NODE's place in the order of nodes. */
static int move_back(struct dagpatch_recording *recording, uint32_t node, uint32_t from)
{
	uint32_t place = after_begin(recording, node);
	uint32_t count = recording->after_count - from;
	uint32_t *moved;

	for (uint32_t i = node; i < recording->node_count; i++)
		recording->after_end[i] += count;
	if (count == 0 || place == from)
		return 0;
	moved = malloc(count * sizeof(*moved));
	if (!moved)
		return recording_fail(recording, -ENOMEM, "no memory for a dependency");
	memcpy(moved, recording->after + from, count * sizeof(*moved));
	memmove(recording->after + place + count, recording->after + place,
		(from - place) * sizeof(*moved));
	memcpy(recording->after + place, moved, count * sizeof(*moved));
	free(moved);
	return 0;
}

int order_node(struct dagpatch_recording *recording, uint32_t node,
	       const struct dagpatch_after *after, uint32_t first_access)
{
	uint32_t begin = recording->after_count;
	int err = after ? check_after(recording, node, after) : 0;

	for (uint32_t i = 0; err == 0 && after && i < after->count; i++)
		err = append_once(recording, begin, after->nodes[i]);
	if (err == 0)
		err = derive(recording, begin, first_access);
	if (err == 0)
		err = move_back(recording, node, begin);
	if (err == 0)
		forget_covered(recording, first_access);
	return err;
}

int order_inner(struct dagpatch_recording *recording, const uint32_t *nodes, uint32_t count,
		uint32_t base)
{
	for (uint32_t i = 0; i < count; i++) {
		int err = append(recording, base + nodes[i]);

		if (err < 0)
			return err;
	}
	recording->after_end[recording->node_count - 1] = recording->after_count;
	return 0;
}
