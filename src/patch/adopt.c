/* Graphs that dagpatch did not make: as nodes, or as the whole content of a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/capture.h"
#include "patch/describe.h"
#include "patch/errors.h"
#include "patch/node.h"
#include "patch/node_append.h"
#include "patch/node_attributes.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/slot_add.h"
#include "patch/work.h"

/* ---- the given graph ---- */

static int check_further(struct dagpatch_recording *recording, const struct dagpatch_graph *given)
{
	if (given->further_graph_count > CAPTURES_MOST - 2)
		return recording_fail(recording, -EINVAL, "%u further captures, more than %u",
				      given->further_graph_count, CAPTURES_MOST - 2);
	if (given->further_graph_count > 0 && !given->other_graph)
		return recording_fail(recording, -EINVAL, "further captures without a second one");
	for (uint32_t i = 0; i < given->further_graph_count; i++)
		if (!given->further_graphs || !given->further_graphs[i])
			return recording_fail(recording, -EINVAL, "further capture %u is missing",
					      i);
	return 0;
}

static int check_given(struct dagpatch_recording *recording, const struct dagpatch_graph *given)
{
	if (!given->graph)
		return recording_fail(recording, -EINVAL, "no graph");
	if (given->slot_count > 0 && (!given->slots || !given->addresses[0]))
		return recording_fail(recording, -EINVAL,
				      "no slots or no addresses of a graph that is given");
	if (!given->declared && given->declared_count > 0)
		return recording_fail(recording, -EINVAL, "the declared relocations are missing");
	if (given->other_graph && given->declared)
		return recording_fail(recording, -EINVAL,
				      "a graph with both a second capture and declared "
				      "relocations");
	if (given->slot_count > 0 && !given->other_graph && !given->declared)
		return recording_fail(recording, -EINVAL,
				      "a graph that is given needs a second capture or declared "
				      "relocations");
	if (given->slot_count > 0 && given->other_graph && !given->addresses[1])
		return recording_fail(recording, -EINVAL,
				      "the second capture's addresses are missing");
	return check_further(recording, given);
}

/* A given graph and where its nodes go. */
struct giving {
	const struct dagpatch_graph *given;
	struct driver_graph *graph; /* the given graph or its copy */
	uint32_t first;		    /* number of its first node in the recording */
	bool keeps_handles;
};

/* Returns the address that the graph was given for SLOT; 0: it is not among the graph's slots. */
static uint64_t given_address(const struct dagpatch_graph *given, uint32_t slot)
{
	for (uint32_t i = 0; i < given->slot_count; i++)
		if (given->slots[i] == slot)
			return (uintptr_t)given->addresses[0][i];
	return 0;
}

static int append_declared(struct dagpatch_recording *recording, const struct giving *giving,
			   const struct dagpatch_declared *declared)
{
	uint32_t node = giving->first + declared->node, byte = declared->byte;
	char text[96];
	uint64_t there, expected = given_address(giving->given, declared->slot);
	int err =
		slot_check(recording, declared->slot, declared->offset, 0, "a declared relocation");

	if (err < 0)
		return err;
	if (expected == 0)
		return recording_fail(recording, -EINVAL,
				      "declared for slot %u, which is none of the graph's",
				      declared->slot);
	expected += declared->offset;
	if (declared->node >= recording->node_count - giving->first)
		return recording_fail(recording, -EINVAL, "declared for node %u of %u",
				      declared->node, recording->node_count - giving->first);
	if (recording->nodes[node].kind == PATCH_KERNEL)
		byte += (uint32_t)sizeof(struct patch_kernel);
	if (recording->nodes[node].image == DAGPATCH_NONE || byte < declared->byte ||
	    image_size(recording, node) < 8 || byte > image_size(recording, node) - 8)
		return recording_fail_at(recording, -EINVAL, node, declared->byte,
					 "it has no byte %u", declared->byte);
	memcpy(&there, (uint8_t *)node_image(recording, node) + byte, sizeof(there));
	if (there != expected)
		return recording_fail_at(recording, -EILSEQ, node, declared->byte,
					 "0x%llx is there, 0x%llx was declared, %s + %llu",
					 (unsigned long long)there, (unsigned long long)expected,
					 slot_text(recording, declared->slot, text),
					 (unsigned long long)declared->offset);
	return relocation_append(recording, node, byte, declared->slot, declared->offset);
}

static int append_given(struct dagpatch_recording *recording, const struct giving *giving,
			const struct capture_place *place)
{
	const struct dagpatch_graph *given = giving->given;
	struct captures captures = {
		.graphs = {giving->graph, given->other_graph},
		.count = given->other_graph ? 2 + given->further_graph_count : 1,
		.slots = given->slots,
		.slot_count = given->slot_count,
		.addresses = {given->addresses[0], given->addresses[1]},
		.inside_flag = NODE_INSIDE,
		.keeps_handles = giving->keeps_handles,
	};
	int err;

	for (uint32_t i = 2; i < captures.count; i++)
		captures.graphs[i] = given->further_graphs[i - 2];
	err = given->other_graph ? addresses_check(recording, given->slots, given->slot_count,
						   captures.addresses)
				 : 0;
	if (err == 0)
		err = capture_append(recording, &captures, place);
	for (uint32_t i = 0; err == 0 && i < given->declared_count; i++)
		err = append_declared(recording, giving, &given->declared[i]);
	return err;
}

static int copy_given(struct dagpatch_recording *recording, void *graph,
		      struct driver_graph **ret_clone)
{
	int err = recording->device->driver->graph_clone(recording->device, graph, ret_clone);

	return err < 0 ? recording_fail(recording, err, "copying a graph that is given") : 0;
}

/* ---- as a node ---- */

