/* Ranges that are started before the session: they are kept, with their text alone, and written
 * when the session starts. They belong to no stack of scopes. At most 64 are kept; later ones are
 * not recorded.
 *
 * Threading: any thread; one list with a lock. */
#ifndef DAGTAP_CAPTURE_EARLY_RANGE_H
#define DAGTAP_CAPTURE_EARLY_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/writer.h"

/* Keeps the range ID, which starts now. TEXT is copied. */
void early_range_keep(uint64_t id, const char *text);

/* The range ID ends. Returns true when it was still waiting for the session; then it is not
 * recorded. */
bool early_range_drop(uint64_t id);

/* A session has started: writes all ranges of the list and empties it. */
void early_ranges_write(struct writer *w);

/* In a fork child, where another thread of the parent may have held the lock. */
void early_ranges_forget_parent(void);

#endif
