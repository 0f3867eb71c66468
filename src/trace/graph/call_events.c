/* Rows of events, their records and waits, from calls (see call_events.h). */
#include "trace/graph/call_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "trace/args.h"
#include "trace/graph/call_event_rows.h"
#include "trace/graph/captures.h"
#include "trace/graph/graph_events.h"
#include "trace/row_table.h"

/* hipError_t values of hipStreamEndCapture after which the capture continues. */
enum { CAPTURE_UNMATCHED = 903, CAPTURE_WRONG_THREAD = 908 };

/* hipEventRecordExternal and hipEventWaitExternal. */
#define FLAG_EXTERNAL 1

/* Returns NULL when out of memory. */
static struct call_event_note *add_note(struct call_event_notes *notes, enum call_event_role role,
					uint32_t rank, uint64_t event)
{
	struct call_event_note *note =
		table_add((void **)&notes->rows, &notes->count, sizeof(*note));

	if (!note)
		return NULL;
	*note = (struct call_event_note){
		.event = event,
		.rank = rank,
		.event_row = TRACE_NONE,
		.producer = TRACE_NONE,
		.row = TRACE_NONE,
		.node = TRACE_NONE,
		.role = role,
	};
	return note;
}

/* A call that failed has no effect. Exception: most failures of hipStreamEndCapture end the
 * capture. */
static bool has_effect(enum call_event_role role, int32_t result)
{
	return result == 0 || (role == CALL_EVENT_CAPTURE_END && result != CAPTURE_UNMATCHED &&
			       result != CAPTURE_WRONG_THREAD);
}

int call_event_note(struct call_event_notes *notes, const struct call_event_api *api, uint32_t rank,
		    const struct record_api *record)
{
	uint64_t event = args_word_at(record, api->word);
	uint64_t stop = args_word_at(record, api->stop_word);
	struct call_event_note *note;

	if (!has_effect(api->role, record->result))
		return 0;
	if (event || api->role >= CALL_EVENT_WAIT_STREAM) {
		note = add_note(notes, api->role, rank, event);
		if (!note)
			return -ENOMEM;
		note->is_external = args_word_at(record, api->flags_word) & FLAG_EXTERNAL;
		note->context = (uint32_t)args_word_at(record, api->context_word);
	}
	return stop && !add_note(notes, CALL_EVENT_RECORD_STOP, rank, stop) ? -ENOMEM : 0;
}

/* Adds notes for the events that the nodes of launched graphs record. */
static int note_replays(struct process_load *load)
{
	struct graph_events events;
	int err = graph_events_find(load, &events);

	for (uint32_t i = 0; i < events.count && err == 0; i++) {
		const struct graph_event *row = &events.rows[i];
		struct call_event_note *note =
			add_note(&load->call_events,
				 row->event ? CALL_EVENT_RECORD_NODE : CALL_EVENT_RECORD_MAYBE,
				 row->call - load->first.calls, row->event);

		if (note)
			note->node = row->node;
		else
			err = -ENOMEM;
	}
	graph_events_release(&events);
	return err;
}

/* ---- the walk, in the order in which the calls took effect ---- */

/* The event that a handle currently stands for. */
struct event_life {
	uint32_t generations; /* number of events that had the handle, this one included */
	uint32_t row;	      /* index into the walk's events; TRACE_NONE = not used yet */
	uint32_t record;      /* note of its last record; TRACE_NONE = none */
	uint32_t capture;     /* capture that the last record belongs to, 0 = none */
	uint32_t turn;	      /* the walk's turn in which it was created or recorded last */
	bool is_there;
	bool is_complete; /* created during the recording, so no record of it is missing */
	bool is_foreign;
	bool is_exported;
};

struct event_walk {
	struct process_load *load;
	struct idset handles;
	struct event_life *lives; /* by rank of the handle */
	struct captures captures; /* by stream, from first.streams */
	bool has_losses;
	uint32_t turn;	     /* number of notes taken, this one included */
	uint32_t doubt_turn; /* turn in which any event may have been recorded, 0 = never */
	struct trace_event *events;
	struct call_event_counts count;
};

