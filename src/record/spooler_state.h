/* The state of the spooler, shared by its four files: chunk_take.c gives ready chunks to writers;
 * chunk_supply.c makes chunks ready and seals them; spooler_writers.c hands out writers; spooler.c
 * opens and closes the file. */
#ifndef DAGTAP_RECORD_SPOOLER_STATE_H
#define DAGTAP_RECORD_SPOOLER_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "record/demand.h"
#include "record/kept_scopes.h"
#include "record/ring.h"
#include "record/space.h"
#include "record/spool_map.h"
#include "record/spooler.h"

#define WINDOW_CHUNKS	   64
#define WINDOW_BYTES	   ((size_t)WINDOW_CHUNKS * SPOOL_CHUNK_BYTES)
#define WINDOWS_MOST	   16384
/* Ready chunks that only the writer of kept scopes may take. Reusing one chunk of a ring needs at
 * most this many for the scopes that are written again. */
#define KEPT_SCOPES_CHUNKS 2

/* A window: 64 chunks that are mapped together. It is unmapped when all of them are sealed; with
 * a ring it stays mapped. */
struct window {
	struct spool_chunk *chunks;
	uint32_t first_index; /* place of its first chunk; without a ring also its ticket */
	uint64_t taken;	   /* one bit per chunk: taken by a writer; maintained only with a ring */
	uint64_t sealed;   /* one bit per chunk */
	uint64_t released; /* one bit per sealed chunk: its pages were given back (MADV_DONTNEED) */
	bool bare;	   /* its pages have not been touched yet */
};

/* All writers of the process, in memory that reads as zero in a fork child (MADV_WIPEONFORK),
 * also when no fork handler ran. A writer of zeros drops every record, and alive = 0 keeps
 * spooler_take_writer from making more. */
struct writers {
	_Atomic uint32_t alive;
	_Atomic uint64_t refusing; /* threads within a refusal now: sum of (tid << 32 | 1) */
	struct writer nobody;	   /* drops every record; shared by threads without a writer */
	struct writer of[SPOOL_WRITER_COUNT];
};

/* Fields up to expedited are set when the spooler is opened, or atomic. */
struct spooler {
	struct spool_map map;
	struct space space;
	struct spool_header *header;   /* the start of the file, mapped until spooler_release */
	struct spool_writer *counters; /* behind the header */
	struct writers *writers;
	_Atomic uint32_t closing;      /* 1: spooler_close has begun */
	_Atomic uint32_t winding_down; /* 1: make no more chunks ready */
	_Atomic uint32_t writers_made; /* writers in use; UINT32_MAX once closing */
	_Atomic uint64_t free_writers; /* stack head: (writer index + 1) | pop count << 32 */
	bool expedited; /* membarrier is registered; stored by the service, read by the close */

	uint64_t slot_count;   /* a power of two */
	uint64_t *slot_places; /* place in the file of each slot's chunk; housekeeper only */

	/* Protects windows and the fields below: the housekeeper holds it, then spooler_close. */
	pthread_mutex_t service_lock;
	struct window windows[WINDOWS_MOST];
	uint32_t window_count;
	struct demand demand;
	uint64_t taken_before; /* chunks taken at the last service */
	bool unsealed_left;    /* the last service reached its limit of chunks to seal */
	struct ring ring;
	uint64_t noted; /* tickets below it are entered in their windows' `taken` */
	struct kept_scopes kept_scopes;

	/* The queue of ready chunks: the n-th chunk to be taken has ticket n, and slot
	 * n % slot_count holds its address until it is taken. Atomic; writers read it. */
	_Atomic(struct spool_chunk *) slots[];
};

/* The functions of spooler_writers.c for spooler.c. Any thread, lock-free. */

/* Takes COUNT adjacent writers that were never used. Returns the first one; NULL when there are not
 * enough, or the spooler closes. */
struct writer *writers_take(struct spooler *s, uint32_t count);

/* Raises writers_used to USED at least. Acquire and release: spooler_close, which calls this last,
 * sees what the other threads stored before, and the checksum of the counts covers it. */
void writers_raise_used(struct spool_live *live, uint64_t used);

/* The functions of chunk_supply.c for spooler.c. The caller holds service_lock, or is the only
 * thread that has the spooler. */

/* Makes the first chunks ready, before the first record. Returns 0, or a negative errno if not
 * even one window could be mapped. */
int supply_begin(struct spooler *s);

/* spooler_service without the lock: same work, same result. */
int supply_service(struct spooler *s);

/* Seals all full chunks; returns how many. Cost: a checksum of 64 KiB per chunk. */
uint32_t supply_seal_all(struct spooler *s);

/* The number of places in the file up to the last chunk that was taken: the rest may be cut off. */
uint64_t supply_places_in_use(const struct spooler *s);

/* Unmaps all windows. Call when no writer stores records any more. */
void supply_end(struct spooler *s);

#endif
