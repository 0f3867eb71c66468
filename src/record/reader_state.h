/* Inside the reader: reader.c opens and checks, cursor.c goes through what was found sound. */
#ifndef DAGTAP_RECORD_READER_STATE_H
#define DAGTAP_RECORD_READER_STATE_H

#include <stdbool.h>

#include "record/live_cut.h"
#include "record/reader.h"

#define DAMAGES_KEPT 64

/* Pages that were read are given back in steps of this many chunks. */
#define KEEP_CHUNKS 128

/* A chunk with a label. */
struct found_chunk {
	uint64_t offset;
	uint32_t writer;
	uint32_t sequence;
	uint32_t end; /* one past the last sound record, in the chunk; 0 = not to be trusted */
	uint32_t state;
	uint64_t types; /* 1 << record type each */
};

/* What was found of one writer, to be held against its lane. */
struct found_lane {
	uint64_t records[RECORD_CLASS_COUNT];
	bool damaged;
};

struct spool_reader {
	const unsigned char *bytes;
	size_t length;
	void *mapping; /* NULL: the caller's memory */
	char *name;

	struct live_cut *cut; /* of an open file: counts at one moment; the mapping is private */
	const struct spool_header *header;
	const struct spool_lane *lanes;
	uint64_t lanes_used;
	bool lanes_trusted;
	struct spool_info info;
	struct spool_ledger ledger;

	struct found_chunk *chunks;
	size_t chunk_count;
	uint32_t *file_order; /* numbers of the chunks as they lie in the file */
	uint32_t writer_count;
	struct found_lane *found; /* while opening: one a lane */

	struct spool_damage damages[DAMAGES_KEPT];
	size_t damages_kept;
	uint64_t damages_total;
};

static inline const struct spool_chunk *reader_chunk_at(const struct spool_reader *r,
							uint64_t offset)
{
	return (const struct spool_chunk *)(r->bytes + offset);
}

/* Of a mapped file. Pages that are given back come by themselves when they are read again; those of
 * an open one are kept, for what was passed over in them. */
void reader_give_back(const struct spool_reader *r, uint64_t offset, uint64_t bytes);

/* At once, which costs a fraction of a fault for every few pages. */
void reader_map_ahead(const struct spool_reader *r, uint64_t offset, uint64_t bytes);

#endif
