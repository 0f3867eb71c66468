/* Inside the XSpace reader: a file on its way into the model.
 *
 * xspace_reader.c lists the planes and reads them one after the other (xspace_reader_meta.c and
 * xspace_reader_event.c: names, stats; xspace_reader_device.c and xspace_reader_host.c: rows);
 * xspace_reader_join.c then puts
 * the rows into the model's order and joins them. While planes are read, rows refer to each other
 * by their places at that time, and the places of these are their numbers:
 *
 *	agents	     (process, ordinal)
 *	threads	     (process, line id)
 *	streams	     (agent, ordinal)
 *	scopes	     (process, id)
 *	apis	     (process, name)
 *	execs	     (process, exec id)
 *	graphs	     (process, graph id)
 *	nodes	     (graph, node id)
 *	launches     (exec, correlation id)
 *
 * Functions that return int: 0 (or what they say), or negative errno. -EBADMSG comes with the line in
 * the caller's error; what else fails is said at the end, once.
 */
#ifndef DAGTAP_FORMAT_XSPACE_READER_LOAD_H
#define DAGTAP_FORMAT_XSPACE_READER_LOAD_H

#include "base/error.h"
#include "format/numbers.h"
#include "format/order.h"
#include "format/read_graphs.h"
#include "format/xspace/xspace.h"
#include "trace/load.h"
#include "trace/model.h"
#include "trace/strtab.h"
#include "wire/proto_reader.h"

/* One entry of a plane's map of event or stat metadata. */
struct xread_meta {
	int64_t id;
	trace_string name;
	enum xspace_stat known;	   /* of a stat that means something to the reader */
	struct proto_reader stats; /* of event metadata: the message, if there are stats in it */
};

struct xread_metas {
	struct xread_meta *rows; /* by id */
	uint32_t count;
};

struct xread_plane {
	struct proto_reader body;
	struct proto_reader rest; /* what xread_line_next has not read yet */
	trace_string name;
	int64_t id;
	uint64_t pid;			  /* that it names, or 0 */
	uint32_t process;		  /* whose its rows are, if they do not say it themselves */
	struct xread_metas stats, events; /* empty until xread_metas_read */
};

struct xread_line {
	const struct xread_plane *plane;
	struct proto_reader body; /* what xread_event_next has not read yet */
	int64_t id;
	trace_string name;
	int64_t timestamp_ns;
};

/* An event, its stats sorted out. Valid until the next one is read. */
struct xread_event {
	trace_string name;
	int64_t begin_ns, end_ns;
	bool is_aggregated;	 /* a sum of many: has no time */
	uint64_t numbers, texts; /* bits of enum xspace_stat: those that are there, by kind */
	union {
		uint64_t number;
		trace_string text;
	} stat[XSPACE_STAT_END];			/* only where there is a bit */
	const struct trace_scope_attribute *attributes; /* all but correlation id and scope */
	uint32_t attribute_count;
};

/* Events that the model has no place for, by why. */
#define XREAD_LEFT_OUT(X)                                                                          \
	X(DERIVED, "events of lines that were derived from the streams")                           \
	X(COUNTER, "events of counter lines")                                                      \
	X(AGGREGATED, "aggregated events, which have no time of their own")                        \
	X(NO_WORK, "events of GPU lines that are neither kernel, copy nor memset")                 \
	X(PLANE, "planes that are neither a GPU nor the host")                                     \
	X(BYTES, "stats that are bytes")                                                           \
	X(META, "stats of an event's name beyond its 64th")                                        \
	X(CYCLE, "scopes said to be inside themselves")

enum xread_left_out {
#define X(name, text) XREAD_LEFT_OUT_##name,
	XREAD_LEFT_OUT(X)
#undef X
		XREAD_LEFT_OUT_COUNT
};

/* A process of a file of ours, by its row: the correlation ids that its events have there. */
struct xread_origin {
	uint64_t base, last;
};

struct xread_load {
	struct trace *trace;
	struct strtab *strings;
	const char *name;
	const uint8_t *bytes;
	size_t size;
	struct dagtap_error *error;
	const struct trace_options *options;

	struct xread_plane *planes;
	uint32_t planes_count;
	bool is_ours;	      /* a recording's: of its rows nothing is kept as an attribute */
	uint64_t start_time;  /* profile_start_time, ns since 1970; 0 = not said */
	int64_t clock_origin; /* ns where lines begin that say nothing else */
	struct xread_origin *origins;
	uint32_t origins_count;
	uint64_t next_scope; /* of the reader's own */
	uint64_t left_out[XREAD_LEFT_OUT_COUNT];

	struct numbers processes; /* by pid */
	struct numbers agents, threads, streams, scopes, apis;
	struct numbers execs, graphs, nodes, launches;
	struct numbers op_texts; /* (name, details) and (agent, kind): rows of text_ops */
	struct numbers op_hashes;
	struct numbers set_hashes;
	uint32_t *text_ops; /* by number in op_texts: index into ops */
	uint32_t text_ops_count;
	struct trace_scope_attribute *attributes; /* of the event being read */
	uint32_t attributes_count;
	struct order_sets activity_sets, call_sets;
};

