/* Takes waits and event records as the file states them: in rows of cuda_sync and cuda_event,
 * and in the hip_* args of HIP's calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_reader_load.h"
#include "format/words.h"
#include "trace/row_table.h"

/* How the producer of a wait is known: dagtap's files state it; other tools' files only name the
 * producer. */
static enum trace_known known_of(const struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	const char *text;

	if (!kread_has(event, KREAD_KNOWN_BY) ||
	    kread_arg(event, KREAD_KNOWN_BY)->kind != RECORD_ATTRIBUTE_TEXT)
		return TRACE_KNOWN_FILE;
	text = kread_string(load, kread_arg(event, KREAD_KNOWN_BY)->value.text);
	for (int known = TRACE_KNOWN_NUMBER; known < TRACE_KNOWN_FILE; known++) {
		if (!strcmp(text, words_known((enum trace_known)known)))
			return (enum trace_known)known;
	}
	return TRACE_KNOWN_FILE;
}

/* Adds a kread_sync with what rows of all kinds state. NULL if there is no memory. */
static struct kread_sync *add_sync(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t cid = kread_int_or(load, event, KREAD_CORRELATION, 0);
	int64_t device = kread_int_or(load, event, KREAD_DEVICE, -1);
	struct kread_sync *row =
		table_add((void **)&load->syncs, &load->syncs_count, sizeof(*load->syncs));

	if (!row)
		return NULL;
	*row = (struct kread_sync){
		.cid = cid > 0 ? (uint64_t)cid : 0,
		.begin_ns = event->begin_ns,
		.end_ns = event->begin_ns + event->duration_ns,
		.stream = kread_int_or(load, event, KREAD_STREAM, KREAD_NO_STREAM),
		.record_stream = kread_int_or(load, event, KREAD_WAIT_ON_STREAM, KREAD_NO_STREAM),
		.process = TRACE_NONE,
		.device = device >= 0 && device < KREAD_NO_DEVICE ? (uint32_t)device
								  : KREAD_NO_DEVICE,
		.context = (uint32_t)kread_int_or(load, event, KREAD_CONTEXT, 0),
		.known = known_of(load),
	};
	row->event_context = row->context;
	return row;
}

static void take_record_cid(const struct kread_load *load, enum kread_word word,
			    struct kread_sync *row)
{
	int64_t cid = kread_int_or(load, &load->event, word, -1);

	if (cid > 0)
		row->record_cid = (uint64_t)cid;
}

/* Sets the event of ROW; -1 means no event. */
static void take_event_id(const struct kread_load *load, enum kread_word word,
			  struct kread_sync *row)
{
	int64_t id;

	if (kread_int(load, &load->event, word, &id) && id != -1) {
		row->event = (uint64_t)id;
		row->has_event = true;
	}
}

static enum trace_wait_type type_of(const char *text)
{
	static const struct {
		const char *text;
		enum trace_wait_type type;
	} kinds[] = {
		{"Event Sync", TRACE_WAIT_EVENT},
		{"Stream Wait Event", TRACE_WAIT_STREAM_EVENT},
		{"Stream Sync", TRACE_WAIT_STREAM},
		{"Context Sync", TRACE_WAIT_DEVICE},
		{"EventSynchronize", TRACE_WAIT_EVENT},
		{"StreamWaitEvent", TRACE_WAIT_STREAM_EVENT},
		{"StreamSynchronize", TRACE_WAIT_STREAM},
		{"DeviceSynchronize", TRACE_WAIT_DEVICE},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strstr(text, kinds[i].text))
			return kinds[i].type;
	}
	return TRACE_WAIT_UNKNOWN;
}

/* The other args of a cuda_sync row only say where it is drawn. */
int kread_take_sync(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	struct kread_sync *row = add_sync(load);
	const char *kind = kread_string(load, event->name);

	if (!row)
		return -ENOMEM;
	if (kread_has(event, KREAD_SYNC_KIND) &&
	    kread_arg(event, KREAD_SYNC_KIND)->kind == RECORD_ATTRIBUTE_TEXT)
		kind = kread_string(load, kread_arg(event, KREAD_SYNC_KIND)->value.text);
	row->type = type_of(kind);
	take_record_cid(load, KREAD_WAIT_ON_RECORD, row);
	take_event_id(load, KREAD_WAIT_ON_EVENT, row);
	return 0;
}

int kread_take_event_record(struct kread_load *load)
{
	struct kread_sync *row;

	if (kread_int_or(load, &load->event, KREAD_CORRELATION, 0) <= 0) {
		load->left_out[KREAD_LEFT_OUT_RECORD]++;
		return 0;
	}
	row = add_sync(load);
	if (!row)
		return -ENOMEM;
	row->is_record = true;
	row->is_untimed = kread_has(&load->event, KREAD_UNTIMED);
	take_event_id(load, KREAD_EVENT_ID, row);
	return 0;
}

#define HIP_ARGS                                                                                   \
	(KREAD_ARG(KREAD_HIP_EVENT) | KREAD_ARG(KREAD_HIP_STREAM) | KREAD_ARG(KREAD_SYNC_TYPE) |   \
	 KREAD_ARG(KREAD_WAIT_ON_HIP_EVENT) | KREAD_ARG(KREAD_WAIT_ON_HIP_RECORD))

/* A call that has the args but whose name is neither a wait's nor a record's keeps them as
 * attributes only. */
int kread_take_hip_call(struct kread_load *load, uint32_t process)
{
	const struct kread_event *event = &load->event;
	const char *name = kread_string(load, event->name);
	enum trace_wait_type type;
	struct kread_sync *row;
	bool is_record;

	if (!(event->args & HIP_ARGS))
		return 0;
	type = type_of(name);
	is_record = strstr(name, "EventRecord") != NULL;
	if (type == TRACE_WAIT_UNKNOWN && !is_record)
		return 0;
	if (is_record && kread_int_or(load, event, KREAD_CORRELATION, 0) <= 0) {
		load->left_out[KREAD_LEFT_OUT_RECORD]++;
		return 0;
	}
	row = add_sync(load);
	if (!row)
		return -ENOMEM;
	row->process = process;
	row->is_call = true;
	row->is_record = is_record;
	row->type = type;
	row->event_context = 0;
	/* other waits have hip_stream null, which would be the null stream */
	if (is_record || type == TRACE_WAIT_STREAM_EVENT || type == TRACE_WAIT_STREAM)
		row->stream = kread_int_or(load, event, KREAD_HIP_STREAM, KREAD_NO_STREAM);
	else
		row->stream = KREAD_NO_STREAM;
	take_event_id(load, KREAD_HIP_EVENT, row);
	take_event_id(load, KREAD_WAIT_ON_HIP_EVENT, row);
	take_record_cid(load, KREAD_WAIT_ON_HIP_RECORD, row);
	return 0;
}
