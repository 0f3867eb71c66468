/* Reads the rows of a rocpd file: regions, which are calls or scopes, dispatches, copies, launches
 * of graphs, allocations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "format/rocpd/rocpd.h"
#include "format/rocpd/rocpd_reader_load.h"
#include "format/words.h"
#include "trace/load/scope_text.h"
#include "trace/row_table.h"

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* The text of a string's id at PLACE. It is interned, so it stays. */
static const char *text_of(const struct rread_query *query, int place)
{
	uint32_t string = rread_find(query, place, &query->load->strings);

	return query->load->import.strings->strings[string == TRACE_NONE ? 0 : string];
}

/* ---- regions ---- */

static const char *const region_columns[] = {
	"pid",	      "tid",	    "start",   "end",	  "name_id", "E.category_id",
	"E.stack_id", "E$.message", "E$.kind", "E$.open", NULL,
};

enum {
	REGION_PROCESS,
	REGION_THREAD,
	REGION_START,
	REGION_END,
	REGION_NAME,
	REGION_CATEGORY,
	REGION_STACK,
	REGION_MESSAGE,
	REGION_KIND,
	REGION_OPEN
};

/* What kind of scope a region is: as dagtap's export says, else as the functions of roctx do. */
static enum record_scope_kind scope_kind(const struct rread_query *query)
{
	const char *kind = rread_text(query, REGION_KIND);
	const char *name = text_of(query, REGION_NAME);

	for (int i = RECORD_SCOPE_DAGTAP; i <= RECORD_SCOPE_NVTX; i++) {
		if (*kind && strcmp(kind, words_scope_kind(i)) == 0)
			return i;
	}
	if (starts_with(name, "roctxMark"))
		return RECORD_SCOPE_MARK;
	return starts_with(name, "roctxRangeStart") ? RECORD_SCOPE_RANGE : RECORD_SCOPE_ROCTX;
}

/* Adds the attributes that are written in the scope's text. */
static int add_attributes(struct rread_load *load, struct scope_text *parts,
			  struct trace_scope *scope)
{
	struct trace_scope_attribute attribute;

	scope->attribute_first = load->import.trace->scope_attributes_count;
	while (scope_text_next(parts, load->import.strings, &attribute)) {
		if (import_attributes(&load->import, &attribute, 1) < 0)
			return -ENOMEM;
		scope->attribute_count++;
	}
	return 0;
}

/* Before ROCm 10.1, the name of a region is that of roctx's function, and the event has the
 * text. */
static int add_scope(struct rread_load *load, const struct rread_query *query, uint32_t process,
		     uint32_t thread)
{
	struct trace *trace = load->import.trace;
	const char *text = rread_is_null(query, REGION_MESSAGE) ? text_of(query, REGION_NAME)
								: rread_text(query, REGION_MESSAGE);
	struct trace_scope *row = trace_add(trace, scopes);
	struct scope_text parts;

	if (!row)
		return -ENOMEM;
	scope_text_split(text, strlen(text), &parts);
	row->process = process;
	row->parent = TRACE_NONE;
	row->kind = scope_kind(query);
	row->text = strtab_intern_z(load->import.strings, text);
	row->name = strtab_intern(load->import.strings, parts.name, parts.name_bytes);
	row->thread = thread;
	row->begin_ns = rread_i64(query, REGION_START);
	row->end_ns = rread_i64(query, REGION_END);
	row->open = rread_i64(query, REGION_OPEN) != 0;
	return add_attributes(load, &parts, row);
}

static enum record_domain domain_of(const char *category)
{
	if (starts_with(category, "HIP"))
		return RECORD_DOMAIN_HIP;
	if (starts_with(category, "HSA"))
		return RECORD_DOMAIN_HSA;
	return starts_with(category, "RCCL") ? RECORD_DOMAIN_RCCL : RECORD_DOMAIN_CUDA;
}

