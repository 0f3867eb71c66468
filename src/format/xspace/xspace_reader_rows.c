/* Rows that events refer to by an id; each is added when its id is first seen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"
#include "trace/row_table.h"

#define PID_WORD " pid "

/* The number of a pair of ids, which is its row's index, or -ENOMEM. RET_NEW: the caller has to
 * add the row; the array then has exactly NUMBER rows. */
static int64_t number_row(struct numbers *numbers, uint64_t high, uint64_t low, bool *ret_new)
{
	uint32_t known = numbers->count;
	uint32_t number = numbers_get(numbers, high, low);

	*ret_new = number == known;
	return number == NUMBERS_NONE ? -ENOMEM : (int64_t)number;
}

int64_t xread_process(struct xread_load *load, uint32_t pid)
{
	struct trace_process *row;
	bool is_new;
	int64_t number = number_row(&load->processes, 0, pid, &is_new);

	if (number < 0 || !is_new)
		return number;
	row = trace_add(load->trace, processes);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_process){.pid = pid};
	return number;
}

uint32_t xread_ordinal(const char *plane)
{
	const char *colon = strrchr(plane, ':');

	return colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

int64_t xread_agent(struct xread_load *load, uint32_t process, uint32_t ordinal)
{
	struct trace_agent *row;
	bool is_new;
	int64_t number = number_row(&load->agents, process, ordinal, &is_new);

	if (number < 0 || !is_new)
		return number;
	row = trace_add(load->trace, agents);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_agent){.process = process, .index = TRACE_NONE};
	return number;
}

int64_t xread_scope(struct xread_load *load, uint32_t process, uint64_t id)
{
	struct trace_scope *row;
	bool is_new;
	/* dagtap's files have ids that are unique over all processes */
	int64_t number = number_row(&load->scopes, load->is_ours ? 0 : process, id, &is_new);

	if (number < 0 || !is_new)
		return number;
	row = trace_add(load->trace, scopes);
	if (!row)
		return -ENOMEM;
	*row = (struct trace_scope){
		.process = process,
		.id = id,
		.parent = TRACE_NONE,
		.kind = RECORD_SCOPE_DAGTAP,
		.thread = TRACE_NONE,
		.untimed = true,
	};
	return number;
}

int64_t xread_scope_of(struct xread_load *load, const struct xread_event *event, uint32_t process)
{
	uint64_t id = xread_number_of(event, XSPACE_STAT_SCOPE_RANGE_ID);

	return id ? xread_scope(load, process, id) : TRACE_NONE;
}

int64_t xread_exec(struct xread_load *load, uint32_t process, uint64_t id, uint32_t graph)
{
	struct trace_exec *row;
	bool is_new;
	int64_t number = number_row(&load->execs, process, id, &is_new);

	if (number < 0)
		return number;
	if (is_new) {
		row = trace_add(load->trace, execs);
		if (!row)
			return -ENOMEM;
		*row = (struct trace_exec){.process = process, .id = id, .graph = TRACE_NONE};
	}
	row = &load->trace->execs[number];
	if (row->graph == TRACE_NONE)
		row->graph = graph;
	return number;
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
	for (uint32_t i = 0; i < load->trace->processes_count; i++) {
		if (load->trace->processes[i].pid == number)
			return i;
	}
	return line->plane->process;
}

static enum record_domain domain_of(const char *name)
{
	if (!strncmp(name, "nccl", 4) || !strncmp(name, "mscclRun", 8))
		return RECORD_DOMAIN_RCCL;
	return strncmp(name, "hip", 3) ? RECORD_DOMAIN_CUDA : RECORD_DOMAIN_HIP;
}

/* The most rows of names: add_call stores the index in 16 bits. All further names share the last
 * row. */
#define APIS_MOST UINT16_MAX

int64_t xread_api(struct xread_load *load, uint32_t process, trace_string name)
{
	struct trace_api *row;
	bool is_new;
	int64_t number;

	if (load->apis.count == APIS_MOST &&
	    numbers_find(&load->apis, process, name) == NUMBERS_NONE)
		return APIS_MOST - 1;
	number = number_row(&load->apis, process, name, &is_new);
	if (number < 0 || !is_new)
		return number;
	row = trace_add(load->trace, apis);
	if (!row)
		return -ENOMEM;
	if (number == APIS_MOST - 1)
		name = strtab_intern_z(load->strings, "(calls of other names)");
	*row = (struct trace_api){
		.process = process,
		.function = (uint32_t)number + 1,
		.name = name,
		.domain = domain_of(xread_string(load, name)),
	};
	return number;
}

/* no program nests deeper */
#define DEPTH_MOST 256

uint32_t xread_root(const struct xread_load *load, uint32_t scope)
{
	const struct trace_scope *rows = load->trace->scopes;

	for (int depth = 0; depth < DEPTH_MOST; depth++) {
		uint32_t parent = rows[scope].parent;

		if (parent == TRACE_NONE || xspace_scope_is_numbered(rows[parent].id))
			return scope;
		scope = parent;
	}
	return TRACE_NONE;
}
