/* A set of 64-bit ids that tells the rank of an id: how many smaller ids the set holds. The rank is
 * the index of the id's row in an array that is ordered by id, so nothing has to be sorted. Ids
 * mostly come in runs: 512 neighbouring ids share a page of 96 bytes, and a single id costs a page.
 *
 * Life: zero-initialise, idset_add for each id, idset_finish once, then idset_find. Threading: one
 * thread until idset_finish has returned; afterwards any number may find. */
#ifndef DAGTAP_BASE_IDSET_H
#define DAGTAP_BASE_IDSET_H

#include <stdint.h>

#define IDSET_PAGE_WORDS 8
#define IDSET_PAGE_IDS	 (IDSET_PAGE_WORDS * UINT64_C(64))
#define IDSET_RECENT	 512

/* A bit for each of 512 neighbouring ids. */
struct idset_page {
	uint64_t number; /* id / 512 */
	uint64_t bits[IDSET_PAGE_WORDS];
	uint32_t before;			/* number of ids on pages with smaller numbers */
	uint16_t before_word[IDSET_PAGE_WORDS]; /* number of ids in lower words of this page */
};

/* Zero is an empty set to which ids can be added. */
struct idset {
	struct idset_page *pages; /* once finished: by ascending number */
	uint32_t page_count;
	uint32_t count; /* number of ids; valid once finished */
	/* While adding: cache of pages by number, index + 1; 0 = none. The chunks of threads take
	 * turns in a file, and the ids of their calls lie in the same hundreds of pages. */
	uint32_t recent[IDSET_RECENT];
	struct idset_page *last; /* of the id that was added last; NULL: none */
	/* Once finished: pages by the hash of their number, index + 1; 0 = free. Half the size of a
	 * hash_map's slots: random lookups take two thirds of the time. */
	uint32_t *slots;
	uint32_t slot_mask;
};

/* The slow path of idset_add: finds or makes the page of ID. */
int idset_add_page(struct idset *set, uint64_t id);

/* Adds ID. Ids may come in any order and repeatedly. Returns 0 or -ENOMEM. Not after
 * idset_finish. */
static inline int idset_add(struct idset *set, uint64_t id)
{
	if (!set->last || set->last->number != id / IDSET_PAGE_IDS)
		return idset_add_page(set, id);
	set->last->bits[id % IDSET_PAGE_IDS / 64] |= UINT64_C(1) << id % 64;
	return 0;
}

/* Moves the ids of FROM, which becomes empty, into SET. Neither is finished; nothing may be added
 * to SET afterwards but by another merge. So several threads can add to sets of their own. Returns
 * 0, or -ENOMEM with both unchanged. */
int idset_merge(struct idset *set, struct idset *from);

/* Call after the last idset_add, also for an empty set: it sorts the pages and computes the ranks.
 * Returns 0 or -ENOMEM. */
int idset_finish(struct idset *set);

/* Removes from SET the ids that WITH does not have, which changes the ranks. Both are finished.
 * Returns 0, or -ENOMEM: then only idset_release may follow. */
int idset_intersect(struct idset *set, const struct idset *with);

/* Frees the set's memory and makes it empty. The set may be zero or unfinished. */
void idset_release(struct idset *set);

/* The rank of ID, or UINT32_MAX if ID is not in the set. Only after idset_finish. Cost: one hash
 * lookup. */
uint32_t idset_find(const struct idset *set, uint64_t id);

#define IDSET_NEAR 64

/* The pages of the last answers, for a caller whose ids are mostly near to one of the last: those
 * of several queues or threads take turns. Zero-initialise. */
struct idset_near {
	uint32_t pages[IDSET_NEAR]; /* by hash of their number: index + 1; 0: none */
};

/* idset_find with that memory: mostly without a look into the slots. */
uint32_t idset_find_near(const struct idset *set, uint64_t id, struct idset_near *near);

/* The last answer, for a caller that mostly asks for the same id again. Zero-initialise. */
struct idset_last {
	uint64_t id; /* 0: nothing was asked yet */
	uint32_t rank;
	struct idset_near near;
};

/* idset_find_near with that memory. Id 0 is never found: it means "none". */
static inline uint32_t idset_find_again(const struct idset *set, uint64_t id,
					struct idset_last *last)
{
	if (id == 0)
		return UINT32_MAX;
	if (id != last->id) {
		last->id = id;
		last->rank = idset_find_near(set, id, &last->near);
	}
	return last->rank;
}

#endif
