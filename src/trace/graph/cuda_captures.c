/* Finds captured event records and waits (cuda_captures.h): walks the noted calls in the order of
 * time with the capture rules of trace/graph/captures.h. */
#include "trace/graph/cuda_captures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "record/stream_handles.h"
#include "trace/args.h"
#include "trace/graph/captures.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

#define FLAG_EXTERNAL 1 /* cudaEventRecordExternal, cudaEventWaitExternal */

/* Compares the beginnings of names: later versions of a function, and the variants for per-thread
 * streams, have a suffix (_v2, _ptsz). */
struct cuda_capture_api cuda_capture_api_of(const struct trace *trace, const struct trace_api *api)
{
	static const struct {
		const char *name;
		enum cuda_capture_role role;
	} roles[] = {
		{"StreamBeginCapture", CUDA_CAPTURE_BEGIN},
		{"StreamBeginRecapture", CUDA_CAPTURE_BEGIN},
		{"StreamEndCapture", CUDA_CAPTURE_END},
		{"EventRecord", CUDA_CAPTURE_RECORD},
		{"StreamWaitEvent", CUDA_CAPTURE_WAIT},
		{"GraphAddEventRecordNode", CUDA_CAPTURE_NODE},
		{"GraphEventRecordNodeSetEvent", CUDA_CAPTURE_NODE},
		{"GraphExecEventRecordNodeSetEvent", CUDA_CAPTURE_NODE},
	};
	struct cuda_capture_api result = {
		.stream_word = args_word(trace, api, "stream"),
		.event_word = args_word(trace, api, "event"),
		.flags_word = args_word(trace, api, "flags"),
	};
	const char *name = trace_text(trace, api->name);

	if (api->domain != RECORD_DOMAIN_CUDA ||
	    (result.stream_word == ARGS_NO_WORD && result.event_word == ARGS_NO_WORD))
		return result;
	name += strncmp(name, "cuda", 4) ? strlen("cu") : strlen("cuda");
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strncmp(name, roles[i].name, strlen(roles[i].name)))
			result.role = roles[i].role;
	return result;
}

int cuda_capture_note(struct cuda_captures *captures, const struct cuda_capture_api *api,
		      uint32_t rank, const struct record_api *record)
{
	struct cuda_capture_note *note;

	if (record->result)
		return 0;
	note = table_add((void **)&captures->notes, &captures->count, sizeof(*note));
	if (!note)
		return -ENOMEM;
	*note = (struct cuda_capture_note){
		.stream = args_word_at(record, api->stream_word),
		.event = args_word_at(record, api->event_word),
		.rank = rank,
		.role = api->role,
		.is_external = args_word_at(record, api->flags_word) & FLAG_EXTERNAL,
	};
	return 0;
}

struct capture_walk {
	struct process_load *load;
	const struct cuda_captures *notes;
	struct idset streams, events;
	struct captures captures; /* streams are numbered by rank */
	/* By rank of the event: capture of its last record, 0 = none. */
	uint32_t *event_capture;
	struct sort_row *order; /* notes by the begin of their calls */
};

static const struct trace_call *call_of(const struct process_load *load,
					const struct cuda_capture_note *note)
{
	return &load->trace->calls[load->first.calls + note->rank];
}

/* Key of the stream in the set of streams. The per-thread stream of a thread gets an odd key of its
 * own: no address is odd, and the legacy default stream, whose handle is, cannot be captured. */
static uint64_t stream_key(const struct process_load *load, const struct cuda_capture_note *note)
{
	return note->stream == STREAM_HANDLE_PER_THREAD
		       ? (uint64_t)call_of(load, note)->thread << 1 | 1ull << 63 | 1
		       : note->stream;
}

static int init_walk(struct capture_walk *walk, struct process_load *load)
{
	*walk = (struct capture_walk){.load = load, .notes = &load->cuda.captures};
	walk->order = table_alloc(walk->notes->count, sizeof(*walk->order));
	if (!walk->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < walk->notes->count; i++) {
		const struct cuda_capture_note *note = &walk->notes->notes[i];

		walk->order[i] = (struct sort_row){(uint64_t)call_of(load, note)->begin_ns, i};
		if (idset_add(&walk->streams, stream_key(load, note)) < 0 ||
		    idset_add(&walk->events, note->event) < 0)
			return -ENOMEM;
	}
	if (idset_finish(&walk->streams) < 0 || idset_finish(&walk->events) < 0 ||
	    sort_rows(walk->order, walk->notes->count) < 0)
		return -ENOMEM;
	walk->event_capture = calloc((size_t)walk->events.count + 1, sizeof(*walk->event_capture));
	return walk->event_capture ? captures_init(&walk->captures, walk->streams.count) : -ENOMEM;
}

