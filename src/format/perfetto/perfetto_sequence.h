/* Writes a packet sequence of Perfetto: packets that share tables of interned names.
 *
 * Times are absolute host ns. No packet depends on the one before, so events may come in any
 * order, and a file that lost its end is readable up to there. Errors stick and are returned by
 * sequence_error. Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_PERFETTO_SEQUENCE_H
#define DAGTAP_FORMAT_PERFETTO_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/perfetto/perfetto_fields.h"
#include "trace/trace_model.h"
#include "wire/proto.h"

/* The tables of interned names. X(name, field of InternedData) */
#define SEQUENCE_TABLES(X)                                                                         \
	X(EVENT_NAMES, INTERNED_EVENT_NAMES)                                                       \
	X(ANNOTATION_NAMES, INTERNED_ANNOTATION_NAMES)                                             \
	X(ANNOTATION_STRINGS, INTERNED_ANNOTATION_STRINGS)                                         \
	X(KERNELS, INTERNED_COMPUTE_KERNELS)

enum sequence_table {
#define X(name, field) SEQUENCE_##name,
	SEQUENCE_TABLES(X)
#undef X
		SEQUENCE_TABLE_COUNT
};

struct sequence {
	const struct trace *trace;
	FILE *out;	/* borrowed */
	uint32_t id;	/* id of the current sequence, from 1; 0 = none yet */
	bool started;	/* the current sequence has a packet */
	uint64_t track; /* of events that name none (sequence_start_track); 0 = they all name one */
	int error;	/* the first error, negative errno; 0 = none */
	struct proto packet;   /* the current packet; the caller adds fields */
	struct proto interned; /* names that the current packet interns */
	/* By table and trace_string: the string's number in the table, 0 = not interned yet. */
	uint32_t *numbers[SEQUENCE_TABLE_COUNT];
	uint32_t next[SEQUENCE_TABLE_COUNT]; /* by table: the next free number */
};

/* TRACE and OUT are borrowed until sequence_release. Returns 0 or -ENOMEM; then nothing is left to
 * release. Memory: 16 bytes for each string of the trace. */
int sequence_init(struct sequence *sequence, const struct trace *trace, FILE *out);

/* Frees the memory; does not flush OUT. */
void sequence_release(struct sequence *sequence);

/* The first error of all packets so far, as negative errno, or 0. */
int sequence_error(const struct sequence *sequence);

/* Starts a new sequence with empty tables; the next packets belong to it. Call it before the first
 * packet. */
void sequence_start(struct sequence *sequence);

/* The same for a sequence whose events are all on track ID: they need not name it. */
void sequence_start_track(struct sequence *sequence, uint64_t id);

/* Begins a packet. The caller adds fields to sequence->packet and then calls
 * sequence_packet_end. */
void sequence_packet_begin(struct sequence *sequence);

/* Begins a packet with a time stamp in host ns; a negative time becomes 0. */
void sequence_packet_begin_at(struct sequence *sequence, int64_t ns);

/* Adds the names that were interned since the begin and writes the packet to OUT. The first error
 * is kept. */
void sequence_packet_end(struct sequence *sequence);

/* Adds the descriptor of track ID to the packet that has been begun, and ends the packet. The track
 * is below track PARENT, or below none if PARENT is 0. */
void sequence_track_end(struct sequence *sequence, uint64_t id, uint64_t parent, const char *name);

/* Begins a packet with an event of a track, or of the sequence's if TRACK is 0. The caller adds
 * fields to sequence->packet and ends the event with the mark that is returned. */
size_t sequence_event_begin(struct sequence *sequence, enum event_type type, uint64_t track,
			    int64_t ns);
void sequence_event_end(struct sequence *sequence, size_t mark);

/* Add an annotation to the event; NAME is the number of an interned annotation name. */
void sequence_put_uint(struct sequence *sequence, uint32_t name, uint64_t value);
void sequence_put_text(struct sequence *sequence, uint32_t name, const char *text);

/* The string's number in the table. A new string is interned by the packet that is being built, so
 * call it between begin and end. */
uint32_t sequence_intern(struct sequence *sequence, enum sequence_table table, trace_string string);

/* Interns a text that is not a string of the trace, under a NUMBER that the caller has chosen
 * (sequence_reserve). */
void sequence_intern_text(struct sequence *sequence, enum interned_field field, uint32_t number,
			  const char *text);

/* Reserves the numbers 1 to COUNT of the table for the caller's own texts (sequence_intern_text).
 * Call it before the first sequence_intern of the sequence. */
void sequence_reserve(struct sequence *sequence, enum sequence_table table, uint32_t count);

#endif
