/* The state of the reader, and what its files call in each other. spool_reader.c opens a spool. It
 * calls spool_header.c, spool_chunks.c and spool_counts.c, in this order, which check one part of
 * it each, and list damages with spool_damage.c. cursor.c gives out the well-formed records.
 *
 * Threading: one thread opens a spool; spool_chunks.c shares the chunks among threads of its
 * own. */
#ifndef DAGTAP_RECORD_SPOOL_READER_STATE_H
#define DAGTAP_RECORD_SPOOL_READER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "record/live_cut.h"
#include "record/spool_reader.h"

#define DAMAGES_KEPT 64

/* Places in a step, the part of the file that is mapped and given back at once. */
#define KEEP_CHUNKS 128

/* A chunk that has a label. */
struct found_chunk {
	uint64_t offset;
	uint32_t writer;
	uint32_t sequence;
	uint32_t end; /* offset in the chunk behind its last well-formed record; 0 = not trusted */
	uint32_t state; /* enum spool_chunk_state */
	uint64_t types; /* of its records: bits 1 << enum record_type */
};

/* The records found, to be compared with the counts of their writers. */
struct found_records {
	uint64_t unknown; /* of types that this program does not know */
	uint64_t of_writer[SPOOL_WRITER_COUNT][RECORD_CLASS_COUNT];
};

struct spool_reader {
	const unsigned char *bytes; /* the whole spool */
	size_t length;
	void *mapping; /* NULL: bytes is the caller's memory */
	char *name;    /* for messages */

	struct live_cut *cut; /* of an open file: its counts at one moment; else NULL */
	const struct spool_header *header;  /* in bytes, or the cut's copy */
	const struct spool_writer *writers; /* in bytes, or the cut's copy */
	uint64_t writers_used;
	bool writers_trusted; /* false: a closed file's counts do not match their checksum */
	bool is_checked;      /* the members from `ledger` to `writer_count` are valid */
	uint64_t places;      /* chunks that the file has room for */
	struct spool_info info;
	struct spool_ledger ledger;

	struct found_chunk *chunks; /* sorted by (writer, sequence) once the file is open */
	size_t chunk_count;
	uint32_t *file_order; /* indexes of chunks, sorted by offset */
	uint32_t writer_count;
	struct found_records *found; /* until the chunks are checked, as the next member */
	bool *is_damaged;	     /* by writer */

	struct spool_damage damages[DAMAGES_KEPT];
	size_t damages_kept;
	uint64_t damages_total;
};

/* The chunk at OFFSET in the spool. The caller has checked that it lies within the file. */
static inline const struct spool_chunk *reader_chunk_at(const struct spool_reader *r,
							uint64_t offset)
{
	return (const struct spool_chunk *)(r->bytes + offset);
}

/* A counter. Relaxed: of a file that is still written, r->header and r->writers are copies
 * (live_cut.h). */
static inline uint64_t reader_load(const _Atomic uint64_t *field)
{
	return atomic_load_explicit(field, memory_order_relaxed);
}

/* Lists a damage; the first DAMAGES_KEPT are kept, the others counted. WRITER is the writer whose
 * records are damaged, or SPOOL_NO_WRITER. CAUSE is static text, or NULL for the kind's text. */
void reader_add_damage(struct spool_reader *r, enum spool_damage_kind kind, uint32_t writer,
		       uint64_t offset, uint64_t chunks, const char *cause);

/* Checks the part of the header that does not change. Returns 0, or an error of spool_reader_open,
 * with its text in ERROR. */
int reader_check_header(struct spool_reader *r, struct dagtap_error *error);

/* Checks the part of the header that changes while the process runs, and fills r->info. The header
 * was checked, and r->writers is set. Returns 0, or -EINVAL with its text in ERROR. */
int reader_read_header(struct spool_reader *r, struct dagtap_error *error);

/* Sets r->places; lists as damage what the file is too short for. */
void reader_count_places(struct spool_reader *r);

/* Finds and checks all chunks, counts their records in r->found, and fills r->chunks,
 * r->file_order and r->writer_count. READ, which may be NULL, gets the chunks while they are
 * checked. Returns as spool_reader_check. */
int reader_find_chunks(struct spool_reader *r, spool_part_read *read, void *context);

/* Compares the chunks and records found with what their writers counted: lists what is missing as
 * damage, and fills r->ledger. */
void reader_check_counts(struct spool_reader *r);

/* Whether the chunk at PLACE was being reused by its ring when the process was killed: it counts as
 * reused. False in a closed file. */
bool reader_is_reusing(const struct spool_reader *r, uint64_t place);

/* Where the chunk at PLACE begins. */
static inline uint64_t reader_offset_of(uint64_t place)
{
	return SPOOL_CHUNK_OFFSET + place * SPOOL_CHUNK_BYTES;
}

/* The places of step NUMBER, from *RET_FIRST up to *RET_END. */
static inline void reader_part_places(const struct spool_reader *r, uint32_t number,
				      uint64_t *ret_first, uint64_t *ret_end)
{
	uint64_t end = (number + 1ull) * KEEP_CHUNKS;

	*ret_first = (uint64_t)number * KEEP_CHUNKS;
	*ret_end = end < r->places ? end : r->places;
}

/* The records of a chunk that was checked. */
void reader_fill_stretch(const struct spool_reader *r, const struct found_chunk *found,
			 struct spool_stretch *ret_stretch);

/* Gives the pages of step NUMBER back to the kernel; a later access reads them from the file again.
 * Does nothing for memory of the caller, and for an open file, whose private pages the reader has
 * changed (check_records removes records behind the cut). */
void reader_give_back_part(const struct spool_reader *r, uint32_t number);

/* Maps the pages of step NUMBER in one call, which costs a fraction of a fault for every few
 * pages. Does nothing for memory of the caller. */
void reader_map_part(const struct spool_reader *r, uint32_t number);

#endif