static int add_call(struct rread_load *load, const struct rread_query *query, uint32_t process,
		    uint32_t thread)
{
	uint32_t known = load->import.trace->apis_count;
	uint32_t name = rread_find(query, REGION_NAME, &load->strings);
	int64_t api = import_api(&load->import, process, name == TRACE_NONE ? 0 : name);
	struct trace_call *row = api < 0 ? NULL : import_call(&load->import);

	if (!row)
		return -ENOMEM;
	if (api == known)
		load->import.trace->apis[api].domain = domain_of(text_of(query, REGION_CATEGORY));
	row->cid = (uint64_t)rread_i64(query, REGION_STACK);
	row->begin_ns = rread_i64(query, REGION_START);
	row->end_ns = rread_i64(query, REGION_END);
	row->process = process;
	row->thread = thread;
	row->api = (uint32_t)api;
	return 0;
}

static int read_region(struct rread_load *load, const struct rread_query *query)
{
	uint32_t process = rread_find(query, REGION_PROCESS, &load->processes);
	uint32_t thread = rread_find(query, REGION_THREAD, &load->threads);

	if (process == TRACE_NONE) {
		load->left_out[RREAD_LEFT_OUT_PROCESS]++;
		return 0;
	}
	if (starts_with(text_of(query, REGION_CATEGORY), "MARKER"))
		return add_scope(load, query, process, thread);
	return add_call(load, query, process, thread);
}

/* ---- activities ---- */

/* What dispatches and copies begin with. */
#define WORK_COLUMNS                                                                               \
	"pid", "tid", "start", "end", "queue_id", "stream_id", "graph_exec_id", "graph_node_id",   \
		"E.stack_id", "$.untimed", "id"

enum {
	WORK_PROCESS,
	WORK_THREAD,
	WORK_START,
	WORK_END,
	WORK_QUEUE,
	WORK_STREAM,
	WORK_EXEC,
	WORK_NODE,
	WORK_STACK,
	WORK_UNTIMED,
	WORK_ID,
	WORK_OWN /* the first column that the other has not */
};

static void set_times(const struct rread_query *query, struct trace_activity *row)
{
	const char *untimed = rread_text(query, WORK_UNTIMED);

	row->start_ns = rread_i64(query, WORK_START);
	row->end_ns = rread_i64(query, WORK_END);
	for (int i = 1; *untimed && i < RECORD_UNTIMED_COUNT; i++) {
		if (strcmp(untimed, words_untimed(i)) == 0)
			row->untimed = (uint8_t)i;
	}
	if (row->untimed == RECORD_UNTIMED_NO)
		return;
	row->submit_ns = row->start_ns;
	row->start_ns = row->end_ns = 0;
}

/* The launch of the executable graph ID by the call with CID, and the graph. The file names
 * executable graphs, not their templates, so one graph row with the same id stands for the
 * template; exec 0 is many graphs, of which nothing is known. Returns 0 or -ENOMEM. */
static int find_launch(struct rread_load *load, uint32_t process, uint64_t id, uint64_t cid,
		       int64_t *ret_launch, int64_t *ret_graph)
{
	bool is_zero = load->is_ours && id == ROCPD_EXEC_ZERO;
	int64_t graph = is_zero ? TRACE_NONE : import_graph(&load->import, process, id);
	int64_t exec =
		graph < 0 ? -ENOMEM
			  : import_exec(&load->import, process, is_zero ? 0 : id, (uint32_t)graph);

	*ret_graph = graph;
	*ret_launch = exec < 0 ? -ENOMEM : import_launch(&load->import, (uint32_t)exec, cid);
	return *ret_launch < 0 ? -ENOMEM : 0;
}

/* Sets launch and node. */
static int set_graph(struct rread_load *load, const struct rread_query *query,
		     struct trace_activity *row)
{
	uint64_t id = (uint64_t)rread_i64(query, WORK_EXEC);
	uint64_t node_id = (uint64_t)rread_i64(query, WORK_NODE);
	int64_t graph, launch, node = TRACE_NONE;

	if (id == 0)
		return 0;
	if (find_launch(load, row->process, id, row->cid, &launch, &graph) < 0)
		return -ENOMEM;
	if (node_id && graph != TRACE_NONE)
		node = import_node(&load->import, (uint32_t)graph, node_id, row->work);
	if (node < 0)
		return -ENOMEM;
	row->launch = (uint32_t)launch;
	row->node = (uint32_t)node;
	row->confidence = node == TRACE_NONE ? TRACE_CONFIDENCE_UNKNOWN : TRACE_CONFIDENCE_EXACT;
	return 0;
}

