/* Keeps copies of the records of graphs: see graph_history.h. */
#include "live/graph_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

bool graph_history_has_type(enum record_type type)
{
	switch (type) {
	case RECORD_FUNCTION: /* names the kernels of nodes */
	case RECORD_GRAPH:
	case RECORD_GRAPH_NODE:
	case RECORD_GRAPH_EDGE:
	case RECORD_GRAPH_EXEC:
	case RECORD_GRAPH_EXEC_UPDATE:
	case RECORD_GRAPH_EXEC_GONE:
	case RECORD_CUDA_GRAPH:
		return true;
	default:
		return false;
	}
}

/* Numbers the executable graph that RECORD tells of, if it tells of a new one. */
static int note_exec(struct graph_history *history, const struct record_header *record)
{
	const void *at = record;
	bool is_cuda = record->type == RECORD_CUDA_GRAPH;
	uint64_t id;

	if (is_cuda && record->tag == RECORD_CUDA_EXEC_CREATED)
		id = ((const struct record_cuda_graph *)at)->exec;
	else if (record->type == RECORD_GRAPH_EXEC)
		id = ((const struct record_graph_exec *)at)->exec_id;
	else
		return 0;
	return numbers_get(&history->execs, is_cuda, id) == NUMBERS_NONE ? -ENOMEM : 0;
}

int graph_history_add(struct graph_history *history, const struct record_header *record,
		      uint32_t tid)
{
	size_t bytes = record->words * 8u;
	struct graph_record *row;

	if (note_exec(history, record) < 0)
		return -ENOMEM;
	history->fresh_bytes += bytes;
	if (bytes > history->most_bytes - history->bytes) {
		history->left_out++;
		return 0;
	}
	row = table_add((void **)&history->rows, &history->rows_count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->tid = tid;
	row->activities = history->activities;
	row->record = malloc(bytes);
	if (!row->record)
		return -ENOMEM;
	memcpy(row->record, record, bytes);
	history->bytes += bytes;
	return 0;
}

bool graph_history_has_exec(const struct graph_history *history, bool is_cuda, uint64_t exec_id)
{
	return !history->most_bytes ||
	       numbers_find(&history->execs, is_cuda, exec_id) != NUMBERS_NONE;
}

int graph_history_forget_execs(struct graph_history *history, graph_exec_test *is_forgotten,
			       const void *context)
{
	const struct numbers *execs = &history->execs;
	struct numbers left = {0};

	for (uint32_t i = 0; i < execs->count; i++) {
		const struct numbers_pair *exec = &execs->pairs[i];

		if (is_forgotten(context, exec->high != 0, exec->low) ||
		    numbers_get(&left, exec->high, exec->low) != NUMBERS_NONE)
			continue;
		numbers_release(&left);
		return -ENOMEM;
	}
	numbers_release(&history->execs);
	history->execs = left;
	return 0;
}

int graph_history_selected(const struct graph_history *history,
			   int (*take)(void *context, const struct record_header *record,
				       uint32_t tid),
			   void *context)
{
	int err = 0;

	for (uint32_t i = 0; i < history->rows_count && err == 0; i++)
		err = take(context, history->rows[i].record, history->rows[i].tid);
	return err;
}

void graph_history_release(struct graph_history *history)
{
	for (uint32_t i = 0; i < history->rows_count; i++)
		free(history->rows[i].record);
	free(history->rows);
	numbers_release(&history->execs);
	*history = (struct graph_history){0};
}
