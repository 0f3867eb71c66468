/* The spool file of this process while it is written: its mapping, its ready chunks, its writers.
 *
 * One housekeeping thread calls spooler_service now and then; it makes chunks ready ahead of the
 * writers and seals the full ones. Everybody else only takes and gives back writers.
 *
 * After spooler_close the writers stay valid and refuse (counted as late): a thread that is still
 * inside a wrapper at exit needs no lock. In a fork child nothing of this may be touched but
 * spooler_forget: the mappings are not inherited, and writers read as zero, which refuses. */
#ifndef DAGTAP_RECORD_SPOOLER_H
#define DAGTAP_RECORD_SPOOLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/writer.h"

#define SPOOLER_FIRST_BYTES	    ((uint64_t)32 << 20)
#define SPOOLER_READY_BYTES_DEFAULT ((uint64_t)256 << 20)
#define SPOOLER_READY_BYTES_LEAST   ((uint64_t)4 << 20)
#define SPOOLER_READY_BYTES_MOST    ((uint64_t)1 << 30)
#define SPOOLER_RING_BYTES_DEFAULT  ((uint64_t)256 << 20)
#define SPOOLER_RING_READY_BYTES    ((uint64_t)128 << 20)
#define SPOOLER_RING_BYTES_LEAST    ((uint64_t)4 << 20)

struct spooler;

struct spooler_options {
	const char *folder;
	uint64_t
		ready_bytes; /* most chunks kept ready, brought into the bounds above; 0: the default */
	uint32_t session;    /* recordings that this process has made before */
	uint64_t ring_bytes; /* 0: the file grows, and nothing is let go */
	uint64_t ring_ns;    /* with a ring: what is older goes first; 0: whatever its age */
};

/* Makes `<folder>/<pid>.<ns>.spool` with SPOOLER_FIRST_BYTES of chunks in memory and three times as many
 * mapped. As many are kept ready as half a second uses up, SPOOLER_FIRST_BYTES at least. The default of the most is
 * SPOOLER_READY_BYTES_DEFAULT; with a ring a quarter of it, or SPOOLER_RING_READY_BYTES. Fails without leaving a file. */
int spooler_open(const struct spooler_options *options, struct spooler **ret_spooler);

/* Makes chunks ready, then seals full ones. Returns how many it found taken or sealed, 0 = nothing goes
 * on, or the negative errno that keeps new chunks from being made (no space, file too large): writers
 * then drop, and a later call tries again. One thread at a time. */
int spooler_service(struct spooler *spooler);

/* From any thread: a service under way soon returns, and no more chunks are made ready. */
void spooler_wind_down(struct spooler *spooler);

/* A writer for the calling thread, its THREAD record written. Never NULL: when all lanes are in
 * use it is one that refuses and counts. Lock-free. */
struct writer *spooler_take_writer(struct spooler *spooler, const struct writer_thread *thread);
void spooler_put_writer(struct spooler *spooler, struct writer *w);

/* Seals everything and marks the file closed. Bounded: a thread that is inside a record for a
 * second (it got no CPU, or was torn out by a signal) leaves the file open in state (its chunk not sealed), nothing else. Returns 0 or -EBUSY. */
int spooler_close(struct spooler *spooler);

/* After close, when no thread has a writer any more. NULL is fine. */
void spooler_release(struct spooler *spooler);

/* In a fork child: drops what was inherited, without touching the parent's file. */
void spooler_forget(struct spooler *spooler);

const char *spooler_path(const struct spooler *spooler);
uint64_t spooler_session_id(const struct spooler *spooler);

/* For writer.c. NULL when no more than LEAVE chunks are ready. */
struct spool_chunk *spooler_take_chunk(struct spooler *spooler, uint32_t leave,
				       uint32_t *ret_index);
int spooler_is_closing(const struct spooler *spooler);
/* Around what is counted for no lane: a close waits for its end. False once a close has begun. */
bool spooler_begin_refusal(struct spooler *spooler);
void spooler_end_refusal(struct spooler *spooler);
struct spool_live *spooler_live(struct spooler *spooler);

#endif
