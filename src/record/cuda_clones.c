/* Which graph a child node holds; see cuda_clones.h. */
#include "record/cuda_clones.h"

#include <stddef.h>
#include <string.h>

/* NULL: nothing that call CID has made is open. */
static struct cuda_clones_call *find_call(struct cuda_clones *clones, uint64_t cid)
{
	for (uint32_t i = 0; i < CUDA_CLONES_CALLS; i++) {
		struct cuda_clones_call *call = &clones->calls[i];

		if (call->depth && call->cid == cid) {
			call->used = ++clones->uses;
			return call;
		}
	}
	return NULL;
}

/* The call that was used least lately gives way if there is no other place. */
static struct cuda_clones_call *make_call(struct cuda_clones *clones, uint64_t cid)
{
	struct cuda_clones_call *call = find_call(clones, cid);

	if (call)
		return call;
	call = &clones->calls[0];
	for (uint32_t i = 0; i < CUDA_CLONES_CALLS && call->depth; i++) {
		if (!clones->calls[i].depth || clones->calls[i].used < call->used)
			call = &clones->calls[i];
	}
	call->cid = cid;
	call->depth = 0;
	call->used = ++clones->uses;
	return call;
}

static void add_graph(struct cuda_clones_call *call, uint32_t graph, bool is_cloned)
{
	if (call->depth == CUDA_CLONES_DEPTH)
		memmove(call->made, call->made + 1, --call->depth * sizeof(*call->made));
	call->made[call->depth].graph = graph;
	call->made[call->depth].is_cloned = is_cloned;
	call->depth++;
}

static void clone_node(struct cuda_clones_call *call, uint32_t graph)
{
	for (uint32_t i = call->depth; i-- > 0;) {
		if (call->made[i].graph == graph) {
			call->made[i].is_cloned = true;
			return;
		}
	}
	add_graph(call, graph, true);
}

/* GRAPH goes on: the graphs that came after it are whole. */
static uint32_t make_node(struct cuda_clones_call *call, uint32_t graph)
{
	uint32_t held = 0;

	while (call->depth && call->made[call->depth - 1].graph != graph) {
		call->depth--;
		if (call->made[call->depth].is_cloned)
			held = call->made[call->depth].graph;
	}
	return held;
}

uint32_t cuda_clones_take(struct cuda_clones *clones, const struct record_cuda_graph *step)
{
	struct cuda_clones_call *call;
	uint32_t held;

	switch (step->header.tag) {
	case RECORD_CUDA_GRAPH_CREATED:
	case RECORD_CUDA_GRAPH_CLONED:
		add_graph(make_call(clones, step->cid), step->graph,
			  step->header.tag == RECORD_CUDA_GRAPH_CLONED);
		return 0;
	case RECORD_CUDA_NODE_CLONED:
		clone_node(make_call(clones, step->cid), step->graph);
		return 0;
	case RECORD_CUDA_NODE_CREATED:
		call = find_call(clones, step->cid);
		held = call ? make_node(call, step->graph) : 0;
		/* The steps of calls that have no number may be of several threads. */
		return step->cid ? held : 0;
	default:
		return 0;
	}
}

uint32_t cuda_clones_find(const struct cuda_clones *clones, uint64_t cid, uint32_t index)
{
	for (uint32_t i = 0; i < CUDA_CLONES_CALLS; i++) {
		const struct cuda_clones_call *call = &clones->calls[i];

		if (!call->depth || call->cid != cid)
			continue;
		for (uint32_t k = call->depth; k-- > 0;) {
			if (call->made[k].is_cloned && index-- == 0)
				return call->made[k].graph;
		}
	}
	return 0;
}
