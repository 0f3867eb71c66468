/* A set of texts, each kept once in its group: the same text has the same row as long as the
 * process lives.
 *
 * Cost: one hash of the text, however many are kept (programs register thousands, some of them
 * again before each launch); the memory doubles as it fills. Threading: one thread at a time;
 * the owner of the set ensures it. A row does not move and may be read by any thread. */
#ifndef DAGTAP_CAPTURE_TEXTS_H
#define DAGTAP_CAPTURE_TEXTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

struct text {
	uint32_t number; /* from 1, in the order in which they were added */
	/* For the owner of the set: the spool that has the text (spool_id of its writers); 0 at
	 * first. */
	_Atomic uint64_t spool;
	const struct text *group; /* as it was given to texts_keep */
	size_t bytes;		  /* without the terminating 0 */
	char text[];		  /* terminated */
};

/* Zero at first. */
struct texts {
	struct text **rows; /* by number - 1 */
	uint32_t count;
	struct hash_map map; /* of `rows` */
};

/* Returns the row of TEXT in GROUP, which is copied if it is new; NULL when memory is short. The
 * same text in another group has another row. GROUP may be NULL, and must outlive the set. */
struct text *texts_keep(struct texts *texts, const struct text *group, const char *text);

#endif
