/* A process's spool, packed: the PACKED section of a .dagtap (docs/format/dagtap.md).
 *
 * Everything that a spool says comes back: the records of each writer, byte for byte and in their
 * order, whose spool it is, the counts, and the damage that was found when it was packed. What does
 * not come back is how the records lay in chunks.
 *
 *	struct pack_reader *reader;
 *	struct pack_batch batch;
 *
 *	if (pack_reader_open(&section, &reader, &error))
 *		...error.message...
 *	while ((result = pack_reader_next(reader, &batch)) > 0)
 *		...batch.records, batch.bytes...
 *	pack_reader_close(reader);
 *
 * Threading: a reader belongs to one thread at a time. Cost: both ways hold a few blocks of memory, of
 * 1 MiB of records each; opening sums the section once. */
#ifndef DAGTAP_TRACE_PACK_H
#define DAGTAP_TRACE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/reader.h"

/* Where a section goes, piece by piece. */
struct pack_sink {
	int (*put)(void *context, const void *bytes, size_t size);	/* 0 or negative errno */
	void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
	void *context;
};

/* Packs what SPOOL vouches for, and lets go of the pages it has read. 0, -ENOMEM, or what the sink
 * failed with. */
int pack_write(const struct spool_reader *spool, const struct pack_sink *sink);

/* A section in memory that stays the caller's and must outlive the reader. */
struct pack_section {
	const char *file; /* what messages and damages call it and count their offsets in */
	uint64_t offset;  /* of the section in the file */
	const void *bytes;
	size_t size;
};

struct pack_reader;

/* -EINVAL: the section's index or facts are damaged or of another version; nothing can be read. Blocks
 * that do not match their sums are listed as damage and left out. */
int pack_reader_open(const struct pack_section *section, struct pack_reader **ret_reader,
		     struct dagtap_error *error);
void pack_reader_close(struct pack_reader *reader); /* NULL is fine */

/* As the spool's reader gave them (record/reader.h). What damaged blocks held has moved from found to
 * missing. */
const struct spool_info *pack_reader_info(const struct pack_reader *reader);
const struct spool_ledger *pack_reader_ledger(const struct pack_reader *reader);
uint32_t pack_reader_writer_count(const struct pack_reader *reader);

/* First the spool's damages, with offsets in the spool; then those of the section (kind
 * SPOOL_DAMAGE_BLOCK), with offsets in the file. */
const struct spool_damage *pack_reader_damages(const struct pack_reader *reader, size_t *ret_kept,
					       uint64_t *ret_total);

/* Records of each type, in all sound blocks; [RECORD_NONE] of those that this program does not know. */
void pack_reader_counts(const struct pack_reader *reader, uint64_t ret_counts[RECORD_TYPE_COUNT]);

/* Consecutive records of one writer, valid until the next call, aligned to 8. Each is sound (long enough
 * for its type, its text within it) or of an unknown type; the first is a THREAD. */
struct pack_batch {
	uint32_t writer;
	uint32_t tid;	/* of the first record */
	uint32_t order; /* ascends by writer, and for one writer by time of writing */
	const void *records;
	size_t bytes;
};

/* 1 and a batch, in the order in which they were packed: of each writer that of its records, in all
 * roughly by time. 0: no more. -ENOMEM. A block that turns out to make no sense is passed over, and is
 * a damage from then on. */
int pack_reader_next(struct pack_reader *reader, struct pack_batch *ret_batch);

/* From the next batch on, only records of these types (bits 1 << type) are of interest: batches without any
 * are left out, and records of other types may be blank, zeros behind type and size. A THREAD is never
 * blank. UINT64_MAX: all, as at first. */
void pack_reader_want(struct pack_reader *reader, uint64_t types);

/* From the first batch again. */
void pack_reader_rewind(struct pack_reader *reader);

#endif
