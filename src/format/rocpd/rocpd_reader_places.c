/* Reads what the rows of a rocpd file refer to: strings, machines, processes, threads, agents,
 * queues, streams, kernels. Each row of such a table is one of the model, or stands for "none". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "format/rocpd/rocpd.h"
#include "format/rocpd/rocpd_reader_load.h"
#include "trace/row_table.h"

static int read_string(struct rread_load *load, const struct rread_query *query)
{
	return rread_ids_add(&load->strings, rread_i64(query, 0), rread_string(query, 1));
}

static int read_node(struct rread_load *load, const struct rread_query *query)
{
	return rread_ids_add(&load->hosts, rread_i64(query, 0), rread_string(query, 1));
}

static const char *const process_columns[] = {
	"id",	"pid",	   "ppid",  "start", "init",	  "end",
	"fini", "command", "$.exe", "nid",   "$.session", "$.start_realtime_ns",
	NULL,
};

static int read_process(struct rread_load *load, const struct rread_query *query)
{
	struct trace *trace = load->import.trace;
	uint32_t host = rread_find(query, 9, &load->hosts);
	/* Processes of several sessions or machines may have one pid. */
	const struct import_id id = {(uint64_t)trace->processes_count << 32 | rread_u32(query, 1),
				     false};
	int64_t process = import_process(&load->import, id);
	struct trace_process *row;

	if (process < 0)
		return -ENOMEM;
	row = &trace->processes[process];
	row->parent_pid = rread_u32(query, 2);
	row->start_ns = rread_i64(query, rread_is_null(query, 3) ? 4 : 3);
	row->end_ns = rread_i64(query, rread_is_null(query, 5) ? 6 : 5);
	row->command = rread_string(query, 7);
	row->exe = rread_string(query, 8);
	row->host = host == TRACE_NONE ? 0 : host;
	row->session = rread_u32(query, 10);
	row->start_realtime_ns = (uint64_t)rread_i64(query, 11);
	if (!table_add((void **)&load->stream_counts, &load->stream_counts_count,
		       sizeof(*load->stream_counts)))
		return -ENOMEM;
	return rread_ids_add(&load->processes, rread_i64(query, 0), (uint32_t)process);
}

/* Whether the row of a place stands for "none" of dagtap's export, or has no process. */
static bool is_none(const struct rread_query *query, int name, const char *none, uint32_t process)
{
	return process == TRACE_NONE ||
	       (query->load->is_ours && strcmp(rread_text(query, name), none) == 0);
}

static const char *const thread_columns[] = {"id", "pid", "tid", "name", NULL};

static int read_thread(struct rread_load *load, const struct rread_query *query)
{
	uint32_t process = rread_find(query, 1, &load->processes);
	int64_t thread;

	if (is_none(query, 3, ROCPD_NO_THREAD, process))
		return 0;
	thread = import_thread(&load->import, process,
			       (struct import_id){(uint64_t)rread_i64(query, 2), false},
			       rread_string(query, 3));
	return thread < 0 ? -ENOMEM
			  : rread_ids_add(&load->threads, rread_i64(query, 0), (uint32_t)thread);
}

static const char *const agent_columns[] = {
	"id",	"pid",		"type",	      "absolute_index",	   "type_index",
	"name", "product_name", "$.cu_count", "$.wave_front_size", NULL,
};

static int read_agent(struct rread_load *load, const struct rread_query *query)
{
	struct trace *trace = load->import.trace;
	uint32_t process = rread_find(query, 1, &load->processes);
	struct trace_agent *row;
	int64_t agent;

	if (is_none(query, 5, ROCPD_NO_AGENT, process))
		return 0;
	agent = import_agent(&load->import, process, trace->agents_count);
	if (agent < 0)
		return -ENOMEM;
	row = &trace->agents[agent];
	row->is_gpu = strcmp(rread_text(query, 2), "GPU") == 0;
	row->index = rread_u32(query, 3);
	row->gpu_ordinal = row->is_gpu ? rread_u32(query, 4) : 0;
	row->name = rread_string(query, 5);
	row->product = rread_string(query, 6);
	row->compute_units = rread_u32(query, 7);
	row->wave_size = rread_u32(query, 8);
	return rread_ids_add(&load->agents, rread_i64(query, 0), (uint32_t)agent);
}

