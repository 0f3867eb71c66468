/* One process's records, wherever they lie: in a spool, or packed in a .dagtap. */
#ifndef DAGTAP_TRACE_ORIGIN_H
#define DAGTAP_TRACE_ORIGIN_H

#include <stdbool.h>

#include "record/reader.h"
#include "trace/pack/pack.h"

struct origin {
	struct spool_reader *spool; /* or */
	struct pack_reader *pack;
	uint32_t place; /* of the spool's next chunk */
	int error;	/* that ended the last walk */
};

static inline const struct spool_info *origin_info(const struct origin *origin)
{
	return origin->spool ? spool_reader_info(origin->spool) : pack_reader_info(origin->pack);
}

static inline const struct spool_ledger *origin_ledger(const struct origin *origin)
{
	return origin->spool ? spool_reader_ledger(origin->spool)
			     : pack_reader_ledger(origin->pack);
}

/* As spool_reader_damages. A walk may find more. */
const struct spool_damage *origin_damages(const struct origin *origin, size_t *ret_kept,
					  uint64_t *ret_total);

void origin_close(struct origin *origin);

/* A set of record types. */
#define ORIGIN_TYPE(type) (1ull << (type))
#define ORIGIN_ALL	  UINT64_MAX

_Static_assert(RECORD_TYPE_COUNT <= 64, "a bit for each record type");

/* Records once, nearly in the order of time, of each writer in its order. Types are known ones; there
 * may be others among them than were asked for, blank behind their type and size: threads that launch
 * and the one that sees the end mostly write into chunks of their own, so what holds none of TYPES is
 * passed over. */
struct origin_walk {
	struct origin *origin;
	uint64_t types;
	const char *at, *end; /* in the batch */
	uint32_t tid;	      /* whose the record is */
	uint32_t order;	      /* ascends by (writer, time of writing) */
};

/* One walk at a time. */
void origin_walk_init(struct origin_walk *walk, struct origin *origin, uint64_t types);

/* False: no more, or origin.error is set. */
bool origin_walk_more(struct origin_walk *walk);

/* NULL after the last one; valid until the next call. */
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
