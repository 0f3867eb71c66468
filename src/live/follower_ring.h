/* The part of a follower that reads the chunks of a ring recording, which are reused; and what both
 * parts share. For follower.c and follower_ring.c; the threading rule is in follower.h. */
#ifndef DAGTAP_LIVE_FOLLOWER_RING_H
#define DAGTAP_LIVE_FOLLOWER_RING_H

#include "live/follower.h"

/* The first fields of struct spool_chunk. */
struct follower_label {
	uint32_t magic;
	uint32_t index;
	uint64_t session_id;
};
_Static_assert(offsetof(struct spool_chunk, index) == offsetof(struct follower_label, index) &&
		       offsetof(struct spool_chunk, session_id) ==
			       offsetof(struct follower_label, session_id),
	       "layout of a label");

/* A chunk as it is read: mapped, or a copy. */
struct follower_view {
	const void *chunk;
	uint32_t limit; /* offset behind the last byte that may be read */
	bool is_open;	/* more records may come */
};

/* Fills the number of chunks that the file has room for by now. Returns 0 or the negative errno of
 * fstat. */
int follower_count_places(const struct follower *follower, uint64_t *ret_places);

/* Reads the label of the chunk at PLACE. Returns false if there is none. */
bool follower_read_label(const struct follower *follower, uint64_t place,
			 struct follower_label *ret_label);

/* Whether LABEL is that of a chunk of this recording. */
bool follower_label_is_sound(const struct follower *follower, const struct follower_label *label);

/* Whether LABEL is of a chunk that was taken after chunks_taken had the value TAKEN, which was
 * loaded before the labels are read. A writer labels its chunk before it takes its next one. So the
 * writer of each chunk below TAKEN has labelled its earlier chunks, and a scan finds them. A scan
 * may find a later chunk and have passed the place of an earlier one before that was labelled. */
bool follower_label_is_later(const struct follower_label *label, uint64_t taken);

/* Brings the chunks into the order in which they were taken. */
void follower_sort(struct follower *follower);

/* Looks for chunks that were taken since the last call. Chunks whose place was reused before they
 * were read to their end are lost. Returns 0, -ENOMEM or the errno of fstat. */
int follower_ring_find(struct follower *follower);

/* Copies the complete records of FOLLOWED that were not read. Returns false if the chunk was reused
 * meanwhile: it is then lost, and counted. */
bool follower_ring_copy(struct follower *follower, struct followed_chunk *followed,
			struct follower_view *ret_view);

#endif