static const char *const named_columns[] = {"id", "pid", "name", NULL};

/* The number in dagtap's names, "Queue 3", or NUMBER. */
static uint32_t number_of(const struct rread_query *query, const char *format, uint32_t number)
{
	uint32_t read;

	return query->load->is_ours && sscanf(rread_text(query, 2), format, &read) == 1 ? read
											: number;
}

static int read_queue(struct rread_load *load, const struct rread_query *query)
{
	uint32_t process = rread_find(query, 1, &load->processes);
	struct trace_queue *row;

	if (is_none(query, 2, ROCPD_NO_QUEUE, process))
		return 0;
	row = trace_add(load->import.trace, queues);
	if (!row)
		return -ENOMEM;
	row->process = process;
	row->id = number_of(query, "Queue %" SCNu32, rread_u32(query, 0));
	row->agent = TRACE_NONE;
	return rread_ids_add(&load->queues, rread_i64(query, 0),
			     load->import.trace->queues_count - 1);
}

static int read_stream(struct rread_load *load, const struct rread_query *query)
{
	uint32_t process = rread_find(query, 1, &load->processes);
	int64_t stream;

	if (is_none(query, 2, ROCPD_NO_STREAM, process))
		return 0;
	stream = import_stream(&load->import, process, 0,
			       number_of(query, "Stream %" SCNu32, load->stream_counts[process]++));
	if (stream < 0)
		return -ENOMEM;
	if (!load->is_ours)
		load->import.trace->streams[stream].handle = (uint64_t)rread_i64(query, 0);
	return rread_ids_add(&load->streams, rread_i64(query, 0), (uint32_t)stream);
}

static const char *const symbol_columns[] = {
	"id", "display_name", "kernel_name", "sgpr_count", "arch_vgpr_count", "accum_vgpr_count",
	NULL,
};

static int read_symbol(struct rread_load *load, const struct rread_query *query)
{
	int name = rread_is_null(query, 1) ? 2 : 1;
	bool is_known = strcmp(rread_text(query, name), ROCPD_UNKNOWN_KERNEL) != 0;
	struct rread_symbol *row =
		table_add((void **)&load->symbol_rows, &load->symbol_rows_count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	row->name = is_known ? rread_string(query, name) : 0;
	row->symbol = is_known ? rread_string(query, 2) : 0;
	row->scalar_registers = rread_u32(query, 3);
	row->registers = rread_u32(query, 4) + rread_u32(query, 5);
	return rread_ids_add(&load->symbols, rread_i64(query, 0), load->symbol_rows_count - 1);
}

int rread_places(struct rread_load *load)
{
	static const char *const string_columns[] = {"id", "string", NULL};
	static const char *const node_columns[] = {"id", "hostname", NULL};
	static const struct {
		const char *table;
		const char *const *columns;
		int (*read)(struct rread_load *load, const struct rread_query *query);
	} tables[] = {
		{"rocpd_string", string_columns, read_string},
		{"rocpd_info_node", node_columns, read_node},
		{"rocpd_info_process", process_columns, read_process},
		{"rocpd_info_thread", thread_columns, read_thread},
		{"rocpd_info_agent", agent_columns, read_agent},
		{"rocpd_info_queue", named_columns, read_queue},
		{"rocpd_info_stream", named_columns, read_stream},
		{"rocpd_info_kernel_symbol", symbol_columns, read_symbol},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && err == 0; i++)
		err = rread_table(load, tables[i].table, tables[i].columns, tables[i].read);
	return err;
}
