/* Reads the records of a spool that its process may still write, each once.
 *
 * Every call of follower_read goes on where the last one ended: in each chunk that is not read to
 * its end, up to the first record that is not complete. Chunks are taken in the order in which
 * their writers took them, so the writers advance together, roughly in the order of time. The
 * records of one writer come in the order of writing. Those of different writers may come in any
 * order: a completion before its dispatch, a call before the name of its function.
 *
 * A ring recording reuses its chunks. Chunks that it reuses before they were read are lost: the
 * follower never waits and never makes the process wait, but it counts what is lost
 * (follower_count). Chunks of a ring are copied, because the process may clear or cut off a chunk
 * at any time (follower_ring.c).
 *
 * Cost: a chunk is mapped while it is read; a poll of an idle spool looks at one word of each open
 * chunk. Memory: 40 bytes for each chunk that is not read to its end.
 *
 * Threading: one thread at a time. The process that writes is not stopped, and may be the own
 * one. */
#ifndef DAGTAP_LIVE_FOLLOWER_H
#define DAGTAP_LIVE_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error_text.h"
#include "record/record.h"
#include "record/spool.h"

/* A chunk that has more records, or may get more. */
struct followed_chunk {
	const struct spool_chunk *chunk; /* mapped; NULL: not mapped at present */
	uint64_t place;			 /* number of the chunk in the file, from 0 */
	uint32_t index;			 /* in the order in which chunks were taken */
	uint32_t at;			 /* offset of the next record; 0: without a label yet */
	uint32_t tid;			 /* of the thread that wrote the last record */
};

struct follower {
	int fd;				   /* owned */
	const struct spool_header *header; /* mapped: the process changes its live part */
	struct followed_chunk *chunks;	   /* ascending by index; those without a label last */
	size_t chunk_count, chunk_room;
	uint64_t next_place; /* places below are among the chunks, or were */
	uint64_t labels;     /* chunks that had a label */
	uint64_t damage;     /* chunks that were left because of a record that makes no sense */
	uint64_t mark;	     /* chunks that were taken before follower_mark */
	bool is_marked;	     /* not everything before the mark has been read */
	uint64_t read[RECORD_CLASS_COUNT]; /* records that were given out */

	/* Of a ring recording, else zero. */
	uint32_t *seen; /* by place: index + 1 of the last chunk that was found there */
	size_t seen_room;
	uint64_t scanned_taken; /* chunks_taken before the last scan of the places */
	bool is_scanned;	/* that scan came after all labels up to then were written */
	bool is_scanned_closed; /* the last scan came after the end */
	unsigned char *copy;	/* owned; SPOOL_CHUNK_BYTES: the chunk that is read */
	uint64_t lost_chunks;
	bool is_dead; /* follower_note_death was called */
};

/* What was read so far. */
struct follower_counts {
	uint64_t read[RECORD_CLASS_COUNT]; /* records that were given out, by class */
	/* Records that are in no chunk any more and were not read. Exact when the recording is
	 * closed, and after follower_note_death; before, records that are not read yet or not
	 * complete are among them. */
	uint64_t lost[RECORD_CLASS_COUNT];
	/* Records that the process itself could not write. */
	uint64_t dropped[RECORD_CLASS_COUNT];
	uint64_t no_writer; /* of these, records of threads for which there was no writer */
	/* Chunks of a ring that were reused before they were read to their end, and were seen. */
	uint64_t lost_chunks;
};

/* Takes RECORD, which is well-formed and valid during the call, written by thread TID. Returns 0 or
 * a negative errno, which ends the read. */
typedef int follower_take(void *context, const struct record_header *record, uint32_t tid);

/* Opens the spool that FD refers to, which the caller keeps. NAME stands for it in messages.
 * Returns 0, and the caller closes FOLLOWER; or -EINVAL or -ENODATA as spool_reader_open,
 * -EOPNOTSUPP: a ring recording, without TAKES_RING; -ENOMEM, or the errno of dup or mmap. ERROR
 * may be NULL. */
int follower_open(struct follower *follower, int fd, const char *name, bool takes_ring,
		  struct dagtap_error *error);

/* Closes FOLLOWER, which may be zero. */
void follower_close(struct follower *follower);

/* Calls TAKE for the next records, about MOST_BYTES of them. Returns 1 if there are more now, 0 if
 * not, or a negative errno: of TAKE, of mmap, or -ENOMEM. */
int follower_read(struct follower *follower, size_t most_bytes, follower_take *take, void *context);

/* Marks the records that are complete now; a mark replaces the last one. */
void follower_mark(struct follower *follower);

/* Whether follower_read has given out everything before the mark. */
bool follower_is_past_mark(const struct follower *follower);

/* To be called when the process has ended, perhaps without closing its recording, before the last
 * reads. The next read looks for all chunks, because a label that came long after its chunk was
 * taken is not looked for otherwise; and follower_count no longer counts records that the process
 * had begun and not completed as lost. */
void follower_note_death(struct follower *follower);

/* Counts what was read and lost. Reads the counters of all writers, and after follower_note_death
 * the whole spool if it was not closed. */
void follower_count(const struct follower *follower, struct follower_counts *ret_counts);

/* Takes off what COUNTS say was lost and had not been written at BEFORE, an earlier count of the
 * same follower. Where later records were read, as many lost ones are not counted. */
void follower_counts_limit(struct follower_counts *counts, const struct follower_counts *before);

/* Whether the recording is closed: no record comes after those that can be read now. */
bool follower_is_closed(const struct follower *follower);

#endif
