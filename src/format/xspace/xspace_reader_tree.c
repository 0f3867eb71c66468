/* Reads the plane of the scope tree: the id of each stat is a scope's id, its value is the
 * parent's. */
#include <errno.h>
#include <stdlib.h>

#include "format/xspace/xspace_reader_load.h"

static int read_pair(struct xread_load *load, struct proto_reader stat, uint64_t *ret_child,
		     uint64_t *ret_parent)
{
	struct proto_field field;
	int got;

	while ((got = xread_next(load, &stat, &field, "a scope's parent")) > 0) {
		if (field.wire != PROTO_VARINT)
			continue;
		if (field.number == XSTAT_METADATA_ID)
			*ret_child = field.value;
		else if (field.number == XSTAT_INT64 || field.number == XSTAT_UINT64)
			*ret_parent = field.value;
	}
	return got;
}

static int add_pair(struct xread_load *load, uint32_t process, uint64_t child_id,
		    uint64_t parent_id)
{
	int64_t child = xread_scope(load, process, child_id);
	int64_t parent = parent_id ? xread_scope(load, process, parent_id) : TRACE_NONE;

	if (child < 0 || parent < 0)
		return -ENOMEM;
	if (load->import.trace->scopes[child].parent == TRACE_NONE)
		load->import.trace->scopes[child].parent = (uint32_t)parent;
	return 0;
}

/* Removes a parent from each cycle, because a scope cannot be inside of itself. Each scope is
 * visited once: `walks` holds the walk that visited it first. */
static int cut_cycles(struct xread_load *load)
{
	struct trace_scope *rows = load->import.trace->scopes;
	uint32_t *walks = calloc((size_t)load->import.trace->scopes_count + 1, sizeof(*walks));

	if (!walks)
		return -ENOMEM;
	for (uint32_t i = 0; i < load->import.trace->scopes_count; i++) {
		uint32_t walk = i + 1, at = i, from = TRACE_NONE;

		while (at != TRACE_NONE && walks[at] == 0) {
			walks[at] = walk;
			from = at;
			at = rows[at].parent;
		}
		if (at != TRACE_NONE && from != TRACE_NONE && walks[at] == walk) {
			rows[from].parent = TRACE_NONE;
			load->left_out[XREAD_LEFT_OUT_CYCLE]++;
		}
	}
	free(walks);
	return 0;
}

int xread_tree(struct xread_load *load, struct xread_plane *plane)
{
	struct proto_reader fields = plane->body;
	struct proto_field field;
	int got, result = 0;

	while (result == 0 && (got = xread_next(load, &fields, &field, "a plane")) != 0) {
		uint64_t child = 0, parent = 0;

		if (got < 0)
			return got;
		if (field.number != XPLANE_STATS || field.wire != PROTO_BYTES)
			continue;
		result = read_pair(load, proto_reader_into(&field), &child, &parent);
		if (result == 0 && child)
			result = add_pair(load, plane->process, child, parent);
	}
	return result == 0 ? cut_cycles(load) : result;
}
