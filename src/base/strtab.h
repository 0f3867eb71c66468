/* Interned texts: equal texts have equal numbers; number 0 is "".
 *
 * Threading: a table belongs to one thread. Errors: out of memory is remembered. strtab_intern then
 * returns 0 and sets `failed`, so that callers check once, at the end. */
#ifndef DAGTAP_BASE_STRTAB_H
#define DAGTAP_BASE_STRTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

struct strtab_block;

struct strtab {
	/* by number: the text, terminated, inside the blocks; the array moves as it grows */
	const char **strings;
	uint32_t count;	     /* number of texts */
	bool failed;	     /* out of memory: a text was lost */
	struct hash_map map; /* numbers by the hash of their text */
	struct strtab_block *blocks;
};

/* Starts with "" as number 0. Returns 0 or -ENOMEM; after a failure nothing is left to release, and
 * strtab_release is allowed. */
int strtab_init(struct strtab *tab);
void strtab_release(struct strtab *tab);

/* The number of TEXT, which is added if it is new. A text ends at its first zero byte, or after
 * BYTES. The table copies it. */
uint32_t strtab_intern(struct strtab *tab, const char *text, size_t bytes);

/* The same for a terminated text. */
uint32_t strtab_intern_z(struct strtab *tab, const char *text);

/* The same for a field of fixed size, which is terminated or full. */
uint32_t strtab_intern_field(struct strtab *tab, const char *field, size_t field_bytes);

/* The number of a formatted text, which is cut after 511 bytes. */
uint32_t strtab_format(struct strtab *tab, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