static int append_graph(struct dagpatch_recording *recording, const struct dagpatch_graph *given)
{
	struct work work = {.slot_count = given->slot_count};
	struct giving giving = {.given = given};
	uint32_t node;
	int err = node_append(recording, PATCH_CHILD, 0, &node);

	if (err == 0)
		err = slots_append_accesses(recording, node, given->slots, given->slot_count);
	if (err == 0)
		err = copy_given(recording, given->graph, &work.graph);
	if (err == 0)
		err = work_place(recording, node, &work, given->slots);
	if (err == 0)
		err = attributes_find(recording, work.graph, NULL);
	if (err < 0)
		return err;
	giving.graph = work.graph;
	giving.first = node + 1;
	return append_given(recording, &giving, &(struct capture_place){node, 1});
}

static int add_graph(struct dagpatch_recording *recording, const struct dagpatch_graph *given,
		     const struct dagpatch_after *after, uint32_t *ret_node)
{
	struct dagpatch_graph graph;
	struct mark mark;
	int err = add_check(recording, "dagpatch_add_graph", &mark);

	if (err == 0)
		err = recording_read(recording, &graph, sizeof(graph), given, "graph");
	if (err == 0)
		err = check_given(recording, &graph);
	if (err == 0)
		err = slots_check(recording, graph.slots, graph.slot_count, "a graph");
	if (err < 0)
		return err;
	return add_end(recording, append_graph(recording, &graph), &mark, after, ret_node);
}

int dagpatch_add_graph(struct dagpatch_recording *recording, const struct dagpatch_graph *graph,
		       const struct dagpatch_after *after, uint32_t *ret_node)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = add_graph(recording, graph, after, ret_node);
	recording_leave(recording);
	return err;
}

/* ---- as the whole content ---- */

static int check_adoption(struct dagpatch_recording *recording,
			  const struct dagpatch_adoption *adoption)
{
	if (recording->node_count > 0)
		return recording_fail(
			recording, -EINVAL,
			"an adopted graph is the whole content of a recording of its own");
	if ((recording->flags & DAGPATCH_NESTED) && adoption->exec)
		return recording_fail(recording, -EINVAL,
				      "a nested recording has no executable graph");
	if (!adoption->graph || !adoption->addresses[0])
		return recording_fail(recording, -EINVAL, "no graph or no addresses to adopt");
	if (!adoption->other_graph == !adoption->declared)
		return recording_fail(
			recording, -EINVAL,
			"an adopted graph needs a second capture or declared relocations");
	for (uint32_t i = 0; i < recording->slot_count; i++)
		if (recording->slots[i].flags)
			return recording_fail(recording, -EINVAL,
					      "an adopted graph has no shadows");
	return 0;
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

static void drop_source(struct dagpatch_recording *recording)
{
	if (recording->source && !recording->foreign_exec)
		recording->device->driver->graph_destroy(recording->device, recording->source);
	recording->source = NULL;
	recording->foreign_exec = NULL;
}

static int adopt_source(struct dagpatch_recording *recording, const struct dagpatch_graph *given,
			void *exec)
{
	struct giving giving = {.given = given, .keeps_handles = exec != NULL};
	int err = 0;

	if (exec) {
		recording->source = given->graph;
		recording->foreign_exec = exec;
	} else {
		err = copy_given(recording, given->graph, &recording->source);
	}
	giving.graph = recording->source;
	if (err == 0)
		err = attributes_find(recording, recording->source, NULL);
	if (err == 0)
		err = append_given(recording, &giving, &(struct capture_place){DAGPATCH_NONE, 0});
	if (err == 0)
		err = keep_addresses(recording, given->addresses[0]);
	if (err < 0)
		drop_source(recording);
	return err;
}

static int adopt_given(struct dagpatch_recording *recording, const struct dagpatch_graph *given,
		       void *exec, const struct mark *mark)
{
	int err = check_given(recording, given);

	if (err < 0)
		return err;
	if (recording->flags & DAGPATCH_NESTED)
		return add_end(recording, append_graph(recording, given), mark, NULL, NULL);
	err = adopt_source(recording, given, exec);
	if (err < 0)
		recording_rewind(recording, mark);
	return err;
}

static int adopt(struct dagpatch_recording *recording, const struct dagpatch_adoption *given)
{
	struct dagpatch_adoption adoption;
	struct mark mark;
	uint32_t *slots;
	int err = add_check(recording, "dagpatch_adopt", &mark);

	if (err == 0)
		err = recording_read(recording, &adoption, sizeof(adoption), given, "adoption");
	if (err == 0)
		err = check_adoption(recording, &adoption);
	if (err < 0)
		return err;
	slots = malloc(((size_t)recording->slot_count + 1) * sizeof(*slots));
	if (!slots)
		return recording_fail(recording, -ENOMEM, "no memory for a graph");
	for (uint32_t i = 0; i < recording->slot_count; i++)
		slots[i] = i;
	err = adopt_given(
		recording,
		&DAGPATCH_SIZED(graph, .graph = adoption.graph, .slots = slots,
				.slot_count = recording->slot_count,
				.addresses = {adoption.addresses[0], adoption.addresses[1]},
				.other_graph = adoption.other_graph,
				.further_graphs = adoption.further_graphs,
				.further_graph_count = adoption.further_graph_count,
				.declared = adoption.declared,
				.declared_count = adoption.declared_count),
		adoption.exec, &mark);
	free(slots);
	recording->is_adopted = err == 0;
	return err;
}

int dagpatch_adopt(struct dagpatch_recording *recording, const struct dagpatch_adoption *adoption)
{
	int err = recording_enter(recording);

	if (err < 0)
		return err;
	err = adopt(recording, adoption);
	recording_leave(recording);
	return err;
}
