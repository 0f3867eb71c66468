/* State and functions that the files of the Kineto writer share (docs/format/kineto.md describes
 * the format). kineto.c calls them in order.
 *
 * kineto_deal first distributes the rows to lists, one for each stream and thread. Each list is
 * then written in the order of time, on as many tids as its overlaps need. Threading: a struct
 * kineto belongs to the thread that exports. */
#ifndef DAGTAP_FORMAT_KINETO_WRITER_H
#define DAGTAP_FORMAT_KINETO_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"
#include "format/kineto/kineto_text.h"
#include "format/timeline/timeline.h"

/* Beyond every pid and tid of Linux (at most 2^22). Numbers from here on stand for processes whose
 * pid equals a GPU's number, and for threads without a tid. */
#define KINETO_PID_FIRST 4194305

/* What a GPU's tid shows. The first track of a kind has the tid stream number + kind * track_step;
 * further tracks get new numbers. */
enum kineto_track {
	KINETO_TRACK_WORK,
	KINETO_TRACK_SYNC,
	KINETO_TRACK_SCOPES,
	KINETO_TRACK_UNTIMED
};
#define KINETO_TRACK_COUNT (KINETO_TRACK_UNTIMED + 1)

/* Marks of a call. WORK: the call has an activity with times. WAIT: the call is in
 * waits_of_calls. */
enum kineto_mark { KINETO_MARK_WORK = 1, KINETO_MARK_WAIT = 2 };

/* What a key of an attribute says to Kineto's readers. */
enum kineto_key {
	KINETO_KEY_NOT_ASKED, /* not looked up yet */
	KINETO_KEY_OTHER,
	KINETO_KEY_OWN,	  /* rows have a member of this name themselves */
	KINETO_KEY_DIMS,  /* the shapes of an operator's inputs */
	KINETO_KEY_TYPES, /* their types */
	KINETO_KEY_STRIDES,
	KINETO_KEY_CONCRETE, /* the values of those that are no tensors */
	KINETO_KEY_SEQUENCE, /* number that operators of forward and backward share */
	KINETO_KEY_FUNCTION, /* PyTorch's number of the operator's call */
	KINETO_KEY_MODULE,   /* the class of a module */
	KINETO_KEY_CATEGORY, /* that the row had in another tool's file */
	KINETO_KEY_COUNT
};

/* A string of the trace as JSON, in quotes; made when it is first needed. */
struct kineto_string {
	struct piece quoted;
	uint8_t key; /* enum kineto_key: what the string is as a key of an attribute */
};

struct kineto {
	const struct trace *trace;
	bool is_hta; /* write for HolisticTraceAnalysis (--compat hta) */
	struct kineto_out out;
	struct pieces text; /* the pieces; append only */
	struct pieces row;  /* the rare row that is being written; empty between rows */
	struct timeline timeline;
	uint32_t gpu_total; /* number of GPUs, plus one if a row has no GPU */
	/* by slot: the stream number in the file, from 1; readers take 0 for none */
	uint32_t *slot_numbers;
	bool has_untimed;	       /* an activity has no times */
	uint64_t *call_marks;	       /* two bits for each call: enum kineto_mark */
	struct kineto_string *strings; /* by trace_string */
	struct piece *sets;	       /* by attribute set: its arguments as text */

	/* By call: index + 1 of the wait that the call is; waits_count + index + 1 of the event
	 * record that it is; 0 = neither. NULL if the trace has no waits and records. */
	uint32_t *waits_of_calls;

	/* By scope: of an operator of backward that of forward with its sequence number; of the
	 * latter itself; else TRACE_NONE. NULL if no scope has such a number. */
	uint32_t *forward;

	/* greater than all correlations of calls; stand-ins begin here */
	uint64_t correlation_end;
	/* difference between the tids of a stream's enum kineto_track kinds */
	uint64_t track_step;
	uint64_t next_track;  /* next free tid for a GPU's further tracks */
	uint64_t next_thread; /* next free tid for threads' further tracks */

	/* numbers of the row before */
	struct kineto_near correlations, external_ids, scope_ids;
};

/* Keeps ERROR, if it is the first, in out.error. Does nothing for 0 or more. */
static inline void kineto_fail(struct kineto *kineto, int err)
{
	if (err < 0 && !kineto->out.error)
		kineto->out.error = err;
}

/* HTA joins a call to one kernel only. For it, each activity of a graph launch gets a correlation
 * id of its own and a stand-in row that looks like its launch. */
