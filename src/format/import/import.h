/* Builds the model from the rows of another tool's file. A reader parses the file and decides what
 * its fields mean; this builder makes the rows.
 *
 * Rows are added in the order of the file and refer to each other by index. What the file names by
 * an id becomes a row when the id is first seen. When all rows are added, the import_order
 * functions sort the tables into the order that trace/trace_model.h requires and update all
 * references. import_end then hands out the trace.
 *
 * Functions that return int64_t return the index of a row; functions that return int return 0.
 * Both return -ENOMEM without memory; the caller then gives up and calls import_end. A pointer to a
 * row is valid until the next row is added to its table. Texts are interned in
 * trace_strings(trace).
 *
 * Threading: an import belongs to one thread. Cost: a lookup by id is one probe of a hash table
 * (base/numbers.h). */
#ifndef DAGTAP_FORMAT_IMPORT_H
#define DAGTAP_FORMAT_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error_text.h"
#include "base/numbers.h"
#include "trace/create.h"
#include "trace/trace_model.h"
#include "trace/works.h"

/* The file's id of a process or thread: a number, or a text. */
struct import_id {
	uint64_t value; /* the number (negative ones wrap), or the text's trace_string */
	bool is_text;
};

/* Attribute sets beside a table: by row, an index into trace.attribute_sets. `count` may be less
 * than the table's: rows from there on have no set. `rows` is owned. */
struct import_sets {
	uint32_t *rows;
	uint32_t count;
};

struct import {
	struct trace *trace;
	struct strtab *strings; /* trace_strings(trace) */
	struct work_table works;
	/* A scope whose id has all these bits has no id in the file; import_number_scopes numbers
	 * such scopes by their times. Set by the reader; 0, no scope has an id, by default. The
	 * reader may then use the scopes' ids for itself until it has them numbered. */
	uint64_t scope_numbers;
	/* The file states of each row its scope and of each activity its launch, so what it does
	 * not state is not there. Set by the reader; false by default. */
	bool is_complete;

	/* From ids to rows: the number of a key is the index of its row in the table of trace with
	 * the same name. A reader may search them with numbers_find. */
	struct numbers processes;  /* (is_text, value) of the id */
	struct numbers threads;	   /* (process * 2 + is_text, value) */
	struct numbers agents;	   /* (process, the file's number) */
	struct numbers streams;	   /* (process << 32 | space, the file's number) */
	struct numbers apis;	   /* (process, name) */
	struct numbers graphs;	   /* (process, id) */
	struct numbers execs;	   /* (process, id) */
	struct numbers nodes;	   /* (graph, id) */
	struct numbers launches;   /* (exec, correlation id) */
	struct numbers set_hashes; /* XXH128 of a set -> its row in attribute_sets, less 1 */

	struct import_sets activity_sets, call_sets;
};

/* The replay number of a launch whose number the file does not state. */
#define IMPORT_NO_REPLAY UINT64_MAX

/* Whether a scope with this id has no id in the file. */
static inline bool import_is_numbered(const struct import *import, uint64_t id)
{
	return (id & import->scope_numbers) == import->scope_numbers;
}

/* The index of the row of trace->TABLE with the key (HIGH, LOW) in the map of the same name, or
 * -ENOMEM. Sets *RET_NEW to the new, zeroed row if the key is new, to NULL otherwise. */
#define IMPORT_ROW(import, table, high, low, ret_new)                                              \
	numbers_row(&(import)->table, high, low, (void **)&(import)->trace->table,                 \
		    &(import)->trace->table##_count, sizeof(*(import)->trace->table),              \
		    (void **)(ret_new))

/* ---- begin and end (import.c) ---- */

/* Starts with an empty trace. Call import_end in both cases. */
int import_begin(struct import *import);

/* Ends the import. If ERR, the reader's result, is 0, hands out the finished trace. Otherwise frees
 * it; then, unless ERR is one of which the reader has written the message (-EBADMSG, -EFBIG), puts
 * the line "NAME: out of memory" into ERROR (may be NULL). Returns ERR, or -ENOMEM if a text was
 * lost. */
int import_end(struct import *import, int err, const char *name, struct trace **ret_trace,
	       struct dagtap_error *error);

/* ---- rows by ids (import.c, import_graphs.c) ----
 *
 * Each function returns the index of the row; a new row has only the fields that follow from the
 * parameters. The reader recognises a new row by its index, which was the table's count before the
 * call. Nothing else may add rows to these tables. */

/* A number as id is the pid; a text is taken for the executable's name. */
int64_t import_process(struct import *import, struct import_id id);

/* A number as id is folded into 32 bits, because it may be a hash, and is the tid of a new row with
 * NAME (0 = none). A text as id is taken for the thread's name. */
int64_t import_thread(struct import *import, uint32_t process, struct import_id id,
		      trace_string name);

/* A new row has the index TRACE_NONE. */
int64_t import_agent(struct import *import, uint32_t process, uint32_t number);

/* SPACE tells apart streams of PROCESS with the same number, if each GPU has its own numbers. A new
 * row has NUMBER as ordinal and no agent. */