/* A queue or stream is of the agent on which its work ran. */
static void tell_agent(uint32_t *agent, uint32_t of)
{
	if (*agent == TRACE_NONE)
		*agent = of;
}

/* Adds the activity of a row, which ran on AGENT. */
static int add_activity(struct rread_load *load, const struct rread_query *query,
			const struct trace_work *work, uint32_t agent)
{
	struct trace *trace = load->import.trace;
	uint32_t number = work_intern(&load->import.works, work);
	struct trace_activity *row = number == TRACE_NONE ? NULL : import_activity(&load->import);

	if (!row)
		return -ENOMEM;
	row->process = rread_find(query, WORK_PROCESS, &load->processes);
	row->thread = rread_find(query, WORK_THREAD, &load->threads);
	row->queue = rread_find(query, WORK_QUEUE, &load->queues);
	row->stream = rread_find(query, WORK_STREAM, &load->streams);
	row->agent = agent;
	row->work = number;
	row->cid = (uint64_t)rread_i64(query, WORK_STACK);
	row->id = (uint64_t)rread_i64(query, WORK_ID);
	if (row->queue != TRACE_NONE)
		tell_agent(&trace->queues[row->queue].agent, agent);
	if (row->stream != TRACE_NONE)
		tell_agent(&trace->streams[row->stream].agent, agent);
	set_times(query, row);
	return set_graph(load, query, row);
}

/* False, and counted, if the process of the row is not in the file. */
static bool has_process(struct rread_load *load, const struct rread_query *query)
{
	if (rread_find(query, WORK_PROCESS, &load->processes) != TRACE_NONE)
		return true;
	load->left_out[RREAD_LEFT_OUT_PROCESS]++;
	return false;
}

static const char *const dispatch_columns[] = {
	WORK_COLUMNS,	      "agent_id",	  "kernel_id",	      "private_segment_size",
	"group_segment_size", "workgroup_size_x", "workgroup_size_y", "workgroup_size_z",
	"grid_size_x",	      "grid_size_y",	  "grid_size_z",      NULL,
};

static int read_dispatch(struct rread_load *load, const struct rread_query *query)
{
	uint32_t symbol = rread_find(query, WORK_OWN + 1, &load->symbols);
	struct trace_work work;

	if (!has_process(load, query))
		return 0;
	work_blank(&work, TRACE_KERNEL);
	if (symbol == TRACE_NONE) {
		load->left_out[RREAD_LEFT_OUT_KERNEL]++;
	} else {
		const struct rread_symbol *row = &load->symbol_rows[symbol];

		work.name = row->name;
		work.symbol = row->symbol;
		work.registers = row->registers;
		work.scalar_registers = row->scalar_registers;
	}
	work.private_bytes = rread_u32(query, WORK_OWN + 2);
	work.group_bytes = rread_u32(query, WORK_OWN + 3);
	for (int i = 0; i < 3; i++) {
		work.workgroup[i] = rread_u32(query, WORK_OWN + 4 + i);
		work.grid[i] = (uint64_t)rread_i64(query, WORK_OWN + 7 + i);
	}
	return add_activity(load, query, &work, rread_find(query, WORK_OWN, &load->agents));
}

static const char *const copy_columns[] = {
	WORK_COLUMNS, "name_id",     "dst_agent_id", "src_agent_id",
	"size",	      "dst_address", "src_address",  NULL,
};

static bool is_gpu(const struct trace *trace, uint32_t agent)
{
	return agent != TRACE_NONE && trace->agents[agent].is_gpu;
}

/* The direction that a copy's name and agents tell. */
static enum trace_copy_direction direction_of(const struct trace *trace, const char *name,
					      uint32_t dst, uint32_t src)
{
	if (strstr(name, "HOST_TO_DEVICE"))
		return TRACE_H2D;
	if (strstr(name, "DEVICE_TO_HOST"))
		return TRACE_D2H;
	if (strstr(name, "HOST_TO_HOST"))
		return TRACE_H2H;
	if (!strstr(name, "DEVICE_TO_DEVICE"))
		return TRACE_COPY_UNKNOWN;
	return dst == src ? TRACE_D2D : TRACE_P2P;
}

