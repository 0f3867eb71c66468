/* A set of texts, each kept once: the same text has the same row as long as the process lives.
 *
 * Cost: one hash of the text, however many are kept (programs register thousands, some of them
 * again before each launch); the memory doubles as it fills. Threading: one thread at a time;
 * the owner of the set ensures it. A row does not move and may be read by any thread. */
#ifndef DAGTAP_CAPTURE_TEXTS_H
#define DAGTAP_CAPTURE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

struct text {
	uint32_t number;  /* from 1, in the order in which they were added */
	uint32_t session; /* for the owner: the session whose spool has the text; 0 at first */
	size_t bytes;	  /* without the terminating 0 */
	char text[];	  /* terminated */
};

/* Zero at first. */
struct texts {
	struct text **rows; /* by number - 1 */
	uint32_t count;
	struct hash_map map; /* of `rows` */
};

/* Returns the row of TEXT, which is copied if it is new; NULL when memory is short. */
struct text *texts_keep(struct texts *texts, const char *text);

#endif
