/* Plays a finished spool again: a file in memory that grows record by record, in the order of each
 * writer, with the writers mixed at random. Only the anchors keep their order of time: the times
 * that a follower gives depend on which it has met. */
#ifndef DAGTAP_TESTS_LIVE_PLAYER_H
#define DAGTAP_TESTS_LIVE_PLAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/spool.h"

struct player {
	const unsigned char *image; /* the caller's, of `length` bytes: a spool without damage */
	size_t length;
	int fd;		     /* the file that grows */
	unsigned char *file; /* its mapping */
	uint32_t *order;     /* numbers of the chunks with a label, by (writer, sequence) */
	uint32_t chunk_count;
	uint32_t *at;	   /* by number in `order`: bytes that are in the file; 0: no label */
	uint64_t *anchors; /* host times of the anchors, ascending; next_anchor comes next */
	uint32_t anchors_count, next_anchor;
	uint64_t random;
};

/* Begins with the header alone. The caller ends it. */
void player_begin(struct player *player, const void *image, size_t length, uint64_t seed);

/* Writes up to MOST more records, of random writers. Returns false if none was left; the file is
 * then closed as the image is. */
bool player_step(struct player *player, uint32_t most);

/* Frees what PLAYER owns. */
void player_end(struct player *player);

#endif
