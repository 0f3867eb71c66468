/* How much address space the spool may use under a limit (RLIMIT_AS, ulimit -v). Mapped chunks need
 * much address space, which the program and its GPU runtime need too. */
#ifndef DAGTAP_RECORD_SPACE_H
#define DAGTAP_RECORD_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct space {
	bool is_limited;
	uint64_t kept_bytes; /* left to the program in any case: half of what was free at first */
};

/* Reads the limit as it is now. If there is one, reads /proc/self/statm; if that cannot be read,
 * all of the limit counts as used. */
void space_init(struct space *space);

/* The bound of bytes of ready chunks: MOST, or a sixteenth of the space that was free at
 * space_init if that is less. */
uint64_t space_ready_most(const struct space *space, uint64_t most);

/* Whether BYTES may be mapped without touching kept_bytes. Always true without a limit; with a
 * limit it reads the limit and /proc/self/statm anew. */
bool space_has(const struct space *space, uint64_t bytes);

#endif
