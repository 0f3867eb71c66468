/* The records of one process, independent of where they are stored: in a spool, packed in a
 * .dagtap, or selected in memory. Hides the difference from the stages of loading
 * (trace/process_load.h).
 *
 * Threading: an origin belongs to one thread, which shares its records among others with
 * origin_share. */
#ifndef DAGTAP_TRACE_ORIGIN_H
#define DAGTAP_TRACE_ORIGIN_H

#include <stdbool.h>

#include "record/spool_reader.h"
#include "trace/pack/pack.h"
#include "trace/rank_clock.h"
#include "trace/record_set.h"

/* One of the three pointers is not NULL. The origin owns its reader; a set stays its owner's. The
 * creator fills it; origin_close frees it. */
struct origin {
	struct spool_reader *spool;
	struct pack_reader *pack;
	const struct record_set *set;
	/* Of a merged recording: the clock of its rank, which is the recording's; the number of the
	 * rank's file; and the reference's wall clock minus its clock, 0 = not known. */
	const struct rank_clock *clock;
	uint32_t rank_file;
	int64_t wall_ns;
};

/* Which process and recording it is. The struct and its texts belong to the origin. */
static inline const struct spool_info *origin_info(const struct origin *origin)
{
	if (origin->set)
		return origin->set->info;
	return origin->spool ? spool_reader_info(origin->spool) : pack_reader_info(origin->pack);
}

/* The counts of the spool by record class; all 0 of a set. For packed records they are complete
 * only after a walk through all records: a walk finds damaged blocks. The struct belongs to the
 * origin. */
const struct spool_ledger *origin_ledger(const struct origin *origin);

/* The first damages, *RET_KEPT of them, and how many there are in all (see spool_reader_damages). A
 * walk may find more. The array belongs to the origin. */
const struct spool_damage *origin_damages(const struct origin *origin, size_t *ret_kept,
					  uint64_t *ret_total);

/* Closes the reader and frees what it gave out; ORIGIN becomes empty. */
void origin_close(struct origin *origin);

/* A set of record types: one bit per type. */
#define ORIGIN_TYPE(type) (1ull << (type))
#define ORIGIN_ALL	  UINT64_MAX

_Static_assert(RECORD_TYPE_COUNT <= 64, "a bit for each record type");

/* A walk through one part of the records: some MiB of neighbouring chunks of a spool, one packed
 * block, or all runs of a set. The parts in ascending order have each record once: nearly in the
 * order of time, and the records of one writer in the order in which they were written. A walk
 * skips every chunk or block that holds no record of TYPES. This saves most of the work, because
 * the threads that launch and the thread that sees completions mostly write into different chunks.
 * Records of other types may be returned too; of a packed block their content behind type and size
 * may be zero. Records of unknown types are not returned. */
struct origin_walk {
	const struct origin *origin;
	uint64_t types;
	const char *at, *end; /* unread records of the current chunk or block */
	/* Chunks or runs that follow the current one; none in a packed block. */
	struct spool_step rest;
	struct spool_part *unchecked; /* chunks that are checked as the walk comes to them */
	uint32_t tid;		      /* thread that wrote the record which was returned last */
	uint64_t order; /* of the chunk, block or run; ascends by (writer, time of writing) */
};

/* Reads part PART with origin_walk_next from WALK. WORKER as in base/workers.h. */
typedef int origin_part(void *context, unsigned worker, uint32_t part, struct origin_walk *walk);

/* Number of parts: the same for all calls of origin_share. */
uint32_t origin_part_count(const struct origin *origin);

/* Calls READ for each part, also for parts without such records, as workers_run does with THREADS
 * and CONTEXT. TYPES: ORIGIN_TYPE bits, or ORIGIN_ALL. Blocks that are found damaged are skipped
 * and listed, whatever THREADS is in the order of the file. The first call for a spool that was
 * opened unchecked checks it, too, on all threads. Returns 0, or the error of the first part that
 * failed, -ENOMEM among them; or 1 from the first call alone: READ got records that do not count,
 * so the caller forgets what it has read and calls again. */
int origin_share(struct origin *origin, uint64_t types, unsigned threads, origin_part *read,
		 void *context);

/* For origin_walk_next alone: moves to the next chunk or run of the part that has records. */
bool origin_walk_more(struct origin_walk *walk);

/* How far ahead of a record a walk fetches the file into the cache, in bytes. Where a record begins
 * is known only once the header before it was read, and the CPU foresees nothing beyond a page. So
 * a walk without this waits for memory at most records: a summary of the reference run takes 1.18
 * times the CPU time in one thread (bench/compare-programs.py). Half or twice the distance makes no
 * difference. */
#define ORIGIN_WALK_AHEAD 2048

/* The next record, or NULL after the last one. Sets walk.tid and walk.order. The record is valid
 * until the part has been read. */
static inline const struct record_header *origin_walk_next(struct origin_walk *walk)
{
	while (walk->at != walk->end || origin_walk_more(walk)) {
		const struct record_header *header = (const struct record_header *)walk->at;

		walk->at += (size_t)header->words * 8;
		__builtin_prefetch(walk->at + ORIGIN_WALK_AHEAD);
		__builtin_prefetch(walk->at + ORIGIN_WALK_AHEAD + 64);
		if (header->type >= RECORD_TYPE_COUNT)
			continue;
		if (header->type == RECORD_THREAD)
			walk->tid = header->tag;
		return header;
	}
	return NULL;
}

#endif
