/* Reads a spool: docs/format/spool.md, section "Reading".
 *
 * Opening checks everything once: checksums, chunks, the structure of every record, the counts.
 * The records that a cursor then returns are well-formed: long enough for their type, with their
 * text inside. Opening leaves out what cannot be trusted, and lists it as damage. The file of a
 * process that was killed is not damaged. A file that is still written is read up to a cut
 * (record/live_cut.h); the reader keeps the file's contents of that moment.
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
 * Threading: a reader does not change after it was opened and checked; any number of threads may
 * use it, each with its own cursors. Cost: opening reads the whole file once, and needs 36 bytes of
 * memory per chunk. Opening and spool_reader_step_end give back the pages that they have passed, so
 * a closed file of any size takes a few MB of resident memory. Of a file that is still written the
 * pages stay. */
#ifndef DAGTAP_RECORD_SPOOL_READER_H
#define DAGTAP_RECORD_SPOOL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error_text.h"
#include "record/record.h"
#include "record/spool.h"

struct spool_reader;

/* Opens and checks the spool at PATH. Returns 0 and a reader that the caller closes, or an error
 * with its text in ERROR (which may be NULL): -EINVAL: not a spool, or of another version;
 * -ENODATA: a spool that was cut off within its header, so nothing can be read; -EISDIR: not a
 * regular file; -ENOMEM; or the errno of open or mmap. Damage is no error. */
int spool_reader_open(const char *path, struct spool_reader **ret_reader,
		      struct dagtap_error *error);

/* The same for the file that FD refers to. The caller may close FD afterwards. NAME, which is
 * copied, stands for the file in messages. */
int spool_reader_open_fd(int fd, const char *name, struct spool_reader **ret_reader,
			 struct dagtap_error *error);

/* The same for a spool in memory. BYTES must be aligned to 8 bytes (else -EINVAL), stays the
 * caller's, and must outlive the reader. NAME, which is copied, stands for it in messages. */
int spool_reader_open_memory(const void *bytes, size_t length, const char *name,
			     struct spool_reader **ret_reader, struct dagtap_error *error);

/* As spool_reader_open and spool_reader_open_memory, but the chunks are not checked yet, so that
 * the caller can use records while their check has them in the CPU's cache. spool_reader_check must
 * follow; before it, only spool_reader_info, spool_reader_step_count and spool_reader_close may be
 * called. The chunks of a file that is still written are checked at once. */
int spool_reader_open_unchecked(const char *path, struct spool_reader **ret_reader,
				struct dagtap_error *error);
int spool_reader_open_memory_unchecked(const void *bytes, size_t length, const char *name,
				       struct spool_reader **ret_reader,
				       struct dagtap_error *error);

/* Whether the chunks of READER were checked. */
bool spool_reader_is_checked(const struct spool_reader *reader);

/* A step (spool_reader_step_count) while its chunks are checked. */
struct spool_part;
struct spool_stretch;

/* Gets step NUMBER. It calls spool_part_next for each of its chunks, or for the first of them.
 * WORKER and the result as in base/workers.h. */
typedef int spool_part_read(void *context, unsigned worker, uint32_t number,
			    struct spool_part *part);

/* Checks the next chunk of PART in the order of the file. Returns false after the last one. The
 * records stay in place until the part's spool_part_read has returned. */
bool spool_part_next(struct spool_part *part, struct spool_stretch *ret_stretch);

/* Checks the chunks of a reader that was opened unchecked, on all threads, and calls READ for each
 * step. READ may be NULL. Returns 0; or 1: READ has got chunks twice, of which only one counts, so
 * what it has read is worth nothing; or -ENOMEM, or the error of the first part for which READ
 * failed: then only spool_reader_close may follow. */
int spool_reader_check(struct spool_reader *reader, spool_part_read *read, void *context);

/* Frees the reader; its records and texts become invalid. READER may be NULL. */
void spool_reader_close(struct spool_reader *reader);

/* The process that wrote the spool. Texts lie in the spool and are terminated. */
struct spool_info {
	bool closed; /* false: the process was killed, or still runs */
	uint32_t pid;
	uint32_t ppid;
	uint32_t session; /* number of earlier sessions of the process */
	uint64_t session_id;
	uint64_t start_ns;	    /* CLOCK_MONOTONIC */
	uint64_t start_realtime_ns; /* CLOCK_REALTIME, read directly after start_ns */
	uint64_t end_ns;	    /* CLOCK_MONOTONIC; 0 when not closed */
	const char *host;
	const char *exe;
	const char *cmdline; /* arguments, each ended by a zero byte */
	size_t cmdline_bytes;
};

/* Belongs to READER. */
const struct spool_info *spool_reader_info(const struct spool_reader *reader);

/* Numbers of records by class. For each class
 *	attempted = found + dropped + in_flight + missing
 * in_flight: a writer counted the record, and was killed before it was complete (only when not
 * closed; at most one record per writer, and the THREAD record before it). missing: the rest, in
 * damaged chunks or unexplained. */
struct spool_ledger {
	uint64_t attempted[RECORD_CLASS_COUNT];
	uint64_t found[RECORD_CLASS_COUNT];
	uint64_t dropped[RECORD_CLASS_COUNT][RECORD_DROP_COUNT];
	uint64_t in_flight[RECORD_CLASS_COUNT];
	uint64_t missing[RECORD_CLASS_COUNT];
	uint64_t late[RECORD_CLASS_COUNT]; /* offered after the end; not in the counts above */
	uint64_t unknown;		   /* records of types that this reader does not know */
	uint64_t chunks_taken;		   /* chunks that writers took */
	uint64_t chunks_read;		   /* chunks with trusted contents */
};

