/* One of perfetto's packet sequences: packets that share a table of interned names.
 *
 * Times are absolute host ns: no packet depends on the one before, so events may come in any
 * order and a file that lost its tail is read up to there. Errors stick and are given by
 * sequence_error. */
#ifndef DAGTAP_FORMAT_PERFETTO_SEQUENCE_H
#define DAGTAP_FORMAT_PERFETTO_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/perfetto/perfetto_fields.h"
#include "trace/model.h"
#include "wire/proto.h"

/* Tables of names by number; X(name, field of InternedData). */
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
	FILE *out;
	uint32_t id; /* of the sequence now being written; 0 = none yet */
	bool started;
	int error;
	struct proto packet;
	struct proto interned;
	/* Number in the table of each string, 0 = not there yet. */
	uint32_t *numbers[SEQUENCE_TABLE_COUNT];
	uint32_t next[SEQUENCE_TABLE_COUNT];
};

/* 0 or -ENOMEM. */
int sequence_init(struct sequence *sequence, const struct trace *trace, FILE *out);
void sequence_release(struct sequence *sequence);
int sequence_error(const struct sequence *sequence);

/* The packets that follow belong to a new sequence, whose tables are empty. */
void sequence_start(struct sequence *sequence);

/* One packet: begin, put fields into sequence->packet, end. */
void sequence_packet_begin(struct sequence *sequence);
void sequence_packet_begin_at(struct sequence *sequence, int64_t ns);
void sequence_packet_end(struct sequence *sequence);

/* The string's number in the table; a new one goes out with the packet that is being made. */
uint32_t sequence_intern(struct sequence *sequence, enum sequence_table table, trace_string string);

/* The same for text that is not the trace's: the caller gives it its number. */
void sequence_intern_text(struct sequence *sequence, enum interned_field field, uint32_t number,
			  const char *text);

/* Numbers below COUNT + 1 are the caller's own (sequence_intern_text). */
void sequence_reserve(struct sequence *sequence, enum sequence_table table, uint32_t count);

#endif
