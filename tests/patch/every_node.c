/* A recording with nodes of every kind: every_node.h. */
#include "every_node.h"

#include <errno.h>

enum { NODES = 24, MEMSET_NODE = 1, KERNEL_NODE = 2, COPY_NODE = 3, CHILD_NODE = 2 + NODES };

static int record_pair(void *user, void *stream, void *const *addresses)
{
	uint32_t count = WORDS, value = 1;

	if (suite_bed->launch(stream, BED_ADD, 1, WORDS,
			      (void *[]){(void *)&addresses[0], (void *)&addresses[0],
					 (void *)&addresses[1], &count}) ||
	    suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value}))
		return -EIO;
	return 0;
}

int add_part(struct dagpatch_recording *recording, const uint32_t slots[2], uint32_t kind,
	     const struct dagpatch_after *after, uint32_t *ret_node)
{
	uint32_t count = WORDS;
	struct dagpatch_pointer pointers[2] = {{.slot = slots[0]}, {.slot = slots[1]}};
	struct dagpatch_argument arguments[] = {
		dagpatch_address(&pointers[0]),
		dagpatch_address(&pointers[0]),
		dagpatch_address(&pointers[1]),
		dagpatch_value(&count, sizeof(count)),
	};

	switch (kind) {
	case 0:
		return dagpatch_add_kernel(
			recording,
			&DAGPATCH_SIZED(kernel, .function = suite_bed->function(BED_ADD),
					.grid = {1, 1, 1}, .block = {WORDS, 1, 1},
					.argument_count = 4, .arguments = arguments),
			after, ret_node);
	case 1:
		return dagpatch_add_copy(
			recording,
			&DAGPATCH_SIZED(copy, .dst = {.slot = slots[0], .offset = 128},
					.src = {.slot = slots[1]}, .width_bytes = 64),
			after, ret_node);
	default:
		return dagpatch_add_memset(recording,
					   &DAGPATCH_SIZED(memset, .slot = slots[0], .value = 3,
							   .element_bytes = 4, .width = 8),
					   after, ret_node);
	}
}

/* A library's graph at two sets of addresses. It is made once, while no call fails. */
static struct {
	void *at[2][2];
	void *graphs[2];
} library;

int every_node_open(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		void *stream = suite_bed->stream_create();

		for (uint32_t j = 0; j < 2; j++)
			library.at[i][j] = buffer(0);
		suite_bed->capture_begin(stream);
		assert_int_equal(record_pair(NULL, stream, library.at[i]), 0);
		library.graphs[i] = suite_bed->capture_end(stream);
		suite_bed->stream_destroy(stream);
	}
	return 0;
}

int every_node_close(void **state)
{
	for (uint32_t i = 0; i < 4; i++)
		buffer_free(library.at[i / 2][i % 2]);
	for (uint32_t i = 0; i < 2; i++)
		suite_bed->graph_destroy(library.graphs[i]);
	return 0;
}

static int add_library(struct dagpatch_recording *recording, const uint32_t slots[2],
		       const struct dagpatch_after *after, uint32_t *ret_node)
{
	return dagpatch_add_graph(recording,
				  &DAGPATCH_SIZED(graph, .graph = library.graphs[0], .slots = slots,
						  .slot_count = 2,
						  .addresses = {library.at[0], library.at[1]},
						  .other_graph = library.graphs[1]),
				  after, ret_node);
}

/* The caller destroys *RET_NESTED, also after a failure. */
static int record_nested(struct dagpatch_context *context, struct dagpatch_recording **ret_nested)
{
	const struct dagpatch_slot one = {.size = sizeof(one), .bytes = WORDS * 4};
	struct dagpatch_recording *nested = NULL;
	uint32_t inner[2], node;
	int rc = dagpatch_recording_create(context, DAGPATCH_NESTED, &nested);

	*ret_nested = nested;
	for (uint32_t i = 0; rc == 0 && i < 2; i++)
		rc = dagpatch_slot_add(nested, &one, &inner[i]);
	if (rc == 0)
		rc = add_part(nested, inner, 0, NULL, &node);
	if (rc == 0)
		rc = add_part(nested, inner, 2, AFTER(node), &node);
	if (rc == 0)
		rc = add_library(nested, inner, AFTER(node), NULL);
	return rc < 0 ? rc : dagpatch_finalize(nested);
}

