/* Sets of ids (see idset.h): pages of bits, found by a hash of their number. */
#include "base/idset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/table.h"

/* Keys that consist of several parts differ in high bits too, so all bits count. */
static inline uint32_t mix(uint64_t number)
{
	return (uint32_t)(number * 0x9e3779b97f4a7c15ull >> 32);
}

int idset_add_page(struct idset *set, uint64_t id)
{
	uint64_t number = id / IDSET_PAGE_IDS;
	uint32_t *recent = &set->recent[mix(number) % IDSET_RECENT];
	struct idset_page *page = *recent ? &set->pages[*recent - 1] : NULL;

	/* A page that is no longer in the cache is started anew; idset_finish unites pages of one
	 * number. */
	if (!page || page->number != number) {
		page = table_add((void **)&set->pages, &set->page_count, sizeof(*page));
		if (!page)
			return -ENOMEM;
		page->number = number;
		*recent = set->page_count;
	}
	page->bits[id % IDSET_PAGE_IDS / 64] |= 1ull << (id % 64);
	set->last = page;
	return 0;
}

int idset_merge(struct idset *set, struct idset *from)
{
	struct idset_page *pages = table_append((void **)&set->pages, &set->page_count,
						from->page_count, sizeof(*pages));

	if (!pages)
		return -ENOMEM;
	if (from->page_count)
		memcpy(pages, from->pages, from->page_count * sizeof(*pages));
	idset_release(from);
	return 0;
}

static int sort_pages(struct idset *set)
{
	struct sort_row *order = table_alloc(set->page_count, sizeof(*order));
	struct idset_page *sorted = table_alloc(set->page_count, sizeof(*sorted));
	int err = order && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; err == 0 && i < set->page_count; i++)
		order[i] = (struct sort_row){.key = set->pages[i].number, .index = i};
	if (err == 0)
		err = sort_rows(order, set->page_count);
	for (uint32_t i = 0; err == 0 && i < set->page_count; i++)
		sorted[i] = set->pages[order[i].index];
	free(order);
	if (err < 0) {
		free(sorted);
		return err;
	}
	free(set->pages);
	set->pages = sorted;
	return 0;
}

static void unite(struct idset_page *into, const struct idset_page *page)
{
	for (int i = 0; i < IDSET_PAGE_WORDS; i++)
		into->bits[i] |= page->bits[i];
}

/* Number of 1 bits. The compiler's builtin becomes a function call where the CPU may lack the
 * instruction. */
static inline uint32_t count_bits(uint64_t word)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("popcnt")) {
		__asm__("popcnt %0, %0" : "+r"(word) : : "cc");
		return (uint32_t)word;
	}
#endif
	word -= word >> 1 & 0x5555555555555555ull;
	word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (uint32_t)(word * 0x0101010101010101ull >> 56);
}

static uint32_t count_page(struct idset_page *page)
{
	uint32_t count = 0;

	for (int i = 0; i < IDSET_PAGE_WORDS; i++) {
		page->before_word[i] = (uint16_t)count;
		count += count_bits(page->bits[i]);
	}
	return count;
}

static int index_pages(struct idset *set)
{
	uint32_t slot_count = 16;

	while (slot_count / 2 <= set->page_count)
		slot_count *= 2;
	set->slots = calloc(slot_count, sizeof(*set->slots));
	if (!set->slots)
		return -ENOMEM;
	set->slot_mask = slot_count - 1;
	for (uint32_t i = 0; i < set->page_count; i++) {
		uint32_t at = mix(set->pages[i].number) & set->slot_mask;

		while (set->slots[at])
			at = (at + 1) & set->slot_mask;
		set->slots[at] = i + 1;
	}
	return 0;
}

static int rank_pages(struct idset *set)
{
	set->count = 0;
	for (uint32_t i = 0; i < set->page_count; i++) {
		set->pages[i].before = set->count;
		set->count += count_page(&set->pages[i]);
	}
	return index_pages(set);
}

int idset_finish(struct idset *set)
{
	uint32_t used = 0;

	if (sort_pages(set) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < set->page_count; i++) {
		if (used && set->pages[used - 1].number == set->pages[i].number)
			unite(&set->pages[used - 1], &set->pages[i]);
		else
			set->pages[used++] = set->pages[i];
	}
	set->page_count = used;
	return rank_pages(set);
}

void idset_release(struct idset *set)
{
	free(set->pages);
	free(set->slots);
	*set = (struct idset){0};
}

/* The rank of ID, whose page it would be, or UINT32_MAX. */
static inline uint32_t rank_on(const struct idset_page *page, uint64_t id)
{
	uint64_t bit = 1ull << (id % 64);
	unsigned word = id % IDSET_PAGE_IDS / 64;

	if (!(page->bits[word] & bit))
		return UINT32_MAX;
	return page->before + page->before_word[word] + count_bits(page->bits[word] & (bit - 1));
}

/* The page of ID; NULL: the set has none. */
static const struct idset_page *find_page(const struct idset *set, uint64_t id)
{
	uint64_t number = id / IDSET_PAGE_IDS;
	uint32_t at = mix(number) & set->slot_mask;

	for (; set->slots[at]; at = (at + 1) & set->slot_mask) {
		const struct idset_page *page = &set->pages[set->slots[at] - 1];

		if (page->number == number)
			return page;
	}
	return NULL;
}

uint32_t idset_find(const struct idset *set, uint64_t id)
{
	const struct idset_page *page = find_page(set, id);

	return page ? rank_on(page, id) : UINT32_MAX;
}

uint32_t idset_find_near(const struct idset *set, uint64_t id, struct idset_near *near)
{
	uint64_t number = id / IDSET_PAGE_IDS;
	uint32_t *known = &near->pages[mix(number) % IDSET_NEAR];
	const struct idset_page *page = *known ? &set->pages[*known - 1] : NULL;

	if (page && page->number == number)
		return rank_on(page, id);
	page = find_page(set, id);
	if (!page)
		return UINT32_MAX;
	*known = (uint32_t)(page - set->pages) + 1;
	return rank_on(page, id);
}

int idset_intersect(struct idset *set, const struct idset *with)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < set->page_count; i++) {
		const struct idset_page *other =
			find_page(with, set->pages[i].number * IDSET_PAGE_IDS);

		if (!other)
			continue;
		set->pages[used] = set->pages[i];
		for (int word = 0; word < IDSET_PAGE_WORDS; word++)
			set->pages[used].bits[word] &= other->bits[word];
		used++;
	}
	set->page_count = used;
	free(set->slots);
	set->slots = NULL;
	return rank_pages(set);
}
