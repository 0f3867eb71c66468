/* What the tests of ring mode share; helpers fail the cmocka test on an error. */
#ifndef TESTS_RECORD_RING_FIXTURE_H
#define TESTS_RECORD_RING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spool_fixture.h"

#define RING_BYTES    SPOOLER_RING_BYTES_LEAST
#define RECORD_BYTES  sizeof(struct record_api)
#define RING_RECORDS  (RING_BYTES / RECORD_BYTES)
#define ROUNDS	      20
#define SERVICE_EVERY 500 /* records: half a chunk's */

/*
 * What the file may hold besides the ring: the ready chunks, a window that was begun, and two
 * chunks for each of a few threads.
 */
#define FILE_BYTES_MOST                                                                            \
	(SPOOL_CHUNK_OFFSET + RING_BYTES + SPOOLER_READY_BYTES_LEAST + ((uint64_t)5 << 20))

/* Opens a spooler with a ring of RING_BYTES. RING_NS: as in struct spooler_options. */
struct spooler *ring_open(const struct fixture *fixture, uint64_t ring_ns);

/* Returns the size of the fixture's only file. */
uint64_t ring_file_bytes(const struct fixture *fixture);

/* Puts COUNT records of fixture_put from number FIRST on. Serves the spooler often, as a fast
 * housekeeping thread does. */
void ring_put_some(struct spooler *spooler, struct writer *w, uint64_t first, uint64_t count);

/* Closes and releases the spooler, and reads its file, which must be sound. */
struct spool_reader *ring_close_and_read(const struct fixture *fixture, struct spooler *spooler);

/* Put a kernel, or the begin and the end of a scope with the text "text". */
void ring_put_kernel(struct writer *w, uint32_t id);
void ring_put_scope(struct writer *w, uint64_t id, uint64_t parent);
void ring_put_scope_end(struct writer *w, uint64_t id);

#endif