/* CUDA's events are numbered, from 1, as CUPTI numbers them. */
static bool is_cuda(const struct process_load *load, const struct call_event_note *note)
{
	const struct trace *trace = load->trace;

	return trace->apis[call_event_call(load, note)->api].domain == RECORD_DOMAIN_CUDA;
}

static struct event_life *life_of(struct event_walk *walk, const struct call_event_note *note)
{
	return &walk->lives[idset_find(&walk->handles, note->event)];
}

static void begin_life(const struct event_walk *walk, struct event_life *life, bool is_complete)
{
	*life = (struct event_life){
		.turn = walk->turn,
		.generations = life->generations + 1,
		.row = TRACE_NONE,
		.record = TRACE_NONE,
		.is_there = true,
		.is_complete = is_complete,
	};
}

/* The event of a handle that is used. It may have been created before the recording; but a
 * process's first recording of CUDA began with its first use of CUDA. */
static struct event_life *used_life(struct event_walk *walk, const struct call_event_note *note)
{
	const struct process_load *load = walk->load;
	struct event_life *life = life_of(walk, note);

	if (!life->is_there)
		begin_life(walk, life,
			   is_cuda(load, note) && !load->trace->processes[load->process].session);
	return life;
}

static int give_row(struct event_walk *walk, struct event_life *life, struct call_event_note *note)
{
	struct trace_event *row;

	if (life->row == TRACE_NONE) {
		row = table_add((void **)&walk->events, &walk->count.events, sizeof(*row));
		if (!row)
			return -ENOMEM;
		*row = (struct trace_event){
			.process = walk->load->process,
			.handle = note->event,
			.generation = life->generations - 1,
			.is_foreign = life->is_foreign,
		};
		if (is_cuda(walk->load, note)) {
			row->handle = walk->count.events;
			row->generation = 0;
		}
		life->row = walk->count.events - 1;
	}
	note->event_row = life->row;
	return 0;
}

/* Stream of the note's call, from first.streams; TRACE_NONE if it has none. */
static uint32_t stream_of(const struct event_walk *walk, const struct call_event_note *note)
{
	uint32_t stream = call_event_call(walk->load, note)->stream;

	return stream == TRACE_NONE ? TRACE_NONE : stream - walk->load->first.streams;
}

static int take_record(struct event_walk *walk, uint32_t at)
{
	struct call_event_note *note = &walk->load->call_events.rows[at];
	struct event_life *life = used_life(walk, note);
	bool is_node = note->is_external || note->role == CALL_EVENT_RECORD_NODE;

	if (cuda_is_captured(walk->load, walk->load->first.calls + note->rank) ||
	    captures_record(&walk->captures, stream_of(walk, note), is_node, &life->capture))
		return 0;
	life->record = at;
	life->turn = walk->turn;
	note->row = walk->count.records++;
	return give_row(walk, life, note);
}

/* Sets which record a wait that is called now is for. */
static void resolve(const struct event_walk *walk, const struct event_life *life,
		    struct call_event_note *wait)
{
	const struct process_load *load = walk->load;
	bool is_sure = !walk->has_losses && !life->is_exported && life->turn > walk->doubt_turn;

	if (life->is_foreign)
		return;
	if (life->record == TRACE_NONE) {
		/* A wait for an event without a record does not wait. */
		wait->known = life->is_complete && is_sure ? TRACE_KNOWN_ORDER : TRACE_KNOWN_NOT;
		return;
	}
	wait->producer = life->record;
	if (call_event_call(load, &load->call_events.rows[life->record])->end_ns >
	    call_event_call(load, wait)->begin_ns)
		is_sure = false;
	wait->known = is_sure ? TRACE_KNOWN_ORDER : TRACE_KNOWN_LIKELY;
}

static int take_event_wait(struct event_walk *walk, struct call_event_note *note)
{
	struct event_life *life = used_life(walk, note);

	if (note->role == CALL_EVENT_STREAM_WAIT &&
	    (cuda_is_captured(walk->load, walk->load->first.calls + note->rank) ||
	     captures_wait(&walk->captures, stream_of(walk, note), note->is_external,
			   life->capture)))
		return 0;
	resolve(walk, life, note);
	note->row = walk->count.waits++;
	return give_row(walk, life, note);
}