static inline bool kineto_has_stand_ins(const struct kineto *kineto, const struct trace_call *call)
{
	return kineto->is_hta && call->launch != TRACE_NONE;
}

/* The correlation id of the stand-in of ACTIVITY (an index into trace.activities). */
static inline uint64_t kineto_stand_in(const struct kineto *kineto, uint32_t activity)
{
	return kineto->correlation_end + activity;
}

static inline bool kineto_is_timed(const struct trace_activity *activity)
{
	return activity->untimed == RECORD_UNTIMED_NO;
}

/* Sets a mark of CALL, an index into trace.calls. */
static inline void kineto_mark(struct kineto *kineto, uint32_t call, enum kineto_mark mark)
{
	kineto->call_marks[call / 32] |= (uint64_t)mark << call % 32 * 2;
}

/* The marks of a call: bits of enum kineto_mark. */
static inline unsigned kineto_marks(const struct kineto *kineto, uint32_t call)
{
	return kineto->call_marks[call / 32] >> call % 32 * 2 & 3;
}

/* The "External id" of a scope: its index into trace.scopes + 1. */
static inline uint64_t kineto_external_id(uint32_t scope)
{
	return (uint64_t)scope + 1;
}

/* ---- kineto_deal.c ---- */

/* Chooses all numbers and distributes the rows to lists. KINETO has trace, is_hta and out set and
 * is zero otherwise. Returns 0 or -ENOMEM; the caller calls kineto_undeal in both cases. */
int kineto_deal(struct kineto *kineto);

/* Frees what kineto_deal, kineto_find_waits and kineto_find_forward have allocated, also after one
 * has failed. */
void kineto_undeal(struct kineto *kineto);

/* The pid in the file of a process: its own, or a greater one if a GPU has that number. */
uint64_t kineto_pid(const struct kineto *kineto, uint32_t process);

/* ---- kineto_tracks.c ---- */

/* Chooses the tid of a GPU's track and writes its name and sort index. SLOT is TRACE_NONE for rows
 * of the whole device. LANE is the number of the track among those of the same slot and kind, from
 * 1. Returns the tid. */
uint64_t kineto_name_stream(struct kineto *kineto, uint32_t gpu, uint32_t slot,
			    enum kineto_track kind, unsigned track);

/* The same for a track of a thread; LIST is a list of `calls`. RANGES are on tracks of their
 * own. */
uint64_t kineto_name_thread(struct kineto *kineto, uint32_t list, bool ranges, unsigned track);

/* Writes names, labels and sort indices of all processes and GPUs. */
void kineto_name_processes(struct kineto *kineto);

/* ---- kineto_attributes.c ---- */

/* What KEY says to Kineto's readers; looked up once for each string. */
enum kineto_key kineto_key_of(struct kineto *kineto, trace_string key);

/* Appends COUNT attributes from trace.scope_attributes[FIRST] to kineto->row as JSON members, each
 * with a comma before it. Keys get the names that Kineto's readers know; shapes are JSON lists.
 * Leaves out keys that rows have themselves and later attributes of the same name. */
void kineto_put_attributes(struct kineto *kineto, uint32_t first, uint32_t count);

/* The attribute set NUMBER as a piece of kineto->text. */
struct piece kineto_make_set(struct kineto *kineto, uint32_t number);

/* The arguments that another tool's file states about ROW, as a piece of kineto->text. SETS is the
 * table's column of attribute sets (trace.call_attributes ...), or NULL for none. Each set is
 * formatted once. */
static inline struct piece kineto_find_set(struct kineto *kineto, const uint32_t *sets,
					   uint32_t row)
{
	return sets ? kineto_make_set(kineto, sets[row]) : (struct piece){0};
}

/* ---- kineto_operators.c ---- */

/* The category of a scope's row: "cpu_op" for an operator of a framework, which is known by its
 * shapes and numbers; that of another tool's file; else "user_annotation". */
const char *kineto_scope_category(struct kineto *kineto, uint32_t scope);

/* A row of an activity's stand-in: its node, and its place among those of its launch. */
struct kineto_turn {
	uint32_t node; /* index into trace.nodes, or TRACE_NONE */
	uint32_t activity;
};

