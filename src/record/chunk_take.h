/* What a writer needs of its spooler: ready chunks, the live part of the file's header, and whether
 * the spool closes. writer.c is the main user. All functions are lock-free, and any thread may call
 * them. */
#ifndef DAGTAP_RECORD_CHUNK_TAKE_H
#define DAGTAP_RECORD_CHUNK_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/spool.h"

struct spooler;

/* Takes the next ready chunk: zeroed memory, which the writer then owns until it is full. Sets
 * *RET_INDEX to the number of chunks that were taken before. Returns NULL when no more than LEAVE
 * chunks are ready. */
struct spool_chunk *spooler_take_chunk(struct spooler *spooler, uint32_t leave,
				       uint32_t *ret_index);

/* The random id of this spool. */
uint64_t spooler_session_id(const struct spooler *spooler);

/* 1 from the beginning of spooler_close on. */
int spooler_is_closing(const struct spooler *spooler);

/* Encloses additions to the shared counters of struct spool_live, so that spooler_close waits for
 * them. Returns false once a close has begun; then the caller must not add, and not call
 * spooler_end_refusal. */
bool spooler_begin_refusal(struct spooler *spooler);
void spooler_end_refusal(struct spooler *spooler);

/* What the calling thread adds to `refusing` (struct writers). If it is the only thread there,
 * `refusing` equals this value, so spooler_close can tell that it would wait for its own thread. */
uint64_t spooler_refusal_of_mine(void);

/* The live part of the file's header. Valid until spooler_release. */
struct spool_live *spooler_live(struct spooler *spooler);

#endif
