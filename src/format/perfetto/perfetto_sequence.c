/* Packets and interned names of a Perfetto packet sequence. */
#include "format/perfetto/perfetto_sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const enum interned_field table_fields[] = {
#define X(name, field) [SEQUENCE_##name] = (field),
	SEQUENCE_TABLES(X)
#undef X
};

int sequence_init(struct sequence *sequence, const struct trace *trace, FILE *out)
{
	*sequence = (struct sequence){.trace = trace, .out = out};
	proto_init(&sequence->packet);
	proto_init(&sequence->interned);
	for (int i = 0; i < SEQUENCE_TABLE_COUNT; i++) {
		sequence->numbers[i] =
			calloc((size_t)trace->strings_count + 1, sizeof(*sequence->numbers[i]));
		if (!sequence->numbers[i]) {
			sequence_release(sequence);
			return -ENOMEM;
		}
	}
	return 0;
}

void sequence_release(struct sequence *sequence)
{
	proto_release(&sequence->packet);
	proto_release(&sequence->interned);
	for (int i = 0; i < SEQUENCE_TABLE_COUNT; i++) {
		free(sequence->numbers[i]);
		sequence->numbers[i] = NULL;
	}
}

int sequence_error(const struct sequence *sequence)
{
	return sequence->error;
}

void sequence_start(struct sequence *sequence)
{
	size_t bytes = sequence->trace->strings_count * sizeof(*sequence->numbers[0]);

	sequence->id++;
	sequence->started = false;
	sequence->track = 0;
	for (int i = 0; i < SEQUENCE_TABLE_COUNT; i++) {
		memset(sequence->numbers[i], 0, bytes);
		sequence->next[i] = 1;
	}
}

void sequence_start_track(struct sequence *sequence, uint64_t id)
{
	sequence_start(sequence);
	sequence->track = id;
}

static void put_defaults(struct sequence *sequence)
{
	size_t mark = proto_begin(&sequence->packet, PACKET_DEFAULTS);

	proto_put_u64(&sequence->packet, DEFAULTS_CLOCK_ID, BUILTIN_MONOTONIC);
	if (sequence->track) {
		size_t inner = proto_begin(&sequence->packet, DEFAULTS_EVENT);

		proto_put_u64(&sequence->packet, EVENT_DEFAULTS_TRACK, sequence->track);
		proto_end(&sequence->packet, inner);
	}
	proto_end(&sequence->packet, mark);
}

void sequence_packet_begin(struct sequence *sequence)
{
	uint64_t flags = SEQUENCE_NEEDS_STATE | (sequence->started ? 0 : SEQUENCE_CLEARED);

	proto_reset(&sequence->packet);
	proto_reset(&sequence->interned);
	proto_put_u64(&sequence->packet, PACKET_SEQUENCE_ID, sequence->id);
	proto_put_u64(&sequence->packet, PACKET_SEQUENCE_FLAGS, flags);
	if (!sequence->started)
		put_defaults(sequence);
	sequence->started = true;
}

void sequence_packet_begin_at(struct sequence *sequence, int64_t ns)
{
	sequence_packet_begin(sequence);
	/* The clock starts at 0, so only a damaged file has negative times. A reader would take
	 * them for times far in the future. */
	proto_put_u64(&sequence->packet, PACKET_TIMESTAMP, ns < 0 ? 0 : (uint64_t)ns);
}

void sequence_packet_end(struct sequence *sequence)
{
	int err;

	if (sequence->interned.used > 0)
		proto_put_bytes(&sequence->packet, PACKET_INTERNED_DATA, sequence->interned.bytes,
				sequence->interned.used);
	err = sequence->interned.error;
	if (!err)
		err = proto_write(&sequence->packet, TRACE_PACKET, sequence->out);
	if (!sequence->error)
		sequence->error = err;
}

void sequence_track_end(struct sequence *sequence, uint64_t id, uint64_t parent, const char *name)
{
	struct proto *packet = &sequence->packet;
	size_t mark = proto_begin(packet, PACKET_TRACK_DESCRIPTOR);

	proto_put_u64(packet, TRACK_UUID, id);
	if (parent)
		proto_put_u64(packet, TRACK_PARENT, parent);
	proto_put_text(packet, TRACK_NAME, name);
	sequence_event_end(sequence, mark);
}

size_t sequence_event_begin(struct sequence *sequence, enum event_type type, uint64_t track,
			    int64_t ns)
{
	size_t mark;

	sequence_packet_begin_at(sequence, ns);
	mark = proto_begin(&sequence->packet, PACKET_TRACK_EVENT);
	proto_put_u64(&sequence->packet, EVENT_TYPE, type);
	if (track)
		proto_put_u64(&sequence->packet, EVENT_TRACK, track);
	return mark;
}

void sequence_event_end(struct sequence *sequence, size_t mark)
{
	proto_end(&sequence->packet, mark);
	sequence_packet_end(sequence);
}

void sequence_put_uint(struct sequence *sequence, uint32_t name, uint64_t value)
{
	size_t mark = proto_begin(&sequence->packet, EVENT_ANNOTATIONS);

	proto_put_u64(&sequence->packet, ANNOTATION_NAME_IID, name);
	proto_put_u64(&sequence->packet, ANNOTATION_UINT, value);
	proto_end(&sequence->packet, mark);
}

void sequence_put_text(struct sequence *sequence, uint32_t name, const char *text)
{
	size_t mark = proto_begin(&sequence->packet, EVENT_ANNOTATIONS);

	proto_put_u64(&sequence->packet, ANNOTATION_NAME_IID, name);
	proto_put_text(&sequence->packet, ANNOTATION_STRING, text);
	proto_end(&sequence->packet, mark);
}

void sequence_intern_text(struct sequence *sequence, enum interned_field field, uint32_t number,
			  const char *text)
{
	size_t mark = proto_begin(&sequence->interned, field);

	proto_put_u64(&sequence->interned, INTERNED_IID, number);
	proto_put_text(&sequence->interned, INTERNED_NAME, text);
	proto_end(&sequence->interned, mark);
}

uint32_t sequence_intern(struct sequence *sequence, enum sequence_table table, trace_string string)
{
	uint32_t *number = &sequence->numbers[table][string];

	if (*number == 0) {
		*number = sequence->next[table]++;
		sequence_intern_text(sequence, table_fields[table], *number,
				     trace_text(sequence->trace, string));
	}
	return *number;
}

void sequence_reserve(struct sequence *sequence, enum sequence_table table, uint32_t count)
{
	sequence->next[table] = count + 1;
}
