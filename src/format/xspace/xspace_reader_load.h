/* Internals of the XSpace reader: the state while a file becomes a trace.
 *
 * xspace_reader.c lists the planes and reads them one after the other. xspace_reader_meta.c and
 * xspace_reader_event.c decode names and stats, xspace_reader_device.c and xspace_reader_host.c
 * make rows, and xspace_reader_join.c then sorts the rows into the model's order and joins them.
 * Rows are made by format/import/import.h. The number of a stream is its line's; its space is the
 * agent, or 0 in dagtap's files.
 *
 * Functions that return int return 0 (or what their comment says), or negative errno. For -EBADMSG
 * the failing function has put its line into the caller's error; for other errors xspace_open
 * writes one line at the end. A load belongs to one thread. */
#ifndef DAGTAP_FORMAT_XSPACE_READER_LOAD_H
#define DAGTAP_FORMAT_XSPACE_READER_LOAD_H

#include "base/error_text.h"
#include "format/import/import.h"
#include "format/xspace/xspace.h"
#include "trace/load.h"
#include "wire/proto_reader.h"

/* An entry of a plane's map of event or stat metadata. */
struct xread_meta {
	int64_t id;
	trace_string name;
	/* of a stat that the reader understands, else XSPACE_STAT_NONE */
	enum xspace_stat known;
	/* of event metadata with stats: the whole message; else stats.at is NULL */
	struct proto_reader stats;
};

struct xread_metas {
	struct xread_meta *rows; /* sorted by id as unsigned numbers; owned */
	uint32_t count;
};

struct xread_plane {
	struct proto_reader body;
	/* what xread_line_next has not read yet; the caller starts with `body` */
	struct proto_reader rest;
	trace_string name;
	int64_t id;
	uint64_t pid; /* process_id of the plane's own stats; 0 = none */
	/* index into trace.processes: the owner of rows that do not state their process */
	uint32_t process;
	struct xread_metas stats, events; /* empty until xread_metas_read */
};

struct xread_line {
	const struct xread_plane *plane;
	struct proto_reader body; /* what xread_event_next has not read yet */
	int64_t id;
	trace_string name;
	int64_t timestamp_ns; /* the line's origin: clock_origin plus the file's timestamp */
};

/* An event with its decoded stats. Valid until the next event is read, because the attributes are
 * in xread_load.attributes. */
struct xread_event {
	trace_string name;
	int64_t begin_ns, end_ns;
	bool is_aggregated; /* a sum of many events, which has no time */
	/* which of `stat` are valid, one bit for each enum xspace_stat: integers, and texts */
	uint64_t numbers, texts;
	union {
		uint64_t number;
		trace_string text;
	} stat[XSPACE_STAT_END]; /* by enum xspace_stat */
	/* all stats except correlation id and scope */
	const struct trace_scope_attribute *attributes;
	uint32_t attribute_count;
};

/* Events that the model has no place for, counted by reason. The texts go into the trace's
 * messages. */
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

/* In a file that dagtap wrote, by process: the correlation ids of its events are above `base`, up
 * to `last`. */
struct xread_origin {
	uint64_t base, last;
};

struct xread_load {
	struct import import;
	const char *name;
	const uint8_t *bytes;
	size_t size;
	struct dagtap_error *error;
	const struct trace_options *options;

	struct xread_plane *planes;
	uint32_t planes_count;
	/* dagtap wrote the file: no attribute sets are kept, the rows state everything, and
	 * import.is_complete is set */
	bool is_ours;
	uint64_t start_time;  /* profile_start_time, ns since 1970; 0 = not stated */
	int64_t clock_origin; /* origin in ns of lines without a timestamp */
	struct xread_origin *origins;
	uint32_t origins_count;
	uint64_t next_scope; /* next number for a scope without an id (XSPACE_SCOPE_NUMBERED) */
	uint64_t left_out[XREAD_LEFT_OUT_COUNT];

	struct numbers scopes; /* (process, id) -> index into trace.scopes */
	/* (name, details), (blit kernel, agent, kind) -> index into text_works */
	struct numbers work_texts;
	uint32_t *text_works; /* index into trace.works */
	uint32_t text_works_count;
	struct trace_scope_attribute *attributes; /* of the event that is being read; owned */
	uint32_t attributes_count;
};

/* Reads the next field. Returns 1, 0 at the end, or -EBADMSG. WHAT names the message that is read,
 * for the error. */
int xread_next(struct xread_load *load, struct proto_reader *reader, struct proto_field *ret_field,
	       const char *what);

/* Interns the bytes of a field as a text. */
trace_string xread_text(struct xread_load *load, const struct proto_field *field);

/* Decodes the plane's own stats as if they were an event's. The plane's maps must have been
 * read. */
int xread_facts(struct xread_load *load, const struct xread_plane *plane,
		struct xread_event *ret_facts);

/* Reads the plane's maps into plane->stats and plane->events; releases those of an earlier call.
 * Cost: one scan of the plane, and a sort of each map. */
