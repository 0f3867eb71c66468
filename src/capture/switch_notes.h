/* The texts of the notes by which a recording says why it began and ended, and what was not
 * followed. */
#ifndef CAPTURE_SWITCH_NOTES_H
#define CAPTURE_SWITCH_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/switch_policy.h"
#include "record/environment.h"

#define SWITCH_NOTE_BYTES (RECORD_CAPTURE_RANGE_BYTES + 256)

/* What began a recording. */
struct switch_cause {
	const struct switch_policy *policy;
	const char *scope; /* the name of the selected scope; "": none */
	const char *call;  /* the call that started it, or NULL */
	bool is_delayed;   /* a delay is configured */
};

/* What was not followed since the last note. */
struct switch_failures {
	uint64_t events; /* that could not take the lock */
	uint64_t starts; /* that failed */
	uint64_t ranges; /* that found no room */
};

/* Writes the note that says why a recording began. */
void switch_describe_begin(const struct switch_cause *cause, char text[SWITCH_NOTE_BYTES]);

/* END is the event that ended the recording; NULL: the duration. */
void switch_describe_end(const char *end, char text[SWITCH_NOTE_BYTES]);

/* TEXT is "" when all was followed. */
void switch_describe_failures(const struct switch_failures *failures, char text[SWITCH_NOTE_BYTES]);

#endif
