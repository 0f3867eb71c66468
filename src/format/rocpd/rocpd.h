/* The state of an export to rocpd, the SQLite format of AMD's ROCm tools (docs/format/rocpd.md).
 *
 * AMD's views join a row with its thread, queue, agent and event, and do not show a row that lacks
 * one. Where the trace has none, the row refers to one that stands for "none": each process has
 * such a thread, queue, stream and agent, which is written if it was used.
 *
 * Ids are those of the trace's rows, from 1: row I of its processes, threads, agents, queues or
 * streams has id I + 1, and that for "none" of process P follows the last of its table. Events are
 * numbered calls first, then scopes, then activities, then memory operations.
 *
 * AMD's tools tell processes apart by the guid of their rows, and join rows of one guid only. So
 * each process has a guid, and what its rows refer to is written for it alone, its machine and its
 * strings included.
 *
 * Errors stick: after the first one nothing is written. Threading: a struct rocpd belongs to one
 * thread. */
#ifndef DAGTAP_FORMAT_ROCPD_H
#define DAGTAP_FORMAT_ROCPD_H

#include "base/numbers.h"
#include "format/rocpd/rocpd_agent_json.h"
#include "format/rocpd/rocpd_schema.h"
#include "trace/trace_model.h"

/* X(name, table, columns, values): the rows that are written. */
#define ROCPD_INSERTS(X)                                                                           \
	X(METADATA, "rocpd_metadata", "tag, value", NULL)                                          \
	X(STRING, "rocpd_string", "guid, id, string", NULL)                                        \
	X(EVENT, "rocpd_event",                                                                    \
	  "guid, id, category_id, stack_id, parent_stack_id, correlation_id", "?, ?, ?, ?, ?, 0")  \
	X(SCOPE_EVENT, "rocpd_event",                                                              \
	  "guid, id, category_id, stack_id, parent_stack_id, correlation_id, extdata",             \
	  "?, ?, ?, ?, ?, 0, json_object('message', ?, 'kind', ?, 'open', ?)")                     \
	X(REGION, "rocpd_region", "guid, id, nid, pid, tid, start, \"end\", name_id, event_id",    \
	  NULL)                                                                                    \
	X(DISPATCH, "rocpd_kernel_dispatch",                                                       \
	  "guid, id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start," \
	  "\"end\", private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y," \
	  "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, graph_exec_id, graph_node_id," \
	  "region_name_id, event_id, extdata",                                                     \
	  NULL)                                                                                    \
	X(COPY, "rocpd_memory_copy",                                                               \
	  "guid, id, nid, pid, tid, start, \"end\", name_id, dst_agent_id, dst_address,"           \
	  "src_agent_id, src_address, size, queue_id, stream_id, graph_exec_id, graph_node_id, "   \
	  "region_name_id,"                                                                        \
	  "event_id, extdata",                                                                     \
	  NULL)                                                                                    \
	X(ALLOCATE, "rocpd_memory_allocate",                                                       \
	  "guid, id, nid, pid, tid, agent_id, type, level, start, \"end\", address, size, "        \
	  "stream_id, event_id",                                                                   \
	  "?, ?, ?, ?, ?, ?, ?, 'REAL', ?, ?, ?, ?, ?, ?")                                         \
	X(LAUNCH, "rocpd_graph_launch",                                                            \
	  "guid, id, nid, pid, tid, agent_id, queue_id, start, \"end\", graph_exec_id,"            \
	  "kernel_dispatch_count, event_id",                                                       \
	  NULL)                                                                                    \
	X(NODE, "rocpd_info_node", "guid, id, hash, machine_id, system_name, hostname",            \
	  "?, ?, ?, ?, 'Linux', ?")                                                                \
	X(PROCESS, "rocpd_info_process",                                                           \
	  "guid, id, nid, ppid, pid, init, fini, start, \"end\", command, extdata",                \
	  "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, json_object('exe', ?, 'session', ?, "                     \
	  "'start_realtime_ns', ?)")                                                               \
	X(THREAD, "rocpd_info_thread", "guid, id, nid, ppid, pid, tid, name", NULL)                \
	X(AGENT, "rocpd_info_agent",                                                               \
	  "guid, id, nid, pid, type, absolute_index, logical_index, type_index, uuid, name, "      \
	  "model_name, vendor_name, product_name, user_name, extdata",                             \
	  "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " ROCPD_AGENT_EXTDATA)                        \
	X(QUEUE, "rocpd_info_queue", "guid, id, nid, pid, name", NULL)                             \
	X(STREAM, "rocpd_info_stream", "guid, id, nid, pid, name", NULL)                           \
	X(CODE_OBJECT, "rocpd_info_code_object",                                                   \
	  "guid, id, nid, pid, agent_id, uri, storage_type", "?, ?, ?, ?, ?, '', 'MEMORY'")        \
	X(SYMBOL, "rocpd_info_kernel_symbol",                                                      \
	  "guid, id, nid, pid, code_object_id, kernel_name, display_name, sgpr_count, "            \
	  "arch_vgpr_count, accum_vgpr_count, extdata",                                            \
	  "?, ?, ?, ?, ?, ?, ?, ?, ?, 0, json_object('kernel_id', ?, 'demangled_kernel_name', ?)")

enum rocpd_insert {
#define X(name, table, columns, values) ROCPD_##name,
	ROCPD_INSERTS(X)
#undef X
		ROCPD_INSERT_COUNT
};

