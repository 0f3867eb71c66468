/* Scopes: each push with its end. */
#include <errno.h>

#include "trace/process.h"
#include "trace/table.h"

static uint64_t scope_id(const struct raw *row)
{
	return ((const struct record_scope *)row->record)->id;
}

static uint64_t scope_end_id(const struct raw *row)
{
	return ((const struct record_scope_end *)row->record)->id;
}

static struct trace_scope scope_row(struct process_load *load, const struct raw *raw)
{
	const struct record_scope *record = raw->record;

	return (struct trace_scope){
		.process = load->process,
		.id = record->id,
		.parent = TRACE_NONE,
		.kind = record->header.tag,
		.text = strtab_intern(load->strings, record->text, record->text_bytes),
		.thread = load_find_thread(load, raw->tid),
		.begin_ns = (int64_t)record->ns,
		.end_ns = (int64_t)record->ns,
	};
}

static void close_scopes(struct process_load *load, struct trace_scope *rows, uint32_t count)
{
	const struct raw_list *ends = &load->lists[RECORD_SCOPE_END];
	int64_t process_end = load->trace->processes[load->process].end_ns;
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		while (at < ends->count && scope_end_id(&ends->rows[at]) < rows[i].id)
			at++;
		if (rows[i].kind == RECORD_SCOPE_MARK)
			continue;
		if (at < ends->count && scope_end_id(&ends->rows[at]) == rows[i].id) {
			const struct record_scope_end *end = ends->rows[at].record;

			rows[i].end_ns = (int64_t)end->ns;
		} else {
			rows[i].open = true;
			if (process_end > rows[i].begin_ns)
				rows[i].end_ns = process_end;
		}
	}
}

int scopes_load(struct process_load *load)
{
	struct raw_list *list = &load->lists[RECORD_SCOPE];
	struct trace_scope *rows;
	uint32_t used = 0;

	if (raw_sort(list, scope_id) < 0 ||
	    raw_sort(&load->lists[RECORD_SCOPE_END], scope_end_id) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, scopes, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		if (used && rows[used - 1].id == scope_id(&list->rows[i]))
			load->duplicates++;
		else
			rows[used++] = scope_row(load, &list->rows[i]);
	}
	load->trace->scopes_count -= list->count - used;
	/* A parent has an id of its own thread, or of another: found among all of them. */
	for (uint32_t i = 0, at = 0; i < list->count; i++) {
		const struct record_scope *record = list->rows[i].record;

		if (i && record->id == scope_id(&list->rows[i - 1]))
			continue;
		rows[at++].parent = load_find_scope(load, record->parent);
	}
	close_scopes(load, rows, used);
	return 0;
}
