/* Packs a spool into memory and compares the packed section with the spool. */
#ifndef DAGTAP_TESTS_PACK_MEMORY_H
#define DAGTAP_TESTS_PACK_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "trace/pack/pack.h"

struct pack_memory {
	unsigned char *bytes;
	size_t size;
	size_t room_left; /* the sink fails with -ENOSPC when this is used up */
	uint64_t progress_calls;
};

/* Packs SPOOL; asserts that it succeeds. The caller frees the result's bytes. */
struct pack_memory pack_memory_make(const struct spool_reader *spool);

/* Returns a sink that appends to MEMORY. */
struct pack_sink pack_memory_sink(struct pack_memory *memory);

/* Opens a packed section; asserts that it opens. MEMORY must outlive the reader. */
struct pack_reader *pack_memory_open(const struct pack_memory *memory);

/*
 * Asserts that PACK holds all that SPOOL does: facts, counts, damages, and the records of each
 * writer.
 */
void pack_memory_assert_same(const struct spool_reader *spool, struct pack_reader *pack);

#endif
