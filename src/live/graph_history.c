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
		return true;
	default:
		return false;
	}
}

int graph_history_add(struct graph_history *history, const struct record_header *record,
		      uint32_t tid)
{
	size_t bytes = record->words * 8u;
	const void *at = record;
	struct graph_record *row;

	if (record->type == RECORD_GRAPH_EXEC &&
	    numbers_get(&history->execs, 0, ((const struct record_graph_exec *)at)->exec_id) ==
		    NUMBERS_NONE)
		return -ENOMEM;
	if (bytes > history->most_bytes - history->bytes) {
		history->left_out++;
		return 0;
	}
	row = table_add((void **)&history->rows, &history->rows_count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->tid = tid;
	row->record = malloc(bytes);
	if (!row->record)
		return -ENOMEM;
	memcpy(row->record, record, bytes);
	history->bytes += bytes;
	return 0;
}

bool graph_history_has_exec(const struct graph_history *history, uint64_t exec_id)
{
	return !history->most_bytes || numbers_find(&history->execs, 0, exec_id) != NUMBERS_NONE;
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