static int read_copy(struct rread_load *load, const struct rread_query *query)
{
	const struct trace *trace = load->import.trace;
	const char *name = text_of(query, WORK_OWN);
	uint32_t dst = rread_find(query, WORK_OWN + 1, &load->agents);
	uint32_t src = rread_find(query, WORK_OWN + 2, &load->agents);
	bool is_set = strcmp(name, "MEMORY_SET") == 0;
	struct trace_work work;

	if (!has_process(load, query))
		return 0;
	work_blank(&work, is_set ? TRACE_MEMSET : TRACE_COPY);
	if (!is_set)
		work.direction = direction_of(trace, name, dst, src);
	if (!load->is_ours) {
		work.dst_agent = dst;
		work.src_agent = src;
	}
	work.bytes = (uint64_t)rread_i64(query, WORK_OWN + 3);
	work.dst = (uint64_t)rread_i64(query, WORK_OWN + 4);
	work.src = (uint64_t)rread_i64(query, WORK_OWN + 5);
	/* A copy between GPUs belongs to the one that it reads. */
	return add_activity(load, query, &work,
			    is_gpu(trace, src)	 ? src
			    : is_gpu(trace, dst) ? dst
						 : TRACE_NONE);
}

/* ---- launches and allocations ---- */

static const char *const launch_columns[] = {"pid", "graph_exec_id", "E.stack_id", NULL};

/* A launch may have no work at all. */
static int read_launch(struct rread_load *load, const struct rread_query *query)
{
	uint32_t process = rread_find(query, 0, &load->processes);
	uint64_t id = (uint64_t)rread_i64(query, 1), cid = (uint64_t)rread_i64(query, 2);
	int64_t graph, launch;
	struct rread_launch *row;

	if (process == TRACE_NONE || id == 0)
		return 0;
	if (find_launch(load, process, id, cid, &launch, &graph) < 0)
		return -ENOMEM;
	row = table_add((void **)&load->launches, &load->launches_count, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = (struct rread_launch){process, (uint32_t)launch, cid};
	return 0;
}

static const char *const allocate_columns[] = {
	"pid",	   "agent_id", "type",	    "level",	  "start", "end",
	"address", "size",     "stream_id", "E.stack_id", NULL,
};

/* Scratch memory is a part of dispatches, and no program asks for it. */
static int read_allocation(struct rread_load *load, const struct rread_query *query)
{
	uint32_t process = rread_find(query, 0, &load->processes);
	struct trace_memory_operation *row;

	if (process == TRACE_NONE || strcmp(rread_text(query, 3), "SCRATCH") == 0)
		return 0;
	row = trace_add(load->import.trace, memory_operations);
	if (!row)
		return -ENOMEM;
	row->process = process;
	row->call = row->scope = TRACE_NONE;
	row->agent = rread_find(query, 1, &load->agents);
	row->is_release = strcmp(rread_text(query, 2), "FREE") == 0;
	row->ns = rread_i64(query, row->is_release ? 4 : 5);
	row->address = (uint64_t)rread_i64(query, 6);
	row->bytes = (uint64_t)rread_i64(query, 7);
	row->stream = rread_find(query, 8, &load->streams);
	row->cid = (uint64_t)rread_i64(query, 9);
	return 0;
}

int rread_rows(struct rread_load *load)
{
	static const struct {
		const char *table;
		const char *const *columns;
		int (*read)(struct rread_load *load, const struct rread_query *query);
	} tables[] = {
		{"rocpd_region", region_columns, read_region},
		{"rocpd_kernel_dispatch", dispatch_columns, read_dispatch},
		{"rocpd_memory_copy", copy_columns, read_copy},
		{"rocpd_graph_launch", launch_columns, read_launch},
		{"rocpd_memory_allocate", allocate_columns, read_allocation},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && err == 0; i++)
		err = rread_table(load, tables[i].table, tables[i].columns, tables[i].read);
	return err;
}
