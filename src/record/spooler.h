/* The spool file of this process while it is written: its mapping, its chunks and its writers.
 *
 * The housekeeper calls spooler_service repeatedly. It makes chunks ready ahead of the writers,
 * and seals the full ones. The application's threads take and put back writers, and their writers
 * take chunks; both are lock-free.
 *
 * After spooler_close the writers stay valid, and drop every record (counted as late): a thread
 * that is still inside a wrapper at exit needs no lock. spooler_release frees the memory. In a
 * fork child only spooler_forget may be called: the child does not inherit the mappings of the
 * file, and its copies of the writers read as zero, which makes them drop every record. */
#ifndef DAGTAP_RECORD_SPOOLER_H
#define DAGTAP_RECORD_SPOOLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/chunk_take.h"
#include "record/writer.h"

/* Bytes of chunks. FIRST: ready before the first record, and the least later. READY_DEFAULT,
 * _LEAST, _MOST: the bound of chunks that are kept ready. RING_DEFAULT, _LEAST: the size of a
 * ring. RING_READY: the least bound of ready chunks with a ring, if none was given. */
#define SPOOLER_FIRST_BYTES	    ((uint64_t)32 << 20)
#define SPOOLER_READY_BYTES_DEFAULT ((uint64_t)256 << 20)
#define SPOOLER_READY_BYTES_LEAST   ((uint64_t)4 << 20)
#define SPOOLER_READY_BYTES_MOST    ((uint64_t)1 << 30)
#define SPOOLER_RING_BYTES_DEFAULT  ((uint64_t)256 << 20)
#define SPOOLER_RING_READY_BYTES    ((uint64_t)128 << 20)
#define SPOOLER_RING_BYTES_LEAST    ((uint64_t)4 << 20)

struct spooler;

struct spooler_options {
	const char *folder;   /* must exist; not kept */
	uint64_t ready_bytes; /* bound of chunks kept ready, within LEAST..MOST; 0: the default */
	uint32_t session;     /* number of earlier sessions of this process */
	uint64_t ring_bytes;  /* size of the ring; 0: no ring, the file grows */
	uint64_t ring_ns; /* ring: chunks older than this are reused first; 0: no limit of age */
};

/* Creates `<folder>/<pid>.<ns>.spool` with SPOOLER_FIRST_BYTES of ready chunks in memory. Without
 * a ring and without a limit of address space, three times as many more are allocated and mapped,
 * but not touched. From then on half a second's consumption is kept ready, SPOOLER_FIRST_BYTES at
 * least. The default bound is SPOOLER_READY_BYTES_DEFAULT; with a ring it is a quarter of the
 * ring, but at least SPOOLER_RING_READY_BYTES. The caller owns *RET_SPOOLER and ends it with
 * spooler_close, then spooler_release. Returns 0, or a negative errno; then no file
 * is left. Called by the thread that starts the session. Cost: writes SPOOLER_FIRST_BYTES of
 * zeros. */
int spooler_open(const struct spooler_options *options, struct spooler **ret_spooler);

/* Makes chunks ready, then seals full ones. Returns the number of chunks that writers took since
 * the last call, plus the number that it sealed; 0 means that nothing is being recorded. Returns
 * a negative errno (no space, file too large, ...) if it could not make chunks ready; writers
 * then drop records, and a later call tries again. Called by the housekeeper; takes the service
 * lock. */
int spooler_service(struct spooler *spooler);

/* Makes a spooler_service in progress return soon, and keeps later ones from making chunks ready.
 * Any thread. */
void spooler_wind_down(struct spooler *spooler);

/* A writer for the calling thread, with its THREAD record written. THREAD is copied. Never NULL:
 * when all writers are in use, or the spooler closes, the result is a writer that drops and counts
 * every record. The caller gives it back with spooler_put_writer. Lock-free. */
struct writer *spooler_take_writer(struct spooler *spooler, const struct writer_thread *thread);

/* Gives a writer back, for the next new thread. Called on the thread that took it, when this thread
 * ends or changes to another spool. W may be NULL. A writer that is within a record is never used
 * again. Lock-free. */
void spooler_put_writer(struct spooler *spooler, struct writer *w);

/* Stops all writers, seals all chunks and marks the file closed. Writers stay valid and drop
 * every record. Returns 0; also 0 when it was called before. Returns -EBUSY if a thread stays
 * within a record for TIMER_SPOOL_QUIESCE (it got no CPU, or a signal handler left the record by
 * longjmp): the file then keeps the state open, and chunks that are not full stay unsealed.
 * Returns -EBUSY too if the service lock is not free within TIMER_SPOOL_SERVICE. Any thread. A
 * signal handler that interrupted a record of its own thread gets -EBUSY at once. */
int spooler_close(struct spooler *spooler);

/* Unmaps and frees everything. Call after spooler_close, when no thread has a writer any more.
 * SPOOLER may be NULL. */
void spooler_release(struct spooler *spooler);

/* In a fork child: frees what the child inherited, without touching the parent's file. SPOOLER
 * may be NULL. */
void spooler_forget(struct spooler *spooler);

/* The path of the spool file. Belongs to SPOOLER. */
const char *spooler_path(const struct spooler *spooler);

/* Records of all writers so far. */
struct spooler_totals {
	uint64_t stored;      /* and not dropped by the ring since */
	uint64_t lost;	      /* dropped for any cause but the ring */
	uint64_t overwritten; /* dropped by the ring */
};

/* Adds up the writers' counters while they write; each counter is read once, so the sums are those
 * of no single moment. Any thread, before spooler_release. */
struct spooler_totals spooler_read_totals(const struct spooler *spooler);

#endif
