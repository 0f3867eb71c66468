/* A set of 64-bit ids that tells how many smaller ones it holds: an id's row in an array sorted by
 * id, without sorting. Ids mostly come in runs; a lone one costs 96 bytes. */
#ifndef DAGTAP_TRACE_IDSET_H
#define DAGTAP_TRACE_IDSET_H

#include <stdint.h>

#define IDSET_PAGE_WORDS 8
#define IDSET_RECENT	 64

struct idset_page {
	uint64_t number;
	uint64_t bits[IDSET_PAGE_WORDS];
	uint32_t before;			/* ids on smaller pages */
	uint16_t before_word[IDSET_PAGE_WORDS]; /* ids in smaller words of this page */
};

struct idset {
	struct idset_page *pages;
	uint32_t page_count;
	uint32_t count;		       /* of ids; known once finished */
	uint32_t recent[IDSET_RECENT]; /* while adding: pages by their number, + 1; 0 = none */
	uint32_t *slots;	       /* once finished: pages by their number, + 1; 0 = free */
	uint32_t slot_mask;
};

/* Any id, in any order, any number of times. 0 or -ENOMEM. */
int idset_add(struct idset *set, uint64_t id);

/* After the last id: from here on ids can be found. 0 or -ENOMEM. */
int idset_finish(struct idset *set);
void idset_release(struct idset *set);

/* How many smaller ids there are, UINT32_MAX if ID is not in the set. */
uint32_t idset_find(const struct idset *set, uint64_t id);

/* The id that was asked for last is mostly asked for again. */
struct idset_last {
	uint64_t id; /* 0: none, which no set holds */
	uint32_t rank;
};

static inline uint32_t idset_find_again(const struct idset *set, uint64_t id,
					struct idset_last *last)
{
	if (id == 0)
		return UINT32_MAX;
	if (id != last->id)
		*last = (struct idset_last){id, idset_find(set, id)};
	return last->rank;
}

#endif
