/* Writes and reads the PACKED section of a .dagtap file: the packed spool of one process
 * (docs/format/dagtap.md).
 *
 * Packing keeps the records of each writer, byte for byte and in their order, the process
 * information, the counts, and the damage that was found when the spool was packed. It does not
 * keep the positions of the records in chunks.
 *
 * 	struct pack_reader *reader;
 * 	struct pack_batch batch;
 *
 * 	if (pack_reader_open(&section, &reader, &error))
 * 		...error.message...
 * 	while ((result = pack_reader_next(reader, &batch)) > 0)
 * 		...batch.records, batch.bytes...
 * 	pack_reader_close(reader);
 *
 * Threading: one thread at a time may use a reader, except for pack_reader_block; different readers
 * are independent. Cost: the
 * writer and the reader each hold a few blocks in memory (1 MiB of records per block). Opening
 * computes the checksums of the whole section once. */
#ifndef DAGTAP_TRACE_PACK_H
#define DAGTAP_TRACE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error_text.h"
#include "record/spool_reader.h"

/* Receives a section in pieces, in file order. pack_write calls both functions on its own
 * thread. */
struct pack_sink {
	/* Appends SIZE bytes, which are valid only during the call. 0 or a negative errno, which
	 * ends pack_write. */
	int (*put)(void *context, const void *bytes, size_t size);
	/* Reports DONE of TOTAL chunks, at least once per 64 chunks. May be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context; /* first argument of both functions */
};

/* Packs the sound records of SPOOL and writes the section to SINK. Releases the pages of the spool
 * after it has read them. 0, -ENOMEM, or the error of SINK's put; after an error the output is
 * incomplete. */
int pack_write(const struct spool_reader *spool, const struct pack_sink *sink);

/* A section in memory. The caller owns the memory and keeps it until the reader is closed. */
struct pack_section {
	const char *file; /* name of the file, for messages; pack_reader_open copies it */
	/* Of the section in the file; added to the offsets in messages and damages. */
	uint64_t offset;
	const void *bytes;
	size_t size; /* bytes */
};

struct pack_reader;

/* Opens SECTION, whose struct is copied. 0, -ENOMEM, or -EINVAL: the index or the facts are damaged
 * or of another version, so nothing can be read. A block that does not match its checksum is listed
 * as damage and skipped; it is not an error. */
int pack_reader_open(const struct pack_section *section, struct pack_reader **ret_reader,
		     struct dagtap_error *error);
void pack_reader_close(struct pack_reader *reader); /* accepts NULL */

/* The values that the spool reader returned at packing (record/spool_reader.h); valid until the
 * reader is closed. In the ledger, the records of damaged blocks are moved from found to missing,
 * also when pack_reader_next finds the damage. The writer count is one past the last writer. */
const struct spool_info *pack_reader_info(const struct pack_reader *reader);
const struct spool_ledger *pack_reader_ledger(const struct pack_reader *reader);
uint32_t pack_reader_writer_count(const struct pack_reader *reader);

/* First the damages of the spool, with offsets in the spool; then the damages of the section (kind
 * SPOOL_DAMAGE_BLOCK), with offsets in the file. The array holds *ret_kept of *ret_total damages
 * and is valid until the reader is closed; pack_reader_next may append to it. */
const struct spool_damage *pack_reader_damages(const struct pack_reader *reader, size_t *ret_kept,
					       uint64_t *ret_total);

/* Counts the records of each type in all undamaged blocks, from the index. [RECORD_NONE] counts the
 * records of types that this program does not know. */
void pack_reader_counts(const struct pack_reader *reader, uint64_t ret_counts[RECORD_TYPE_COUNT]);

/* Consecutive records of one writer: one block. Valid until the next call of pack_reader_next,
 * aligned to 8 bytes. Each record has an unknown type, or is long enough for its type and contains
 * its text. The first record is a THREAD. */
struct pack_batch {
	uint32_t writer;
	uint32_t tid;	/* thread id of the first record */
	uint32_t order; /* ascends by writer, and within one writer by time of writing */
	const void *records;
	size_t bytes; /* of all records */
};

/* Unpacks the next wanted block. 1: RET_BATCH is set; 0: no more blocks; -ENOMEM. Batches come in
 * the order of packing: the batches of one writer are in the order of its records, and all batches
 * are roughly ordered by time. A block that cannot be unpacked or that holds an invalid record is
 * skipped and added to the damages. */
int pack_reader_next(struct pack_reader *reader, struct pack_batch *ret_batch);

/* The same for block NUMBER, from 0 to pack_reader_block_count - 1, on any of several threads: each
 * has its own number WORKER (base/workers.h), and RET_BATCH is valid until the next call with that
 * number. No other function may run meanwhile. 1: RET_BATCH is set; 0: the block has no wanted
 * records, or is damaged: then *RET_FAULT is a static text, which the caller gives to
 * pack_reader_lose once all threads are done, else NULL; -ENOMEM. */
uint32_t pack_reader_block_count(const struct pack_reader *reader);
int pack_reader_block(struct pack_reader *reader, unsigned worker, uint32_t number,
		      struct pack_batch *ret_batch, const char **ret_fault);

/* Adds block NUMBER to the damages. Call for ascending numbers. */
void pack_reader_lose(struct pack_reader *reader, uint32_t number, const char *cause);

/* Selects the record types (bits 1 << type) that the next batches must hold. Batches without such
 * records are skipped. Records of other types may be blank: type and size are set, the rest is
 * zero. THREAD records are never blank. UINT64_MAX, the value after opening, selects all types. */
void pack_reader_want(struct pack_reader *reader, uint64_t types);

/* The next batch is the first one again. Keeps the selected types. */
void pack_reader_rewind(struct pack_reader *reader);

#endif
