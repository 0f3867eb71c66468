/* The state of an export to OTF2 (docs/format/otf2.md), and its definitions.
 *
 * Definitions are numbered from 0 in the order in which they are first used, and written to the
 * global definitions at once; what is written refers only to what was written before. Locations
 * are written one after the other, so that libotf2 holds the events of one at a time.
 *
 * Threading: a struct otf2 belongs to one thread. */
#ifndef DAGTAP_FORMAT_OTF2_H
#define DAGTAP_FORMAT_OTF2_H

#include <otf2/otf2.h>

#include "base/error_text.h"
#include "base/numbers.h"
#include "format/tables/tables.h"
#include "format/timeline/timeline.h"

/* X(name, text, type): the attributes of events. Their names are those of the tables' columns. */
#define OTF2_ATTRIBUTES(X)                                                                         \
	X(CATEGORY, "category", STRING)                                                            \
	X(CID, "cid", UINT64)                                                                      \
	X(GRAPH, "graph", UINT64)                                                                  \
	X(EXEC, "exec", UINT64)                                                                    \
	X(REPLAY, "replay", UINT64)                                                                \
	X(NODE, "node", UINT32)                                                                    \
	X(CONFIDENCE, "confidence", STRING)                                                        \
	X(SCOPE, "scope", STRING)                                                                  \
	X(SCOPE_ID, "scope_id", UINT64)                                                            \
	X(BYTES, "bytes", UINT64)                                                                  \
	X(STREAM, "stream", UINT32)                                                                \
	X(RESULT, "result", INT32)                                                                 \
	X(UNTIMED, "untimed", STRING)

enum otf2_attribute {
#define X(name, text, type) OTF2_ATTRIBUTE_##name,
	OTF2_ATTRIBUTES(X)
#undef X
};

/* What a region stands for: texts of each kind have regions of their own. */
enum otf2_region_kind { OTF2_KERNELS, OTF2_CALLS, OTF2_SCOPES, OTF2_REGION_KINDS };

/* Texts that many events have and that are no strings of the trace. */
enum otf2_word_kind {
	OTF2_WORD_ACTIVITY = 0,	   /* and an enum trace_activity_kind */
	OTF2_WORD_DOMAIN = 8,	   /* and an enum record_domain */
	OTF2_WORD_CONFIDENCE = 24, /* and an enum trace_confidence */
	OTF2_WORD_UNTIMED = 32,	   /* and an enum record_untimed */
	OTF2_WORD_SCOPE = 63,
	OTF2_WORDS
};

/* Places where a number is kept when it is known: 0 = not yet, else the number and 1. */
struct otf2 {
	const struct trace *trace; /* borrowed */
	struct timeline timeline;
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_AttributeList *attributes;
	struct table_buffer clean;
	struct rows_nest nest; /* of the thread that is being written */
	uint32_t *regions;     /* by kind and string; after them copies, by direction, and memset */
	uint32_t *paths;       /* by scope: the string of its path */
	uint32_t *groups;      /* by process and GPU, its location group */
	uint32_t words[OTF2_WORDS];
	struct numbers strings; /* by the hash of their text */
	uint32_t regions_count, groups_count;
	uint64_t locations_count;
	int64_t base_ns; /* subtracted from all times; 0 unless a time is negative */
	OTF2_ErrorCode failed;
	int err; /* the first error; sticks. 0 or negative errno */
};

/* Keeps RESULT if it is the first failure. */
static inline void otf2_check(struct otf2 *otf2, OTF2_ErrorCode result)
{
	if (__builtin_expect(result != OTF2_SUCCESS, 0) && otf2->failed == OTF2_SUCCESS)
		otf2->failed = result;
}

static inline bool otf2_ok(const struct otf2 *otf2)
{
	return otf2->failed == OTF2_SUCCESS && otf2->err == 0;
}

static inline OTF2_TimeStamp otf2_time(const struct otf2 *otf2, int64_t ns)
{
	return (OTF2_TimeStamp)((uint64_t)ns - (uint64_t)otf2->base_ns);
}

/* These give the number of a definition in the archive, and write the definition when it is used
 * first. An error is in otf2->failed or otf2->err; the number is then of no use. */

/* Of a string; bytes of TEXT that are no UTF-8 are replaced. */
uint32_t otf2_string(struct otf2 *otf2, const char *text);

/* Of the string TEXT, without a search: WORD always comes with the same TEXT. */
uint32_t otf2_word(struct otf2 *otf2, unsigned word, const char *text);

/* Of the region of a call, a scope or a kernel called NAME, an index into the trace's strings. */
uint32_t otf2_region(struct otf2 *otf2, enum otf2_region_kind kind, trace_string name,
		     OTF2_Paradigm paradigm);

/* Of the region of an activity: one for each name of a kernel and each direction of copies, and one
 * for memsets. */
uint32_t otf2_work_region(struct otf2 *otf2, const struct trace_activity *activity);

/* Of the string with the path of SCOPE, which is not TRACE_NONE. */
uint32_t otf2_path(struct otf2 *otf2, uint32_t scope);

/* Writes the definitions that all archives have: clock, paradigms, attributes, machines, and a
 * location group for each process, whose number is the process's. */
void otf2_put_head(struct otf2 *otf2);

/* The location group of the GPU for the process; GPU may be timeline.gpus.host. */
uint32_t otf2_accelerator(struct otf2 *otf2, uint32_t process, uint32_t gpu);

/* Writes all locations with their events. */
void otf2_put_threads(struct otf2 *otf2);
void otf2_put_streams(struct otf2 *otf2);

/* Begins a location: opens its events. NULL after an error. */
OTF2_EvtWriter *otf2_begin_location(struct otf2 *otf2);

/* Ends the location that was begun last, and writes its definition. */
void otf2_end_location(struct otf2 *otf2, OTF2_EvtWriter *events, const char *name,
		       OTF2_LocationType type, uint32_t group);

#endif
