/* Inside the spooler: what it consists of. chunk_supply.c makes chunks ready and seals them, spooler.c does the
 * rest. */
#ifndef DAGTAP_RECORD_SPOOLER_STATE_H
#define DAGTAP_RECORD_SPOOLER_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "record/demand.h"
#include "record/lasting.h"
#include "record/ring.h"
#include "record/space.h"
#include "record/spool_map.h"
#include "record/spooler.h"

#define WINDOW_CHUNKS  64
#define WINDOW_BYTES   ((size_t)WINDOW_CHUNKS * SPOOL_CHUNK_BYTES)
#define WINDOWS_MOST   16384
#define LASTING_CHUNKS 2 /* left ready for scopes that are written again: no chunk brings more */

/* Several MiB of chunks, mapped together, unmapped when all are sealed; with a ring they stay. */
struct window {
	struct spool_chunk *chunks;
	uint32_t first_index; /* of its chunks in the file; without a ring their tickets, too */
	uint64_t taken;	      /* one bit a chunk; kept with a ring alone */
	uint64_t sealed;      /* one bit a chunk */
	uint64_t released;    /* of these: no longer in our memory */
	bool bare;	      /* not in memory yet */
};

/* In memory that reads as zero in a fork child, whether or not our fork handler ran: a writer of
 * zeros refuses, and alive = 0 keeps new ones from being made. */
struct writers {
	_Atomic uint32_t alive;
	_Atomic uint64_t refusing; /* threads that count at the session now: sum of tid << 32 | 1 */
	struct writer nobody;
	struct writer of[SPOOL_LANE_COUNT];
};

struct spooler {
	struct spool_map map;
	struct space space;
	struct spool_header *header;
	struct spool_lane *lanes;
	struct writers *writers;
	_Atomic uint32_t closing;
	_Atomic uint32_t winding_down;
	_Atomic uint32_t writers_made;
	_Atomic uint64_t free_writers; /* stack head: (lane index + 1) | pop count << 32 */
	bool expedited;		       /* membarrier is registered */

	uint64_t slot_count; /* a power of two */
	uint64_t *slot_places;

	pthread_mutex_t service_lock; /* windows and below: the housekeeping thread, then close */
	struct window windows[WINDOWS_MOST];
	uint32_t window_count;
	struct demand demand;
	uint64_t taken_before;
	bool unsealed_left;
	struct ring ring;
	uint64_t noted; /* tickets below it show in their windows' `taken` */
	struct lasting lasting;

	/* Chunk n is handed out as ticket n; slot n % slot_count holds its address meanwhile. */
	_Atomic(struct spool_chunk *) slots[];
};

/* Chunks, from the lock's holder; writers only take them. */
int supply_begin(struct spooler *s);   /* before the first record */
int supply_service(struct spooler *s); /* as spooler_service */
uint32_t supply_seal_all(struct spooler *s);
uint64_t supply_places_in_use(const struct spooler *s);
void supply_end(struct spooler *s); /* nobody writes any more */

#endif