int every_node_record(struct dagpatch_context *context, struct dagpatch_recording *recording)
{
	struct dagpatch_recording *nested = NULL;
	const struct dagpatch_slot one = {.size = sizeof(one), .bytes = WORDS * 4};
	const struct dagpatch_slot shadow = {
		.size = sizeof(shadow), .bytes = WORDS * 4, .flags = DAGPATCH_SHADOW_IN};
	uint32_t slots[3], node;
	struct dagpatch_capture capture = {
		.size = sizeof(capture), .record = record_pair, .slots = slots, .slot_count = 2};
	int rc = record_nested(context, &nested);

	for (uint32_t i = 0; rc == 0 && i < 3; i++)
		rc = dagpatch_slot_add(recording, i < 2 ? &one : &shadow, &slots[i]);
	if (rc == 0)
		rc = dagpatch_add_empty(recording, NULL, &node);
	/* This node is MEMSET_NODE. Later nodes add to its result, so the result shows at the
	 * end. */
	if (rc == 0)
		rc = dagpatch_add_memset(recording,
					 &DAGPATCH_SIZED(memset, .slot = slots[0], .offset = 192,
							 .value = 3, .element_bytes = 4,
							 .width = 16),
					 AFTER(node), &node);
	for (uint32_t i = 0; rc == 0 && i < NODES; i++)
		rc = add_part(recording, (uint32_t[]){slots[0], slots[i % 5 ? 1 : 2]}, i % 3,
			      AFTER(node), &node);
	if (rc == 0)
		rc = dagpatch_add_child(
			recording,
			&DAGPATCH_SIZED(child, nested,
					(struct dagpatch_mapping[]){{slots[0], 0}, {slots[1], 0}},
					2),
			AFTER(node), &node);
	if (rc == 0)
		rc = dagpatch_add_captured(recording, &capture, AFTER(node), &node);
	capture.flags = DAGPATCH_LEAVE_UNSTABLE;
	if (rc == 0)
		rc = dagpatch_add_captured(recording, &capture, AFTER(node), &node);
	capture.flags = DAGPATCH_RECAPTURE;
	if (rc == 0)
		rc = dagpatch_add_captured(recording, &capture, AFTER(node), &node);
	dagpatch_recording_destroy(nested);
	return rc < 0 ? rc : dagpatch_finalize(recording);
}

/* ---- other parameters ---- */

/* The child that every_node_record adds, or the same child with its slots exchanged. */
static int set_child(struct dagpatch_context *context, struct dagpatch_recording *recording,
		     bool is_other)
{
	struct dagpatch_recording *nested = NULL;
	uint32_t mapped = is_other;
	int rc = record_nested(context, &nested);

	if (rc == 0)
		rc = dagpatch_set_child(
			recording, CHILD_NODE,
			&DAGPATCH_SIZED(child, nested,
					(struct dagpatch_mapping[]){{mapped, 0}, {!mapped, 0}}, 2));
	dagpatch_recording_destroy(nested);
	return rc;
}

static int set_kernel(struct dagpatch_recording *recording, bool is_other)
{
	uint32_t count = WORDS;
	struct dagpatch_pointer pointers[3] = {
		{.slot = 0}, {.slot = 0}, {.slot = is_other ? 1 : 2}};
	struct dagpatch_argument arguments[4] = {
		dagpatch_address(&pointers[0]), dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]), dagpatch_value(&count, sizeof(count))};
	enum bed_kernel kernel = is_other ? BED_MUL : BED_ADD;

	return dagpatch_set_kernel(recording, KERNEL_NODE,
				   &DAGPATCH_SIZED(kernel, .function = suite_bed->function(kernel),
						   .grid = {1, 1, 1}, .block = {WORDS, 1, 1},
						   .argument_count = 4, .arguments = arguments));
}

int every_node_set(struct dagpatch_context *context, struct dagpatch_recording *recording,
		   enum sets sets, bool is_other)
{
	int rc = dagpatch_set_memset_value(recording, MEMSET_NODE, is_other ? 9 : 3);

	if (rc < 0 || sets == VALUE)
		return rc;
	rc = set_kernel(recording, is_other);
	if (rc == 0)
		rc = dagpatch_set_copy(
			recording, COPY_NODE,
			&DAGPATCH_SIZED(copy, .dst = {.slot = 0, .offset = 128},
					.src = {.slot = 1, .offset = is_other ? 32 : 0},
					.width_bytes = 64));
	return rc < 0 ? rc : set_child(context, recording, is_other);
}