int64_t import_stream(struct import *import, uint32_t process, uint32_t space, uint64_t number);

/* The function of a call. Its name tells the interface: HIP, RCCL or CUDA. */
int64_t import_api(struct import *import, uint32_t process, trace_string name);

/* The graph that the file calls ID. */
int64_t import_graph(struct import *import, uint32_t process, uint64_t id);

/* An executable graph. Sets its graph to GRAPH (index into graphs, or TRACE_NONE) if it was not
 * known. */
int64_t import_exec(struct import *import, uint32_t process, uint64_t id, uint32_t graph);

/* The node that the file calls ID in GRAPH. WORK is the index of the activity's work kind, from
 * which a new node takes its type, name, bytes and dimensions. */
int64_t import_node(struct import *import, uint32_t graph, uint64_t id, uint32_t work);

/* The launch of EXEC by the call with this correlation id. The reader may set the replay number of
 * the row. If it does not, import_order_gpu numbers the launch. */
int64_t import_launch(struct import *import, uint32_t exec, uint64_t cid);

/* ---- calls, activities and attributes (import_rows.c) ---- */

/* Appends a row whose references are all TRACE_NONE, and which is else zero. Returns NULL without
 * memory. */
struct trace_call *import_call(struct import *import);
struct trace_activity *import_activity(struct import *import);

/* Appends COUNT attributes to trace.scope_attributes. */
int import_attributes(struct import *import, const struct trace_scope_attribute *rows,
		      uint32_t count);

/* The index of the attribute set of these attributes, 0 if COUNT is 0. Equal sets, compared byte by
 * byte, share one row. */
int64_t import_set(struct import *import, const struct trace_scope_attribute *rows, uint32_t count);

/* Gives the last row of calls or activities the attribute set SET, a result of import_set. Returns
 * 0, or SET if that is an error. */
int import_set_call(struct import *import, int64_t set);
int import_set_activity(struct import *import, int64_t set);

/* Sets what an activity and its call tell about each other. Call it for each activity in their
 * order, after import_order_activities and with stream, scope and launch of the activity set. */
void import_join_call(struct import *import, uint32_t activity);

/* ---- nesting (import_nest.c) ---- */

/* A scope or a call. */
struct import_interval {
	int64_t begin_ns, end_ns;
	uint32_t thread;
	uint32_t row; /* index into scopes or calls */
	bool is_call;
};

/* Nests COUNT intervals by their times, thread by thread, and sets the parents of scopes and calls
 * and the scopes of calls. Marks, and ranges, which need not nest, hold nothing. What the file
 * states by ids stays: a scope with an id keeps its parent, a call with a scope keeps it. Then the
 * outermost scope with an id around that call, unless the file gives its times, gets as parent the
 * innermost scope without an id that was open during all calls under it. Sorts *ROWS, which are the
 * caller's, and may replace their memory. */
int import_nest(struct import *import, struct import_interval **intervals, uint32_t count);

/* The outermost scope around SCOPE that has an id in the file, which may be SCOPE itself;
 * TRACE_NONE if there are 256 parents or more. */
uint32_t import_root(const struct import *import, uint32_t scope);

/* ---- order (import_order.c) ----
 *
 * Each function sorts tables and updates all references to their rows. Afterwards the tables'
 * numbers in struct import are no longer valid. */

/* Sorts scopes by (process, id); those without an id in the file come last, by (begin, longest
 * first). */
int import_order_scopes(struct import *import);

/* Numbers the scopes without an id in the file, from 1 in each process, and sets the bits of
 * scope_numbers. Call it after import_order_scopes. */
void import_number_scopes(struct import *import);

/* Sorts threads, APIs and calls. Call it before activities and launches refer to calls. */
int import_order_host(struct import *import);

/* Finds the call of each activity by its correlation id, sets `call`, and sorts by (process, with a
 * call before without, cid, start). Calls must be in order already. If several calls share a
 * correlation id, the first one gets the activities. */
int import_order_activities(struct import *import);

/* Sorts streams, queues, agents, graphs, nodes, execs and launches, and fills in the counts of the
 * latter four and each launch's call, stream and `exact`. Nodes get their index by the order of
 * their handles. Launches without a replay number are numbered in the order of their calls. Call it
 * when calls and activities are in order and joined. */
int import_order_gpu(struct import *import);

/* ---- conclusion (import_conclude.c) ---- */

/* Widens each process's start_ns and end_ns so that they cover all its calls, timed activities and
 * timed scopes. A start_ns of 0 counts as not set. */
void import_process_times(struct import *import);

/* Adds for each process the ledger's line NAME, which counts the activities and has no witness.
 * TEXT says why. */
int import_sources(struct import *import, const char *name, const char *text);

/* Adds a message about the file. */
int import_tell(struct import *import, bool is_damage, trace_string text);

/* Adds the message "left out: N TEXT" for each of the COUNT reasons that has left out any rows. */
int import_tell_left_out(struct import *import, const uint64_t *left_out, const char *const *texts,
			 int count);

#endif