int xread_metas_read(struct xread_load *load, struct xread_plane *plane);

/* Frees the plane's maps; they are then empty. */
void xread_metas_release(struct xread_plane *plane);

/* The entry with this id, or NULL. Valid until the maps are released. Constant cost if ids are 1,
 * 2, 3, ...; a binary search otherwise. */
const struct xread_meta *xread_meta_find(const struct xread_metas *metas, int64_t id);

/* Decodes a stat and adds it to EVENT, which xread_event_clear has emptied. */
int xread_stat_read(struct xread_load *load, const struct xread_plane *plane,
		    struct proto_reader stat, struct xread_event *event);

/* Empties EVENT, except for its times, and points it at load->attributes. */
void xread_event_clear(struct xread_load *load, struct xread_event *event);

/* The index of the attribute set of the event; 0 if it has no attributes or dagtap wrote the file;
 * -ENOMEM. Equal sets share one row. */
int64_t xread_attribute_set(struct xread_load *load, const struct xread_event *event);

_Static_assert(XSPACE_STAT_END <= 64, "a bit for each stat");

static inline bool xread_has_number(const struct xread_event *event, enum xspace_stat stat)
{
	return event->numbers >> stat & 1;
}

/* The value of a stat, or 0 if the event does not have it. */
static inline uint64_t xread_number_of(const struct xread_event *event, enum xspace_stat stat)
{
	return xread_has_number(event, stat) ? event->stat[stat].number : 0;
}

/* Whether the event states an executable graph. In other tools' files 0 means none; in dagtap's
 * files 0 is an unknown graph that was launched. */
static inline bool xread_has_exec(const struct xread_load *load, const struct xread_event *event)
{
	return load->is_ours ? xread_has_number(event, XSPACE_STAT_GRAPH_EXEC_ID)
			     : xread_number_of(event, XSPACE_STAT_GRAPH_EXEC_ID) != 0;
}

static inline trace_string xread_text_of(const struct xread_event *event, enum xspace_stat stat)
{
	return event->texts >> stat & 1 ? event->stat[stat].text : 0;
}

/* Reads the head of the plane's next line. The caller has set plane->rest to plane->body. Returns
 * 1, 0 at the end, or negative errno. */
int xread_line_next(struct xread_load *load, struct xread_plane *plane,
		    struct xread_line *ret_line);

/* Reads the line's next event with its stats and those of its metadata. Returns 1, 0 at the end,
 * or negative errno. */
int xread_event_next(struct xread_load *load, struct xread_line *line,
		     struct xread_event *ret_event);

/* The following functions read all rows of one kind of plane, whose maps have been read.
 * xread_device: a GPU's plane; adds its agents, streams and activities. */
int xread_device(struct xread_load *load, struct xread_plane *plane);

/* The host's planes: adds threads, calls and scopes, and nests them. */
int xread_host(struct xread_load *load, struct xread_plane *plane);

/* The scope tree: adds scopes and their parents, without cycles. */
int xread_tree(struct xread_load *load, struct xread_plane *plane);

/* dagtap's own plane: adds processes and the ledger, and sets clock_origin. */
int xread_recording(struct xread_load *load, struct xread_plane *plane);

/* The number at the end of a plane's name: 1 for "/device:GPU:1". */
uint32_t xread_ordinal(const char *plane);

static inline const char *xread_string(const struct xread_load *load, trace_string string)
{
	return load->import.strings->strings[string];
}

/* As import_process. */
int64_t xread_process(struct xread_load *load, uint32_t pid);

/* The index into trace.scopes of the scope with this id, which is added when it is new; or
 * -ENOMEM. A new scope is `untimed` until its event is read. */
int64_t xread_scope(struct xread_load *load, uint32_t process, uint64_t id);

/* The index of the scope that the event names, TRACE_NONE if it names none; or -ENOMEM. */
int64_t xread_scope_of(struct xread_load *load, const struct xread_event *event, uint32_t process);

/* The process of an event, found by its correlation id CID, from which the process's base is then
 * subtracted. HINT if CID is 0 or in no process's range, and for other tools' files. */
uint32_t xread_origin_of(const struct xread_load *load, uint32_t hint, uint64_t *cid);

/* The process that a line's name states in dagtap's files of several processes ("... pid 650...");
 * the plane's process otherwise. */
uint32_t xread_line_process(const struct xread_load *load, const struct xread_line *line);

/* The index into trace.works of the work kind that the event's details describe, or -ENOMEM. WHERE
 * gives the process and the agent. */
int64_t xread_work(struct xread_load *load, const struct xread_event *event,
		   enum trace_activity_kind kind, const struct trace_activity *where);

/* After all planes are read: sorts all tables and joins activities with calls. */
int xread_join(struct xread_load *load);

/* Finishes the trace: process times, the ledger's source, messages about what was left out. */
int xread_conclude(struct xread_load *load);

#endif
