/* A set of 64-bit ids that tells how many smaller ones it holds: an id's row in an array sorted by
 * id, without sorting. Ids mostly come in runs; a lone one costs 80 bytes. */
#ifndef DAGTAP_TRACE_IDSET_H
#define DAGTAP_TRACE_IDSET_H

#include <stdint.h>

#define IDSET_PAGE_WORDS 8

struct idset_page {
	uint64_t number;
	uint64_t bits[IDSET_PAGE_WORDS];
	uint32_t before; /* ids on smaller pages */
};

struct idset {
	struct idset_page *pages;
	uint32_t page_count;
	uint32_t count; /* of ids; known once finished */
};

/* Any id, in any order, any number of times. 0 or -ENOMEM. */
int idset_add(struct idset *set, uint64_t id);

/* After the last id: from here on ids can be found. 0 or -ENOMEM. */
int idset_finish(struct idset *set);
void idset_release(struct idset *set);

/* How many smaller ids there are, UINT32_MAX if ID is not in the set. HINT is the caller's memory
 * of where it was last, start with 0. */
uint32_t idset_find(const struct idset *set, uint64_t id, uint32_t *hint);

#endif