static int take_note(struct event_walk *walk, uint32_t at)
{
	struct call_event_note *note = &walk->load->call_events.rows[at];

	walk->turn++;
	switch ((enum call_event_role)note->role) {
	case CALL_EVENT_CREATE:
	case CALL_EVENT_OPEN:
		begin_life(walk, life_of(walk, note), true);
		life_of(walk, note)->is_foreign = note->role == CALL_EVENT_OPEN;
		return 0;
	case CALL_EVENT_EXPORT:
		used_life(walk, note)->is_exported = true;
		return 0;
	case CALL_EVENT_DESTROY:
		used_life(walk, note)->is_there = false;
		return 0;
	case CALL_EVENT_RECORD:
	case CALL_EVENT_RECORD_START:
	case CALL_EVENT_RECORD_STOP:
	case CALL_EVENT_RECORD_NODE:
		return take_record(walk, at);
	case CALL_EVENT_RECORD_MAYBE:
		walk->doubt_turn = walk->turn;
		return 0;
	case CALL_EVENT_STREAM_WAIT:
	case CALL_EVENT_WAIT:
		return take_event_wait(walk, note);
	case CALL_EVENT_WAIT_STREAM:
	case CALL_EVENT_WAIT_DEVICE:
		note->row = walk->count.waits++;
		return 0;
	case CALL_EVENT_CAPTURE_BEGIN:
		return captures_begin(&walk->captures, stream_of(walk, note));
	case CALL_EVENT_CAPTURE_END:
	case CALL_EVENT_STREAM_GONE:
		captures_end(&walk->captures, stream_of(walk, note));
		return 0;
	case CALL_EVENT_NONE:
		break;
	}
	return 0;
}

/* Finds the streams that were captured when the recording began. */
static int foresee_captures(struct event_walk *walk, const struct sort_row *order)
{
	int err = 0;

	for (uint32_t i = 0; i < walk->load->call_events.count && err == 0; i++) {
		const struct call_event_note *note = &walk->load->call_events.rows[order[i].index];
		bool is_end = note->role == CALL_EVENT_CAPTURE_END &&
			      call_event_call(walk->load, note)->result == 0;

		if (is_end || note->role == CALL_EVENT_CAPTURE_BEGIN)
			err = captures_foresee(&walk->captures, stream_of(walk, note), is_end);
	}
	return err;
}

static int init_walk(struct event_walk *walk, struct process_load *load)
{
	*walk = (struct event_walk){
		.load = load,
		.has_losses = load_has_losses(load, RECORD_CLASS_API) ||
			      load_has_losses(load, RECORD_CLASS_GRAPH),
	};
	for (uint32_t i = 0; i < load->call_events.count; i++)
		if (load->call_events.rows[i].event &&
		    idset_add(&walk->handles, load->call_events.rows[i].event) < 0)
			return -ENOMEM;
	if (idset_finish(&walk->handles) < 0)
		return -ENOMEM;
	walk->lives = calloc((size_t)walk->handles.count + 1, sizeof(*walk->lives));
	if (!walk->lives)
		return -ENOMEM;
	return captures_init(&walk->captures, load->trace->streams_count - load->first.streams);
}

static void release_walk(struct event_walk *walk)
{
	idset_release(&walk->handles);
	free(walk->lives);
	captures_release(&walk->captures);
	free(walk->events);
}

/* The low bits tell the nodes of one launch apart. */
static uint64_t note_key(const struct call_event_note *note)
{
	return (uint64_t)note->rank << 32 | (uint64_t)note->role << 24 | (note->node & 0xffffff);
}

/* The calls of a single thread come in order. */
static bool are_sorted(const struct call_event_notes *notes)
{
	for (uint32_t i = 1; i < notes->count; i++)
		if (note_key(&notes->rows[i - 1]) >= note_key(&notes->rows[i]))
			return false;
	return true;
}

/* Sorts the notes by call. Only a damaged file has several notes with one call and role; one
 * stays. */
