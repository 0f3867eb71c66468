/* Links operators of backward to those of forward, as PyTorch's profiler does: by the sequence
 * number that autograd gives to both. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "format/kineto/kineto_writer.h"

/* The engine's range around the operators of one node of backward. */
#define NODE_TEXT "autograd::engine::evaluate_function: "

#define DEPTH_MOST 1024 /* the parents in a damaged file may be a circle */

struct links {
	struct kineto *kineto;
	struct hash_map forward; /* operators of forward, one for each process and number */
	uint32_t *rows;		 /* of `forward`: the operator, the last one that began */
	uint32_t rows_count;
};

/* Gets the sequence number of a scope. Returns false if it has none. */
static bool get_sequence(struct kineto *kineto, uint32_t scope, int64_t *ret_number)
{
	const struct trace_scope *row = &kineto->trace->scopes[scope];

	for (uint32_t i = 0; i < row->attribute_count; i++) {
		const struct trace_scope_attribute *attribute =
			&kineto->trace->scope_attributes[row->attribute_first + i];

		if (attribute->kind == RECORD_ATTRIBUTE_INT64 &&
		    kineto_key_of(kineto, attribute->key) == KINETO_KEY_SEQUENCE) {
			*ret_number = attribute->value.int64;
			return true;
		}
	}
	return false;
}

static bool is_node(const struct trace *trace, uint32_t scope)
{
	const char *text = trace_text(trace, trace->scopes[scope].text);

	return strncmp(text, NODE_TEXT, strlen(NODE_TEXT)) == 0;
}

/* True if SCOPE is inside a node of backward. */
static bool is_backward(const struct trace *trace, uint32_t scope)
{
	uint32_t around = trace->scopes[scope].parent;

	for (int depth = 0; around != TRACE_NONE && depth < DEPTH_MOST; depth++) {
		if (is_node(trace, around))
			return true;
		around = trace->scopes[around].parent;
	}
	return false;
}

/* The place in `rows` of the operator of forward with NUMBER in the process of SCOPE; if there is
 * none, the place after the last one. */
static uint32_t find(struct links *links, uint32_t scope, int64_t number, struct hash_probe *probe)
{
	const struct trace_scope *scopes = links->kineto->trace->scopes;
	uint32_t process = scopes[scope].process;
	int64_t other = 0;

	*probe = hash_map_probe(&links->forward, hash_mix(process, (uint64_t)number));
	while (hash_map_next(&links->forward, probe)) {
		uint32_t row = links->rows[probe->row];

		if (scopes[row].process == process && get_sequence(links->kineto, row, &other) &&
		    other == number)
			return probe->row;
	}
	return links->rows_count;
}

/* Operators inside each other begin with the same number. The innermost one makes the node of
 * backward; it begins last. */
static int add_forward(struct links *links, uint32_t scope, int64_t number)
{
	const struct trace_scope *scopes = links->kineto->trace->scopes;
	struct hash_probe probe;
	uint32_t place;

	if (hash_map_reserve(&links->forward) < 0)
		return -ENOMEM;
	place = find(links, scope, number, &probe);
	if (place == links->rows_count) {
		hash_map_put(&links->forward, &probe, place);
		links->rows[links->rows_count++] = scope;
	} else if (scopes[scope].begin_ns >= scopes[links->rows[place]].begin_ns) {
		links->rows[place] = scope;
	}
	return 0;
}

/* Links an operator that a node of backward runs, unless another one has that of forward. */
static void link_backward(struct links *links, uint32_t scope, int64_t number)
{
	const struct trace *trace = links->kineto->trace;
	uint32_t *forward = links->kineto->forward;
	uint32_t parent = trace->scopes[scope].parent, place;
	struct hash_probe probe;

	if (parent == TRACE_NONE || !is_node(trace, parent))
		return;
	place = find(links, scope, number, &probe);
	if (place == links->rows_count || forward[links->rows[place]] != TRACE_NONE)
		return;
	forward[scope] = links->rows[place];
	forward[links->rows[place]] = links->rows[place];
}

static int link_all(struct links *links)
{
	const struct trace *trace = links->kineto->trace;
	int64_t number;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		links->kineto->forward[i] = TRACE_NONE;
		if (get_sequence(links->kineto, i, &number) && !is_backward(trace, i) &&
		    add_forward(links, i, number) < 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; links->rows_count && i < trace->scopes_count; i++) {
		if (get_sequence(links->kineto, i, &number) && is_backward(trace, i))
			link_backward(links, i, number);
	}
	return 0;
}

/* True if any scope has a sequence number. Scopes with the same text share attributes, so there are
 * fewer of these than scopes. */
static bool has_sequences(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;

	for (uint32_t i = 0; i < trace->scope_attributes_count; i++) {
		if (kineto_key_of(kineto, trace->scope_attributes[i].key) == KINETO_KEY_SEQUENCE)
			return true;
	}
	return false;
}

int kineto_find_forward(struct kineto *kineto)
{
	size_t bytes = (kineto->trace->scopes_count + (size_t)1) * sizeof(uint32_t);
	struct links links = {.kineto = kineto};
	int err = -ENOMEM;

	if (!has_sequences(kineto))
		return 0;
	links.rows = malloc(bytes);
	kineto->forward = malloc(bytes);
	if (kineto->forward && links.rows)
		err = link_all(&links);
	free(links.rows);
	hash_map_release(&links.forward);
	return err;
}

char *kineto_put_forward_arrow(const struct kineto *kineto, char *at, uint32_t scope,
			       const char *place, size_t place_bytes)
{
	uint32_t forward = kineto->forward ? kineto->forward[scope] : TRACE_NONE;

	if (forward == TRACE_NONE)
		return at;
	if (forward == scope)
		at = KINETO_PUT(at, "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":");
	else
		at = KINETO_PUT(at, "{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"fwdbwd\",\"name\":"
				    "\"fwdbwd\",\"id\":");
	at = kineto_put_u64(at, kineto_external_id(forward));
	at = pieces_copy_bytes(at, place, place_bytes);
	return KINETO_PUT(at, "},\n");
}