/* Belongs to READER. */
const struct spool_ledger *spool_reader_ledger(const struct spool_reader *reader);

/* X(name, text). */
#define SPOOL_DAMAGES(X)                                                                           \
	X(CUT, "file is shorter than its chunks")                                                  \
	X(LABEL, "chunk label makes no sense")                                                     \
	X(CHUNK_SUM, "chunk does not match its checksum")                                          \
	X(COUNTS_SUM, "counts do not match their checksum")                                        \
	X(RECORD, "record makes no sense")                                                         \
	X(MISSING, "chunk is missing")                                                             \
	X(DUPLICATE, "two chunks claim the same place")                                            \
	X(COUNTS, "counts do not add up")                                                          \
	X(BLOCK, "packed block is damaged") /* in a .dagtap file; offsets are those of that file */

enum spool_damage_kind {
#define X(name, text) SPOOL_DAMAGE_##name,
	SPOOL_DAMAGES(X)
#undef X
		SPOOL_DAMAGE_COUNT
};

#define SPOOL_NO_WRITER UINT32_MAX

struct spool_damage {
	enum spool_damage_kind kind;
	uint32_t writer;   /* SPOOL_NO_WRITER: not known */
	uint64_t offset;   /* in the file */
	uint64_t chunks;   /* number of affected chunks, 0 or more */
	const char *cause; /* static text; more exact than the kind's text if possible */
};

/* The text of a kind of damage; static. */
const char *spool_damage_text(enum spool_damage_kind kind);

/* Returns the first damages that opening found, which belong to READER, and sets *RET_KEPT to their
 * number (at most 64) and *RET_TOTAL to the number of all damages. */
const struct spool_damage *spool_reader_damages(const struct spool_reader *reader, size_t *ret_kept,
						uint64_t *ret_total);

/* One more than the index of the last writer that has a chunk. Writers below it may have no
 * records. */
uint32_t spool_reader_writer_count(const struct spool_reader *reader);

struct spool_record {
	const struct record_header *header; /* in the reader's memory; cast to the type's struct */
	enum record_type type;		    /* RECORD_NONE < type < RECORD_TYPE_COUNT */
	uint32_t bytes;			    /* of the whole record */
	uint32_t tid;			    /* thread that wrote it: the last THREAD record's */
	uint32_t writer;
	uint64_t offset; /* in the file */
};

/* The caller's storage; spool_cursor_init fills it. Needs no release. */
struct spool_cursor {
	const struct spool_reader *reader;
	size_t chunk; /* of the next record, among the reader's chunks */
	size_t chunks_end;
	uint32_t at; /* offset of the next record in its chunk */
	uint32_t tid;
};

/* Makes a cursor at the first record of WRITER. READER must outlive it. */
void spool_cursor_init(struct spool_cursor *cursor, const struct spool_reader *reader,
		       uint32_t writer);

/* Gets the next record of the writer, in the order of writing. Returns false after the last one.
 * Records of types that this program does not know are left out. */
bool spool_cursor_next(struct spool_cursor *cursor, struct spool_record *ret_record);

/* The functions below give access to whole chunks, for code that reads all records. Chunks are
 * numbered from 0 in the order of (writer, time of writing). */
uint32_t spool_reader_chunk_count(const struct spool_reader *reader);

/* The number of the chunk that comes at position PLACE, from 0, when chunks are ordered by their
 * offset in the file. */
uint32_t spool_reader_chunk_in_file(const struct spool_reader *reader, uint32_t place);

/* The well-formed records of a chunk, one after the other. The first one is a THREAD record.
 * Records of types that this program does not know are among them. */
struct spool_stretch {
	uint32_t writer;
	uint64_t order;	     /* ascends by (writer, time of writing) */
	uint64_t types;	     /* the known types in it: bits 1 << enum record_type */
	const void *records; /* in the reader's memory */
	size_t bytes;	     /* 0: nothing in the chunk can be trusted */
};

/* Gets the records of chunk number CHUNK. */
void spool_reader_stretch(const struct spool_reader *reader, uint32_t chunk,
			  struct spool_stretch *ret_stretch);

/* All chunks in steps of 8 MiB of the file: nearly in the order of time. A step may have no chunk.
 * Any number of threads may read steps at the same time. */
uint32_t spool_reader_step_count(const struct spool_reader *reader);

/* Positions of chunks for spool_reader_chunk_in_file: [first, end). */
struct spool_step {
	uint32_t first, end;
};

/* Begins step NUMBER: maps its pages, in one call. Its records may be read without it, too. */
struct spool_step spool_reader_step_begin(const struct spool_reader *reader, uint32_t number);

/* The same without mapping anything: for a look at what the step holds. */
struct spool_step spool_reader_step(const struct spool_reader *reader, uint32_t number);

/* Ends the step: gives its pages back. */
void spool_reader_step_end(const struct spool_reader *reader, uint32_t number);

/* Gives the chunk's pages back to the kernel. A later access reads them from the file again. Does
 * nothing for a file that is still written. */
void spool_reader_forget(const struct spool_reader *reader, uint32_t chunk);

#endif
