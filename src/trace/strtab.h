/* Interned text: equal text, equal number; number 0 is "". Not thread-safe. Out of memory sticks:
 * strtab_intern then gives 0 and `failed` is set, so that callers check once, at the end. */
#ifndef DAGTAP_TRACE_STRTAB_H
#define DAGTAP_TRACE_STRTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strtab_block;

struct strtab {
	const char **strings; /* terminated, inside the blocks */
	uint32_t count;
	bool failed;
	uint64_t *hashes;
	uint32_t *slots; /* number + 1, 0 = free; open addressing */
	uint32_t slot_count;
	struct strtab_block *blocks;
};

int strtab_init(struct strtab *tab);
void strtab_release(struct strtab *tab);

uint32_t strtab_intern(struct strtab *tab, const char *text, size_t bytes);
uint32_t strtab_intern_z(struct strtab *tab, const char *text);

/* From a field of fixed size, terminated or full. */
uint32_t strtab_intern_field(struct strtab *tab, const char *field, size_t field_bytes);

uint32_t strtab_format(struct strtab *tab, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
