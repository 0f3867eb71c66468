/* The RANKS section of a .dagtap file (docs/format/dagtap.md): which sections of a merged recording
 * are which rank's, and the clock of each.
 *
 * Threading: a struct belongs to one thread at a time. */
#ifndef DAGTAP_TRACE_RANKS_H
#define DAGTAP_TRACE_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/rank_clock.h"

/* A rank's file that was merged. */
struct rank_file {
	char *name;
	uint32_t clock;		/* index into clocks */
	uint32_t section_count; /* its sections follow those of the file before it */
};

/* The content of the section. Zero is empty. Everything is owned. */
struct ranks {
	struct rank_clock *clocks; /* one for each machine */
	uint32_t clock_count;
	struct rank_file *files;
	uint32_t file_count;
	char **notes; /* what is to be said of the ranks: missing, cut off, restarted */
	uint32_t note_count;
	/* The wall clock minus the reference's clock, ns; 0 = not known. */
	int64_t wall_ns;
};

/* Add a row, with a copy of the text. Return 0 or -ENOMEM. */
int ranks_add_file(struct ranks *ranks, const char *name, uint32_t clock, uint32_t section_count);
int ranks_add_note(struct ranks *ranks, const char *text);

/* The section as text, which the caller frees. Returns 0 or -ENOMEM. */
int ranks_write(const struct ranks *ranks, char **ret_text, size_t *ret_bytes);

/* Reads a section. Returns 0; release *RET_RANKS. On failure -EINVAL (it is no such section, or a
 * value is impossible) or -ENOMEM, and RET_RANKS is untouched. */
int ranks_read(const char *text, size_t bytes, struct ranks *ret_ranks);

/* Frees what it owns and makes it empty. */
void ranks_release(struct ranks *ranks);

#endif
