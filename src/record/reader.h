/* Reading a spool: docs/format/spool.md, "Reading".
 *
 * Opening checks everything once: sums, chunks, the structure of every record, the counts. What a
 * cursor then returns is well-formed: long enough for its type, its text within it. What cannot be
 * trusted is left out and listed as damage; a process that was killed is no damage. A file that is
 * still written is read up to a cut (record/live_cut.h), and stays as it was then; its pages are
 * kept.
 *
 *	struct spool_reader *reader;
 *	struct spool_cursor cursor;
 *	struct spool_record record;
 *
 *	if (spool_reader_open(path, &reader, &error))
 *		...error.message...
 *	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
 *		spool_cursor_init(&cursor, reader, w);
 *		while (spool_cursor_next(&cursor, &record))
 *			...switch (record.type)...
 *	}
 *	spool_reader_close(reader);
 *
 * Threading: a reader does not change after it was opened; several threads may have cursors. Cost:
 * opening reads the whole file once; memory is 48 bytes a chunk. Pages of a mapped file are given
 * back behind the opening and behind spool_reader_next_chunk, so that a closed file of any size
 * takes a few MB of resident memory. */
#ifndef DAGTAP_RECORD_READER_H
#define DAGTAP_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/record.h"
#include "record/spool.h"

struct spool_reader;

/* Maps the file. -EINVAL: not a spool, or one of another version; -ENODATA: a spool that was cut
 * off within its header, of which nothing can be read; else what open or mmap said. */
int spool_reader_open(const char *path, struct spool_reader **ret_reader,
		      struct dagtap_error *error);

/* The same from the caller's descriptor, which may be closed afterwards. NAME is what messages call
 * it. */
int spool_reader_open_fd(int fd, const char *name, struct spool_reader **ret_reader,
			 struct dagtap_error *error);

/* Reads from memory that stays the caller's and must outlive the reader; aligned to 8 bytes. NAME
 * is what messages call it. */
int spool_reader_open_memory(const void *bytes, size_t length, const char *name,
			     struct spool_reader **ret_reader, struct dagtap_error *error);

void spool_reader_close(struct spool_reader *reader); /* NULL is fine */

/* Whose spool it is. Pointers into the spool, terminated. */
struct spool_info {
	bool closed; /* false: truncated, the process was killed or is still running */
	uint32_t pid;
	uint32_t ppid;
	uint32_t session; /* recordings that the process has made before */
	uint64_t session_id;
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	uint64_t end_ns; /* 0 when not closed */
	const char *host;
	const char *exe;
	const char *cmdline; /* arguments, each ended by a zero byte */
	size_t cmdline_bytes;
};
const struct spool_info *spool_reader_info(const struct spool_reader *reader);

/* Offered, lost and found, by class. For each class
 *	attempted = found + dropped + in_flight + missing
 * in_flight: counted by a writer that was killed before its record was complete (only when not
 * closed, at most one a writer). missing: in damaged chunks; unexplained. */
struct spool_ledger {
	uint64_t attempted[RECORD_CLASS_COUNT];
	uint64_t found[RECORD_CLASS_COUNT];
	uint64_t dropped[RECORD_CLASS_COUNT][RECORD_DROP_COUNT];
	uint64_t in_flight[RECORD_CLASS_COUNT];
	uint64_t missing[RECORD_CLASS_COUNT];
	uint64_t late[RECORD_CLASS_COUNT]; /* offered after the end; in none of the above */
	uint64_t unknown;		   /* records of types that this reader does not know */
	uint64_t chunks_taken;
	uint64_t chunks_read;
};
const struct spool_ledger *spool_reader_ledger(const struct spool_reader *reader);

#define SPOOL_DAMAGES(X)                                                                           \
	X(CUT, "file is shorter than its chunks")                                                  \
	X(LABEL, "chunk label makes no sense")                                                     \
	X(CHUNK_SUM, "chunk does not match its checksum")                                          \
	X(COUNTS_SUM, "counts do not match their checksum")                                        \
	X(RECORD, "record makes no sense")                                                         \
	X(MISSING, "chunk is missing")                                                             \
	X(DUPLICATE, "two chunks claim the same place")                                            \
	X(COUNTS, "counts do not add up")                                                          \
	X(BLOCK, "packed block is damaged") /* of a .dagtap: offset and the like are of that file */

enum spool_damage_kind {
#define X(name, text) SPOOL_DAMAGE_##name,
	SPOOL_DAMAGES(X)
#undef X
		SPOOL_DAMAGE_COUNT
};

/* Offsets are those in the spool. writer: SPOOL_NO_WRITER when it is not known. */
#define SPOOL_NO_WRITER UINT32_MAX

struct spool_damage {
	enum spool_damage_kind kind;
	uint32_t writer;
	uint64_t offset;
	uint64_t chunks;   /* how many are affected, 0 or more */
	const char *cause; /* static text; more exact than the kind's where it can be */
};

const char *spool_damage_text(enum spool_damage_kind kind);

/* The first damages found (at most 64 are kept) and how many there were. */
const struct spool_damage *spool_reader_damages(const struct spool_reader *reader, size_t *ret_kept,
						uint64_t *ret_total);

/* One past the last writer; writers without chunks have no records. */
uint32_t spool_reader_writer_count(const struct spool_reader *reader);

struct spool_record {
	const struct record_header *header; /* cast to the type's struct; in the spool's memory */
	enum record_type type;		    /* RECORD_NONE < type < RECORD_TYPE_COUNT */
	uint32_t bytes;			    /* of the whole record */
	uint32_t tid;			    /* whose it is, by the THREAD record before it */
	uint32_t writer;
	uint64_t offset;
};

struct spool_cursor {
	const struct spool_reader *reader;
	size_t chunk;
	size_t chunks_end;
	uint32_t at; /* in the chunk */
	uint32_t tid;
};

/* The records of one writer in the order in which they were written. */
void spool_cursor_init(struct spool_cursor *cursor, const struct spool_reader *reader,
		       uint32_t writer);

bool spool_cursor_next(struct spool_cursor *cursor, struct spool_record *ret_record);

/* The chunks themselves, for whoever reads records wholesale: numbered by (writer, time of writing). */
uint32_t spool_reader_chunk_count(const struct spool_reader *reader);

/* The number of the chunk at PLACE (from 0) among those in the file. */
uint32_t spool_reader_chunk_in_file(const struct spool_reader *reader, uint32_t place);

/* The sound records of a chunk, one after the other; the first is a THREAD. Those of types that this
 * program does not know are among them. */
struct spool_stretch {
	uint32_t writer;
	uint64_t types; /* that are in it: 1 << record type each, of those that are known */
	const void *records;
	size_t bytes; /* 0: nothing in it can be trusted */
};
void spool_reader_stretch(const struct spool_reader *reader, uint32_t chunk,
			  struct spool_stretch *ret_stretch);

/* All chunks as they lie in the file: nearly in the order of time, and the way that touches memory once.
 * *PLACE starts with 0. False: no more. Pages of chunks that were passed are given back now and then. */
bool spool_reader_next_chunk(const struct spool_reader *reader, uint32_t *place,
			     uint32_t *ret_chunk);

/* Gives the chunk's pages back; they are read again when somebody looks. */
void spool_reader_forget(const struct spool_reader *reader, uint32_t chunk);

#endif
