/* Scopes that last longer than a ring: before a chunk is let go, the scopes that began in it and have not
 * ended in what is let go are written again, by the housekeeping thread. So each that is open, or that a
 * record in the ring may belong to, has its record. One that was written again is, when its turn comes,
 * written once more; if its end was let go meanwhile, that was written again too.
 *
 * One thread at a time. No allocation after init: at most LASTING_MOST scopes are known, the others lose their text
 * when their record goes. */
#ifndef DAGTAP_RECORD_LASTING_H
#define DAGTAP_RECORD_LASTING_H

#include <stdbool.h>
#include <stdint.h>

#include "record/writer.h"

#define LASTING_MOST  3072
#define LASTING_SLOTS 4096

struct lasting {
	struct writer *writer; /* for what is written again */
	uint32_t count;
	struct lasting_scope {
		uint64_t id; /* 0 = free */
		bool is_written;
	} scopes[LASTING_SLOTS]; /* open addressing; begun in what was let go, and not ended there */
};

/* CHUNK is sealed and about to be let go. */
void lasting_carry(struct lasting *lasting, const struct spool_chunk *chunk);

#endif
