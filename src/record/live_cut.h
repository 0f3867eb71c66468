/* A consistent cut through a spool that its process still writes.
 *
 * The counts of each writer, read once, say which of its records are in the cut: of each class the
 * first N. The classes are read one after the other, over all writers, effects before their causes:
 * so the cut has no completion without its dispatch, and no dispatch without its kernel. Records
 * that were written later are passed over. The process is not stopped, and the file is read once,
 * up to the size that it had after the counts were read.
 *
 * The file of a killed process is open too. Its counts do not change any more, so no record is
 * passed over: a record that no count includes is damage, as in a closed file.
 *
 * Threading: one thread at a time. Only spool_reader.c uses it. */
#ifndef DAGTAP_RECORD_LIVE_CUT_H
#define DAGTAP_RECORD_LIVE_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "record/spool.h"

/* The cut of one writer, by class. */
struct live_writer {
	uint64_t attempted[RECORD_CLASS_COUNT]; /* as the file had it at the cut */
	uint64_t kept[RECORD_CLASS_COUNT];	/* number of first records that are in the cut */
	/* The same number for META records that others refer to. It is read last; kept[META] is
	 * for the other META records, and is read first. */
	uint64_t definitions;
	uint64_t walked[RECORD_CLASS_COUNT]; /* records that live_cut_takes was asked about */
	uint64_t within[RECORD_CLASS_COUNT]; /* of these: passed over, although counted */
};

struct live_cut {
	const struct spool_header
		*now; /* the file's, in a shared mapping: the process changes it */
	const struct spool_writer *writers_now;

	/* Copies from the moment of the cut. After live_cut_finish the counts in writers are those
	 * of the records in the cut. */
	struct spool_header header;
	struct spool_writer writers[SPOOL_WRITER_COUNT];
	struct live_writer limits[SPOOL_WRITER_COUNT];
};

/* Reads the counts of the spool in the file FD. The caller must take the file's size and map it
 * after this call. *RET_CUT is NULL if the file is closed or no spool; else the caller releases
 * it. Returns 0, -ENOMEM or the negative errno of mmap. */
int live_cut_take(int fd, struct live_cut **ret_cut);

/* CUT may be NULL. */
void live_cut_release(struct live_cut *cut);

/* With a ring: makes the pages of CHUNK, in a private mapping, our own copy, with a complete
 * label. A chunk whose label changes meanwhile gets no label in the copy: it was begun after the
 * cut. */
void live_cut_copy_chunk(struct spool_chunk *chunk);

/* With a ring, after all chunks were copied: removes from the cut what the ring has dropped by
 * now. */
void live_cut_settle_ring(struct live_cut *cut);

/* Returns false if the chunk was begun after the cut, or reused by the ring. */
bool live_cut_has_chunk(const struct live_cut *cut, uint32_t writer, uint32_t sequence);

/* Whether the next record of WRITER is in the cut. Must be called once for each record of a writer,
 * in the order of writing. */
bool live_cut_takes(struct live_cut *cut, uint32_t writer, enum record_type type);

/* Call after the last record: sets the counts of the writers to those of the records in the cut. */
void live_cut_finish(struct live_cut *cut);

#endif
