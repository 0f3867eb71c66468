/* Kept scopes of a ring recording. Before a chunk is reused, the housekeeper writes the SCOPE
 * records again whose SCOPE_END is in no reused chunk. So every scope that is open, or that a
 * record in the ring may refer to, has its SCOPE record. The copies lie in chunks of the ring
 * too: when such a chunk is reused, its scopes are written again once more. When the SCOPE_END of
 * a scope that was written again is reused, the SCOPE_END is written again too.
 *
 * Threading: the housekeeper, under the spooler's service lock. Nothing is allocated: at most
 * KEPT_SCOPES_MOST scopes are known. Further ones lose their record, and with it their text. */
#ifndef DAGTAP_RECORD_KEPT_SCOPES_H
#define DAGTAP_RECORD_KEPT_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/writer.h"

#define KEPT_SCOPES_MOST  3072
#define KEPT_SCOPES_SLOTS 4096

struct kept_scopes {
	struct writer *writer; /* writes the copies; writer 0 of the spool */
	uint32_t count;
	/* Scopes that began in reused chunks and did not end there. A hash table by id, with
	 * linear probing. */
	struct kept_scope {
		uint64_t id;	 /* 0 = free */
		bool is_written; /* its SCOPE record was written again at least once */
	} scopes[KEPT_SCOPES_SLOTS];
};

/* Writes the kept scopes of CHUNK again. CHUNK is sealed, in memory, and about to be reused.
 * Takes up to two ready chunks; at most half of a chunk's bytes are written again, and further
 * scopes lose their record. */
void kept_scopes_carry(struct kept_scopes *kept_scopes, const struct spool_chunk *chunk);

#endif
