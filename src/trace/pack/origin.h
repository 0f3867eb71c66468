/* The records of one process, independent of where they are stored: in a spool, or packed in a
 * .dagtap. Hides the difference from the stages of loading (trace/process_load.h).
 *
 * Threading: an origin and its walks belong to one thread; an origin has at most one walk at a
 * time. */
#ifndef DAGTAP_TRACE_ORIGIN_H
#define DAGTAP_TRACE_ORIGIN_H

#include <stdbool.h>

#include "record/spool_reader.h"
#include "trace/pack/pack.h"

/* Owns one of the two readers; the other pointer is NULL. The creator fills it; origin_close frees
 * it. */
struct origin {
	struct spool_reader *spool;
	struct pack_reader *pack;
	uint32_t place; /* the walk's position: the spool's next chunk in the order of the file */
	int error;	/* 0, or the negative errno that ended the last walk */
};

/* Which process and recording it is. The struct and its texts belong to the origin. */
static inline const struct spool_info *origin_info(const struct origin *origin)
{
	return origin->spool ? spool_reader_info(origin->spool) : pack_reader_info(origin->pack);
}

/* The counts of the spool by record class. For packed records they are complete only after a walk
 * through all records: a walk finds damaged blocks. The struct belongs to the origin. */
static inline const struct spool_ledger *origin_ledger(const struct origin *origin)
{
	return origin->spool ? spool_reader_ledger(origin->spool)
			     : pack_reader_ledger(origin->pack);
}

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

/* A walk returns each record once: nearly in the order of time, and the records of one writer in
 * the order in which they were written. It skips every chunk or block that holds no record of
 * TYPES. This saves most of the work, because the threads that launch and the thread that sees
 * completions mostly write into different chunks. Records of other types may be returned too; of a
 * packed block their content behind type and size may be zero. Records of unknown types are not
 * returned. */
struct origin_walk {
	struct origin *origin;
	uint64_t types;
	const char *at, *end; /* unread records of the current chunk or block */
	uint32_t tid;	      /* thread that wrote the record which was returned last */
	uint32_t order;	      /* of the chunk or block; ascends by (writer, time of writing) */
};

/* Starts a walk from the first record and ends the previous walk of ORIGIN. TYPES: ORIGIN_TYPE
 * bits, or ORIGIN_ALL. Nothing needs to be released. */
void origin_walk_init(struct origin_walk *walk, struct origin *origin, uint64_t types);

/* For origin_walk_next alone: moves to the next chunk or block that has records. Returns false at
 * the end and on failure; then origin.error is 0 or a negative errno. */
bool origin_walk_more(struct origin_walk *walk);

/* The next record, or NULL after the last one and on failure (see origin.error). Sets walk.tid and
 * walk.order. The record is valid until the next call; if walk.at != walk.end, the next call stays
 * in the same chunk or block and keeps it valid. */
static inline const struct record_header *origin_walk_next(struct origin_walk *walk)
{
	while (walk->at != walk->end || origin_walk_more(walk)) {
		const struct record_header *header = (const struct record_header *)walk->at;

		walk->at += (size_t)header->words * 8;
		if (header->type >= RECORD_TYPE_COUNT)
			continue;
		if (header->type == RECORD_THREAD)
			walk->tid = header->tag;
		return header;
	}
	return NULL;
}

#endif
