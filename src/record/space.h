/* Address space that a limit (ulimit -v) leaves to the process, and how much of it is ours: mapped
 * chunks need little memory and much address space, which the program and its GPU runtime need,
 * too. */
#ifndef DAGTAP_RECORD_SPACE_H
#define DAGTAP_RECORD_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct space {
	bool is_limited;
	uint64_t kept_bytes; /* that we leave to the program in any case */
};

/* The limit as it is now. Reads /proc once, and only if there is a limit. Without /proc all that
 * the limit allows counts as taken. */
void space_init(struct space *space);

/* Most bytes of chunks to be kept ready: of the space that is left a part, or MOST. */
uint64_t space_ready_most(const struct space *space, uint64_t most);

/* Whether BYTES may be mapped: always without a limit. Reads /proc if there is one. */
bool space_has(const struct space *space, uint64_t bytes);

#endif