static void release_walk(struct capture_walk *walk)
{
	idset_release(&walk->streams);
	idset_release(&walk->events);
	captures_release(&walk->captures);
	free(walk->event_capture);
	free(walk->order);
}

static void mark_captured(struct capture_walk *walk, const struct cuda_capture_note *note)
{
	walk->load->cuda.captures.is_captured[note->rank / 64] |= 1ull << note->rank % 64;
}

static int take_note(struct capture_walk *walk, const struct cuda_capture_note *note)
{
	uint32_t stream = idset_find(&walk->streams, stream_key(walk->load, note));
	uint32_t *event = &walk->event_capture[idset_find(&walk->events, note->event)];

	switch ((enum cuda_capture_role)note->role) {
	case CUDA_CAPTURE_BEGIN:
		return captures_begin(&walk->captures, stream);
	case CUDA_CAPTURE_END:
		captures_end(&walk->captures, stream);
		return 0;
	case CUDA_CAPTURE_RECORD:
		if (captures_record(&walk->captures, stream, note->is_external, event))
			mark_captured(walk, note);
		return 0;
	case CUDA_CAPTURE_WAIT:
		if (captures_wait(&walk->captures, stream, note->is_external, *event))
			mark_captured(walk, note);
		return 0;
	case CUDA_CAPTURE_NODE:
	case CUDA_CAPTURE_NONE:
		break;
	}
	return 0;
}

/* The first loop finds captures that began before the recording; the second applies the calls. */
static int walk_calls(struct capture_walk *walk)
{
	int result = 0;

	for (uint32_t i = 0; i < walk->notes->count && result == 0; i++) {
		const struct cuda_capture_note *note = &walk->notes->notes[walk->order[i].index];
		uint32_t stream = idset_find(&walk->streams, stream_key(walk->load, note));

		if (note->role == CUDA_CAPTURE_BEGIN || note->role == CUDA_CAPTURE_END)
			result = captures_foresee(&walk->captures, stream,
						  note->role == CUDA_CAPTURE_END);
	}
	for (uint32_t i = 0; i < walk->notes->count && result == 0; i++)
		result = take_note(walk, &walk->notes->notes[walk->order[i].index]);
	return result;
}

static bool has_captures(const struct cuda_captures *captures)
{
	for (uint32_t i = 0; i < captures->count; i++)
		if (captures->notes[i].role <= CUDA_CAPTURE_END)
			return true;
	return false;
}

static int compare_notes(const void *left, const void *right)
{
	const struct cuda_capture_note *a = left, *b = right;

	return (a->rank > b->rank) - (a->rank < b->rank);
}

int cuda_captures_load(struct process_load *load)
{
	struct cuda_captures *captures = &load->cuda.captures;
	struct capture_walk walk;
	int err;

	if (captures->count)
		qsort(captures->notes, captures->count, sizeof(*captures->notes), compare_notes);
	if (!has_captures(captures))
		return 0;
	captures->is_captured = calloc((size_t)load->raw.cids.count / 64 + 1, sizeof(uint64_t));
	if (!captures->is_captured)
		return -ENOMEM;
	err = init_walk(&walk, load);
	if (err == 0)
		err = walk_calls(&walk);
	release_walk(&walk);
	return err;
}

void cuda_captures_release(struct cuda_captures *captures)
{
	free(captures->notes);
	free(captures->is_captured);
}

uint64_t cuda_event_of_call(const struct process_load *load, uint32_t call)
{
	const struct cuda_captures *captures = &load->cuda.captures;
	struct cuda_capture_note wanted = {.rank = call - load->first.calls};
	const struct cuda_capture_note *found = NULL;

	if (call != TRACE_NONE && captures->count)
		found = bsearch(&wanted, captures->notes, captures->count, sizeof(*captures->notes),
				compare_notes);
	return found ? found->event : 0;
}

bool cuda_is_captured(const struct process_load *load, uint32_t call)
{
	uint32_t rank = call - load->first.calls;

	return call != TRACE_NONE && load->cuda.captures.is_captured &&
	       load->cuda.captures.is_captured[rank / 64] >> rank % 64 & 1;
}
