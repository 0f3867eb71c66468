/* The updates of execs in order, and releasing (see graph_input.h). */
#include "trace/graph/graph_input.h"

#include <stdlib.h>

uint32_t graph_input_find_updates(const struct graph_input *input, uint64_t exec_id)
{
	uint32_t low = 0, high = input->updates_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (input->updates[middle].exec_id < exec_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct input_update *graph_input_next_update(const struct graph_input *input,
						   uint64_t exec_id, uint64_t cid, uint32_t *at)
{
	const struct input_update *update;

	if (*at == input->updates_count)
		return NULL;
	update = &input->updates[*at];
	if (update->exec_id != exec_id || update->cid >= cid)
		return NULL;
	++*at;
	return update;
}

void graph_input_release_graphs(struct graph_input *input)
{
	free(input->graphs);
	free(input->nodes);
	free(input->edges);
	input->graphs = NULL;
	input->nodes = NULL;
	input->edges = NULL;
	input->graphs_count = input->nodes_count = input->edges_count = 0;
}

void graph_input_release(struct graph_input *input)
{
	graph_input_release_graphs(input);
	free(input->execs);
	free(input->launches);
	free(input->updates);
	*input = (struct graph_input){0};
}
