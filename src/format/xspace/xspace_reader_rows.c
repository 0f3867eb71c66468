/* Rows that events refer to by an id; each is added when its id is first seen. */
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"

#define PID_WORD " pid "

int64_t xread_process(struct xread_load *load, uint32_t pid)
{
	return import_process(&load->import, (struct import_id){.value = pid});
}

uint32_t xread_ordinal(const char *plane)
{
	const char *colon = strrchr(plane, ':');

	return colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

int64_t xread_scope(struct xread_load *load, uint32_t process, uint64_t id)
{
	struct trace *trace = load->import.trace;
	struct trace_scope *row;
	/* dagtap's files have ids that are unique over all processes */
	int64_t index =
		numbers_row(&load->scopes, load->is_ours ? 0 : process, id, (void **)&trace->scopes,
			    &trace->scopes_count, sizeof(*row), (void **)&row);

	if (row) {
		*row = (struct trace_scope){
			.process = process,
			.id = id,
			.parent = TRACE_NONE,
			.kind = RECORD_SCOPE_DAGTAP,
			.thread = TRACE_NONE,
			.untimed = true,
		};
	}
	return index;
}

int64_t xread_scope_of(struct xread_load *load, const struct xread_event *event, uint32_t process)
{
	uint64_t id = xread_number_of(event, XSPACE_STAT_SCOPE_RANGE_ID);

	return id ? xread_scope(load, process, id) : TRACE_NONE;
}

uint32_t xread_origin_of(const struct xread_load *load, uint32_t hint, uint64_t *cid)
{
	if (*cid == 0)
		return hint;
	for (uint32_t i = 0; i < load->origins_count; i++) {
		const struct xread_origin *origin = &load->origins[i];

		if (*cid > origin->base && *cid <= origin->last) {
			*cid -= origin->base;
			return i;
		}
	}
	return hint;
}

uint32_t xread_line_process(const struct xread_load *load, const struct xread_line *line)
{
	const char *pid = strstr(xread_string(load, line->name), PID_WORD);
	unsigned long number;

	if (!load->is_ours || !pid)
		return line->plane->process;
	number = strtoul(pid + strlen(PID_WORD), NULL, 10);
	for (uint32_t i = 0; i < load->import.trace->processes_count; i++) {
		if (load->import.trace->processes[i].pid == number)
			return i;
	}
	return line->plane->process;
}