/* For HTA: writes rows of the operators in which the nodes of a launch were recorded, each around
 * the stand-ins of its activities. TURNS: the COUNT stand-ins in their order. BEGIN_NS and SHARE:
 * where the first stand-in's share of the launch begins, and the length of each. PLACE: from the
 * pid up to the time. Returns by how many ns a stand-in begins later than its share, and ends
 * earlier, to be inside of its operators. */
uint64_t kineto_put_replayed_operators(struct kineto *kineto, const struct kineto_turn *turns,
				       uint32_t count, int64_t begin_ns, uint64_t share,
				       struct piece place);

/* ---- kineto_forward.c ---- */

/* Sets kineto->forward, which kineto_undeal frees. Returns 0 or -ENOMEM. */
int kineto_find_forward(struct kineto *kineto);

/* Writes at AT the end of an arrow from forward to backward that SCOPE has, if it has one; at most
 * 160 bytes and those of PLACE, the row's text from the pid to the time. Returns the end. */
char *kineto_put_forward_arrow(const struct kineto *kineto, char *at, uint32_t scope,
			       const char *place, size_t place_bytes);

/* ---- kineto_head.c ---- */

struct json;

/* Writes all members before traceEvents into JSON's open object. BASE_NS: wall clock of the file's
 * time 0. RANK: see struct format_options. */
void kineto_put_head(const struct kineto *kineto, uint64_t base_ns, uint32_t rank,
		     struct json *json);

/* Writes the last row, "Record Window End", at the latest end of a process. */
void kineto_put_window_end(struct kineto *kineto);

/* ---- kineto_names.c ---- */

/* A string of the trace as JSON in quotes: a piece of kineto->text, made once. */
struct piece kineto_quoted(struct kineto *kineto, trace_string string);

/* A scope's name, without the attributes that its text contains, as JSON in quotes. */
struct piece kineto_scope_name(struct kineto *kineto, uint32_t scope);

/* The same for the scope's row on the host. For HTA a step is named "ProfilerStep#N" there, and
 * only there: HTA looks up the step of a call in all rows of that name, wherever they are. */
struct piece kineto_host_scope_name(struct kineto *kineto, uint32_t scope);

/* Writes the name by which HTA knows the API function NAME, cut off at SIZE bytes. */
void kineto_hta_name(const char *name, char *ret_name, size_t size);

/* Kineto's name of a copy: "Memcpy HtoD (Host -> Device)". */
const char *kineto_copy_name(enum trace_copy_direction direction);

/* Kineto's short text for a direction: "HtoD"; "" if unknown. */
const char *kineto_copy_kind(enum trace_copy_direction direction);

/* Kineto's name of a wait: "Stream Wait Event". */
const char *kineto_wait_name(enum trace_wait_type type);

/* ---- rows; errors are kept in kineto->out ---- */

void kineto_put_devices(struct kineto *kineto);	    /* kineto_device.c: activities with times */
void kineto_put_untimed(struct kineto *kineto);	    /* kineto_device.c: activities without */
void kineto_put_threads(struct kineto *kineto);	    /* kineto_host.c: calls and scopes */
void kineto_put_waits(struct kineto *kineto);	    /* kineto_waits.c: waits and event records */
void kineto_put_annotations(struct kineto *kineto); /* kineto_annotations.c: annotation rows */

/* ---- kineto_wait_args.c ---- */

/* Fills waits_of_calls and sets KINETO_MARK_WAIT of the calls in it. Call once, after kineto_deal;
 * kineto_undeal frees it. Returns 0 or -ENOMEM. */
int kineto_find_waits(struct kineto *kineto);

/* Writes at AT the arguments of a HIP call with KINETO_MARK_WAIT: about its wait, or about the
 * event that it records. Needs up to 640 bytes; returns the end. */
char *kineto_put_wait_args(const struct kineto *kineto, char *at, uint32_t call);

/* What kineto_put_wait_args reads of CALL, or NULL: for prefetching. A function that prefetches
 * itself has no effect that GCC 12 knows of, so GCC drops the calls of it. */
static inline const void *kineto_find_wait(const struct kineto *kineto, uint32_t call)
{
	const struct trace *trace = kineto->trace;
	uint32_t number;

	if (call == ROWS_NONE || !(kineto_marks(kineto, call) & KINETO_MARK_WAIT))
		return NULL;
	number = kineto->waits_of_calls[call];
	return number > trace->waits_count
		       ? (const void *)&trace->event_records[number - trace->waits_count - 1]
		       : (const void *)&trace->waits[number - 1];
}

#endif
