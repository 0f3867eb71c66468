/* The locations of threads in an OTF2 archive, with calls and scopes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"
#include "format/otf2/otf2_add.h"
#include "format/words.h"

#define NAME_CHARS 256

/* The regions that are open on a location. */
struct open_regions {
	struct open_region {
		int64_t end_ns;
		uint32_t region;
	} * rows;
	size_t count, room;
};

/* Writes the ends of the regions that end until NS, the innermost first. */
static void leave_until(struct otf2 *otf2, OTF2_EvtWriter *events, struct open_regions *open,
			int64_t ns)
{
	while (open->count && open->rows[open->count - 1].end_ns <= ns) {
		const struct open_region *row = &open->rows[--open->count];

		otf2_check(otf2, OTF2_EvtWriter_Leave(events, NULL, otf2_time(otf2, row->end_ns),
						      row->region));
	}
}

static void enter(struct otf2 *otf2, OTF2_EvtWriter *events, struct open_regions *open,
		  struct rows_time time, uint32_t region)
{
	if (table_reserve((void **)&open->rows, &open->room, open->count + 1, sizeof(*open->rows)) <
	    0) {
		otf2->err = -ENOMEM;
		return;
	}
	open->rows[open->count++] = (struct open_region){time.end_ns, region};
	otf2_check(otf2, OTF2_EvtWriter_Enter(events, otf2->attributes,
					      otf2_time(otf2, time.begin_ns), region));
}

static uint32_t find_domain(struct otf2 *otf2, enum record_domain domain)
{
	static const char *const words[] = {
		[RECORD_DOMAIN_HIP] = "hip",
		[RECORD_DOMAIN_HSA] = "hsa",
		[RECORD_DOMAIN_CUDA] = "cuda",
		[RECORD_DOMAIN_RCCL] = "rccl",
	};
	bool is_known = domain < sizeof(words) / sizeof(words[0]) && words[domain];

	return otf2_word(otf2, OTF2_WORD_DOMAIN + (is_known ? domain : 0),
			 is_known ? words[domain] : "call");
}

static OTF2_Paradigm paradigm_of(enum record_domain domain)
{
	return domain == RECORD_DOMAIN_CUDA ? OTF2_PARADIGM_CUDA : OTF2_PARADIGM_HIP;
}

static uint32_t add_call(struct otf2 *otf2, uint32_t row)
{
	const struct trace *trace = otf2->trace;
	const struct trace_call *call = &trace->calls[row];
	enum record_domain domain = trace_domain_of(trace, call);

	otf2_add_string(otf2, OTF2_ATTRIBUTE_CATEGORY, find_domain(otf2, domain));
	otf2_add_u64(otf2, OTF2_ATTRIBUTE_CID, call->cid);
	if (call->launch != TRACE_NONE) {
		uint32_t graph = trace->execs[trace->launches[call->launch].exec].graph;

		if (graph != TRACE_NONE)
			otf2_add_u64(otf2, OTF2_ATTRIBUTE_GRAPH, trace->graphs[graph].id);
		otf2_add_launch(otf2, &trace->launches[call->launch]);
	}
	if (call->stream != TRACE_NONE)
		otf2_add_u32(otf2, OTF2_ATTRIBUTE_STREAM, trace->streams[call->stream].ordinal);
	if (call->result)
		otf2_check(otf2, OTF2_AttributeList_AddInt32(otf2->attributes,
							     OTF2_ATTRIBUTE_RESULT, call->result));
	return otf2_region(otf2, OTF2_CALLS, trace->apis[call->api].name, paradigm_of(domain));
}

static uint32_t add_scope_row(struct otf2 *otf2, uint32_t row)
{
	const struct trace_scope *scope = &otf2->trace->scopes[row];

	otf2_add_string(otf2, OTF2_ATTRIBUTE_CATEGORY, otf2_word(otf2, OTF2_WORD_SCOPE, "scope"));
	otf2_add_u64(otf2, OTF2_ATTRIBUTE_SCOPE_ID, scope->id);
	return otf2_region(otf2, OTF2_SCOPES, scope->name ? scope->name : scope->text,
			   OTF2_PARADIGM_USER);
}

static void put_track(struct otf2 *otf2, OTF2_EvtWriter *events, struct tracks *tracks,
		      struct open_regions *open)
{
	const struct trace *trace = otf2->trace;

	while (otf2_ok(otf2) && tracks_next(tracks)) {
		struct rows_time time = tracks->table == TRACK_CALLS
						? timeline_call_time(trace->calls, tracks->row)
						: timeline_scope_time(trace->scopes, tracks->row);
		uint32_t region;

		leave_until(otf2, events, open, time.begin_ns);
		region = tracks->table == TRACK_CALLS ? add_call(otf2, tracks->row)
						      : add_scope_row(otf2, tracks->row);
		enter(otf2, events, open, time, region);
	}
	leave_until(otf2, events, open, INT64_MAX);
}

static void name_thread(const struct trace *trace, uint32_t thread, char name[NAME_CHARS])
{
	const char *text;

	if (thread >= trace->threads_count) {
		snprintf(name, NAME_CHARS, "no thread");
		return;
	}
	text = trace_text(trace, trace->threads[thread].name);
	snprintf(name, NAME_CHARS, "thread %" PRIu32 "%s%.200s", trace->threads[thread].tid,
		 *text ? ", " : "", text);
}

/* Writes the tracks of a thread: its calls and scopes, or its ranges. Rows that do not nest are on
 * further locations. */
static void put_thread(struct otf2 *otf2, uint32_t thread, bool ranges, struct open_regions *open)
{
	struct tracks tracks = timeline_thread_open(&otf2->timeline, thread, ranges, &otf2->nest);
	uint32_t process = timeline_thread_process(&otf2->timeline, thread);
	char stem[NAME_CHARS], name[NAME_CHARS + 32];

	name_thread(otf2->trace, thread, stem);
	while (otf2_ok(otf2) && tracks_begin(&tracks)) {
		OTF2_EvtWriter *events = otf2_begin_location(otf2);

		if (!events)
			return;
		put_track(otf2, events, &tracks, open);
		snprintf(name, sizeof(name), "%s%s", stem, ranges ? ", ranges" : "");
		if (tracks.number > 1)
			snprintf(name, sizeof(name), "%s%s %u", stem,
				 ranges ? ", ranges" : ", overlapping",
				 ranges ? tracks.number : tracks.number - 1);
		otf2_end_location(otf2, events, name, OTF2_LOCATION_TYPE_CPU_THREAD, process);
	}
	if (tracks.error)
		otf2->err = tracks.error;
}

void otf2_put_threads(struct otf2 *otf2)
{
	struct open_regions open = {0};

	timeline_deal_calls(&otf2->timeline);
	timeline_deal_scopes(&otf2->timeline, true);
	for (uint32_t thread = 0; thread < otf2->timeline.threads; thread++) {
		put_thread(otf2, thread, false, &open);
		put_thread(otf2, thread, true, &open);
	}
	free(open.rows);
}