/* The next field: 1, 0 at the end, -EBADMSG. WHAT is read, for the message. */
int xread_next(struct xread_load *load, struct proto_reader *reader, struct proto_field *ret_field,
	       const char *what);

trace_string xread_text(struct xread_load *load, const struct proto_field *field);

/* The plane's own stats, as those of an event; its maps must have been read. */
int xread_facts(struct xread_load *load, const struct xread_plane *plane,
		struct xread_event *ret_facts);

/* The plane's maps; releases what an earlier call read. */
int xread_metas_read(struct xread_load *load, struct xread_plane *plane);
void xread_metas_release(struct xread_plane *plane);
const struct xread_meta *xread_meta_find(const struct xread_metas *metas, int64_t id);

/* Adds a stat to EVENT, which xread_event_clear emptied. */
int xread_stat_read(struct xread_load *load, const struct xread_plane *plane,
		    struct proto_reader stat, struct xread_event *event);
void xread_event_clear(struct xread_load *load, struct xread_event *event);

/* The set of the event's attributes; 0 if it has none or the file is ours. */
int64_t xread_attribute_set(struct xread_load *load, const struct xread_event *event);

_Static_assert(XSPACE_STAT_END <= 64, "a bit for each stat");

static inline bool xread_has_number(const struct xread_event *event, enum xspace_stat stat)
{
	return event->numbers >> stat & 1;
}

static inline uint64_t xread_number_of(const struct xread_event *event, enum xspace_stat stat)
{
	return xread_has_number(event, stat) ? event->stat[stat].number : 0;
}

/* Others mean no graph by 0. Ours has it where it is not known which graph was launched. */
static inline bool xread_has_exec(const struct xread_load *load, const struct xread_event *event)
{
	return load->is_ours ? xread_has_number(event, XSPACE_STAT_GRAPH_EXEC_ID)
			     : xread_number_of(event, XSPACE_STAT_GRAPH_EXEC_ID) != 0;
}

static inline trace_string xread_text_of(const struct xread_event *event, enum xspace_stat stat)
{
	return event->texts >> stat & 1 ? event->stat[stat].text : 0;
}

/* The plane's lines one by one, with their heads; then a line's events: 1, 0 at the end. */
int xread_line_next(struct xread_load *load, struct xread_plane *plane,
		    struct xread_line *ret_line);
int xread_event_next(struct xread_load *load, struct xread_line *line,
		     struct xread_event *ret_event);

/* A kind of plane each. */
int xread_device(struct xread_load *load, struct xread_plane *plane);
int xread_host(struct xread_load *load, struct xread_plane *plane);
int xread_tree(struct xread_load *load, struct xread_plane *plane);
int xread_recording(struct xread_load *load, struct xread_plane *plane);

/* Of "/device:GPU:1" it is 1. */
uint32_t xread_ordinal(const char *plane);

static inline const char *xread_string(const struct xread_load *load, trace_string string)
{
	return load->strings->strings[string];
}

/* Rows by id, made when they are new: places, or -ENOMEM. */
int64_t xread_process(struct xread_load *load, uint32_t pid);
int64_t xread_agent(struct xread_load *load, uint32_t process, uint32_t ordinal);
int64_t xread_scope(struct xread_load *load, uint32_t process, uint64_t id);
int64_t xread_exec(struct xread_load *load, uint32_t process, uint64_t id, uint32_t graph);
int64_t xread_api(struct xread_load *load, uint32_t process, trace_string name);

/* The scope that the event names, TRACE_NONE if it names none; or -ENOMEM. */
int64_t xread_scope_of(struct xread_load *load, const struct xread_event *event, uint32_t process);

/* The process of an event: by its correlation id, which becomes that process's own; HINT for those
 * that have none, and in other tools' files. */
uint32_t xread_origin_of(const struct xread_load *load, uint32_t hint, uint64_t *cid);

/* The process that a line of ours names, as it does where there are several: "... pid 650...". */
uint32_t xread_line_process(const struct xread_load *load, const struct xread_line *line);

/* What the event's details say: an index into ops, or -ENOMEM. WHERE: its process and agent. */
int64_t xread_op(struct xread_load *load, const struct xread_event *event,
		 enum trace_activity_kind kind, const struct trace_activity *where);

/* The outermost around SCOPE that the file itself names, itself if there is none around it; TRACE_NONE
 * where the chain is absurdly long. */
uint32_t xread_root(const struct xread_load *load, uint32_t scope);

/* Notes the event's attributes beside the last one of COUNT rows. */
int xread_keep_set(struct xread_load *load, const struct xread_event *event, uint32_t count,
		   struct order_sets *sets);

/* When all planes are read: order and joins. */
int xread_join(struct xread_load *load);
int xread_join_graphs(struct xread_load *load);

/* The processes' times, the ledger's line, what was left out. */
int xread_conclude(struct xread_load *load);

#endif