/* Names that stand for "none". The reader knows them. */
#define ROCPD_NO_QUEUE	     "(no queue)"
#define ROCPD_NO_STREAM	     "(no stream)"
#define ROCPD_NO_THREAD	     "(no thread)"
#define ROCPD_NO_AGENT	     "(no agent)"
#define ROCPD_UNKNOWN_KERNEL "unknown_kernel"

/* Stands for the executable graph with id 0. */
#define ROCPD_EXEC_ZERO UINT64_MAX

/* What of a process is referred to although the trace has none. */
struct rocpd_nones {
	bool thread, agent, queue, stream;
};

/* The id of something that was written for PROCESS; 0 = not written yet. */
struct rocpd_id {
	uint32_t process, id;
};

struct rocpd {
	const struct trace *trace; /* borrowed */
	struct sqlite_file *file;
	struct rocpd_names names;
	sqlite3_stmt *inserts[ROCPD_INSERT_COUNT];
	struct numbers strings;	  /* by a hash of text and process; id - 1 */
	struct numbers symbols;	  /* by a hash of what they are; id - 1 */
	struct rocpd_id *texts;	  /* by trace_string, its string for the process that asked last */
	struct rocpd_id *paths;	  /* by scope, the string of its path, likewise */
	struct rocpd_id *kernels; /* by work, its kernel symbol, likewise */
	char (*guids)[ROCPD_GUID_CHARS]; /* by process; that of the first is the file's */
	uint64_t *bases;	   /* by process, what is added to its cids; then the last cid */
	struct rocpd_nones *nones; /* by process */
	int err;
};

/* A row that is being written. */
struct rocpd_row {
	struct rocpd *rocpd;
	sqlite3_stmt *statement;
	int place, result;
};

static inline void rocpd_put(struct rocpd_row *row, uint64_t value)
{
	if (row->result == SQLITE_OK)
		row->result =
			sqlite3_bind_int64(row->statement, ++row->place, (sqlite3_int64)value);
}

/* TEXT must stay until rocpd_end. */
static inline void rocpd_put_constant(struct rocpd_row *row, const char *text)
{
	if (row->result == SQLITE_OK)
		row->result =
			sqlite3_bind_text(row->statement, ++row->place, text, -1, SQLITE_STATIC);
}

/* "" is null. */
static inline void rocpd_put_text(struct rocpd_row *row, const char *text)
{
	if (row->result == SQLITE_OK)
		row->result =
			sqlite_file_bind_text(row->rocpd->file, row->statement, ++row->place, text);
}

/* Begins a row of PROCESS, in a table with guids. */
static inline struct rocpd_row rocpd_begin(struct rocpd *rocpd, enum rocpd_insert insert,
					   uint32_t process)
{
	struct rocpd_row row = {rocpd, rocpd->inserts[insert], 0, SQLITE_OK};

	rocpd_put_constant(&row, rocpd->guids[process]);
	return row;
}

static inline void rocpd_end(struct rocpd_row *row)
{
	if (row->rocpd->err == 0)
		row->rocpd->err = sqlite_file_insert(row->rocpd->file, row->statement, row->result);
}

/* The id of the string TEXT for rows of PROCESS. */
uint32_t rocpd_string(struct rocpd *rocpd, uint32_t process, const char *text);

/* The id of the trace's string for rows of PROCESS. */
uint32_t rocpd_text(struct rocpd *rocpd, uint32_t process, trace_string string);

/* The id of the string with the path of a scope, for rows of PROCESS; SCOPE may be TRACE_NONE. */
uint32_t rocpd_path(struct rocpd *rocpd, uint32_t process, uint32_t scope);

/* The id of the machine of PROCESS. */
static inline uint32_t rocpd_node(uint32_t process)
{
	return process + 1;
}

/* The id of the kernel symbol of WORK, an index into trace.works. */
uint32_t rocpd_symbol(struct rocpd *rocpd, uint32_t process, uint32_t work);

/* The ids of what an index stands for; TRACE_NONE gives that for "none". */
uint32_t rocpd_thread(struct rocpd *rocpd, uint32_t process, uint32_t thread);
uint32_t rocpd_agent(struct rocpd *rocpd, uint32_t process, uint32_t agent);
uint32_t rocpd_queue(struct rocpd *rocpd, uint32_t process, uint32_t queue);
uint32_t rocpd_stream(struct rocpd *rocpd, uint32_t process, uint32_t stream);

/* Writes machines and processes. */
void rocpd_put_processes(struct rocpd *rocpd);

/* Writes how the clocks of a merged recording are known into the metadata. */
void rocpd_put_clocks(struct rocpd *rocpd);

/* Writes threads, agents, queues, streams and code objects, and those for "none" that were used. */
void rocpd_put_places(struct rocpd *rocpd);

/* Write the rows of the trace's tables. */
void rocpd_put_host(struct rocpd *rocpd);
void rocpd_put_activities(struct rocpd *rocpd);
void rocpd_put_launches(struct rocpd *rocpd);
void rocpd_put_memory(struct rocpd *rocpd);

/* The stack id of a process's CID: 0 stands for none. */
static inline uint64_t rocpd_stack(const struct rocpd *rocpd, uint32_t process, uint64_t cid)
{
	return cid ? rocpd->bases[process] + cid : 0;
}

#endif