static int sort_notes(struct call_event_notes *notes, struct sort_row *order)
{
	struct call_event_note *sorted;
	uint32_t count = 0;

	if (are_sorted(notes))
		return 0;
	for (uint32_t i = 0; i < notes->count; i++)
		order[i] = (struct sort_row){note_key(&notes->rows[i]), i};
	sorted = table_alloc(notes->count, sizeof(*sorted));
	if (!sorted || sort_rows(order, notes->count) < 0) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < notes->count; i++)
		if (i == 0 || order[i].key != order[i - 1].key)
			sorted[count++] = notes->rows[order[i].index];
	free(notes->rows);
	*notes = (struct call_event_notes){sorted, count};
	return 0;
}

/* The order in which calls took effect: an event exists once the call that creates it has returned;
 * other calls count from their entry. */
static int order_notes(const struct process_load *load, struct sort_row *order)
{
	for (uint32_t i = 0; i < load->call_events.count; i++) {
		const struct call_event_note *note = &load->call_events.rows[i];
		const struct trace_call *call = call_event_call(load, note);
		bool is_made = note->role == CALL_EVENT_CREATE || note->role == CALL_EVENT_OPEN;

		order[i] =
			(struct sort_row){(uint64_t)(is_made ? call->end_ns : call->begin_ns), i};
	}
	return sort_rows(order, load->call_events.count);
}

/* Marks waits of streams as uncertain if the event was recorded again while the wait was being
 * called: the wait may be for that record. A wait of the host is for what was recorded when its
 * call began, however long it takes. */
static int doubt_waits(struct event_walk *walk, const struct sort_row *order)
{
	struct process_load *load = walk->load;
	/* By event: begin of the next record's call, ns. */
	int64_t *next_record = table_alloc(walk->count.events, sizeof(*next_record));
	int64_t next_doubt = INT64_MAX;

	if (!next_record)
		return -ENOMEM;
	for (uint32_t i = 0; i < walk->count.events; i++)
		next_record[i] = INT64_MAX;
	for (uint32_t i = load->call_events.count; i-- > 0;) {
		struct call_event_note *note = &load->call_events.rows[order[i].index];
		const struct trace_call *call = call_event_call(load, note);
		int64_t *next;

		if (note->role == CALL_EVENT_RECORD_MAYBE)
			next_doubt = call->begin_ns;
		if (note->row == TRACE_NONE || note->event_row == TRACE_NONE)
			continue;
		next = &next_record[note->event_row];
		if (call_event_is_record(note))
			*next = call->begin_ns;
		else if (note->role == CALL_EVENT_STREAM_WAIT &&
			 (*next < call->end_ns || next_doubt < call->end_ns) &&
			 note->known == TRACE_KNOWN_ORDER)
			note->known =
				note->producer == TRACE_NONE ? TRACE_KNOWN_NOT : TRACE_KNOWN_LIKELY;
	}
	free(next_record);
	return 0;
}

static int load_rows(struct process_load *load, struct sort_row *order)
{
	struct event_walk walk;
	int result = init_walk(&walk, load);

	if (result == 0)
		result = order_notes(load, order);
	if (result == 0)
		result = foresee_captures(&walk, order);
	for (uint32_t i = 0; i < load->call_events.count && result == 0; i++)
		result = take_note(&walk, order[i].index);
	if (result == 0)
		result = doubt_waits(&walk, order);
	if (result == 0)
		result = call_event_rows_make(load, &walk.count, walk.events);
	release_walk(&walk);
	return result;
}

int call_events_load(struct process_load *load)
{
	struct call_event_notes *notes = &load->call_events;
	struct sort_row *order;
	int err = 0;

	if (load->without_waits)
		return 0;
	if (!cuda_is_there(&load->cuda) || load->cuda.waits_from_calls)
		err = note_replays(load);
	if (err < 0 || !notes->count)
		return err;
	order = table_alloc(notes->count, sizeof(*order));
	err = order ? sort_notes(notes, order) : -ENOMEM;
	if (err == 0)
		err = load_rows(load, order);
	free(order);
	free(notes->rows);
	*notes = (struct call_event_notes){0};
	return err;
}
