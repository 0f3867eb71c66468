#include "trace/idset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/sort.h"
#include "trace/table.h"

#define PAGE_BITS (IDSET_PAGE_WORDS * 64)

int idset_add(struct idset *set, uint64_t id)
{
	struct idset_page *page = set->page_count ? &set->pages[set->page_count - 1] : NULL;

	/* A page that was left and is met again is started anew; finishing unites the two. */
	if (!page || page->number != id / PAGE_BITS) {
		page = table_add((void **)&set->pages, &set->page_count, sizeof(*page));
		if (!page)
			return -ENOMEM;
		page->number = id / PAGE_BITS;
	}
	page->bits[id % PAGE_BITS / 64] |= 1ull << (id % 64);
	return 0;
}

static int sort_pages(struct idset *set)
{
	struct sort_row *order = malloc(((size_t)set->page_count + 1) * sizeof(*order));
	struct idset_page *sorted = malloc(((size_t)set->page_count + 1) * sizeof(*sorted));
	int result = order && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < set->page_count; i++)
		order[i] = (struct sort_row){.key = set->pages[i].number, .index = i};
	if (result == 0)
		result = sort_rows(order, set->page_count);
	for (uint32_t i = 0; result == 0 && i < set->page_count; i++)
		sorted[i] = set->pages[order[i].index];
	free(order);
	if (result < 0) {
		free(sorted);
		return result;
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

static uint32_t ids_of(const struct idset_page *page)
{
	uint32_t count = 0;

	for (int i = 0; i < IDSET_PAGE_WORDS; i++)
		count += (uint32_t)__builtin_popcountll(page->bits[i]);
	return count;
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
	set->count = 0;
	for (uint32_t i = 0; i < used; i++) {
		set->pages[i].before = set->count;
		set->count += ids_of(&set->pages[i]);
	}
	return 0;
}

void idset_release(struct idset *set)
{
	free(set->pages);
	*set = (struct idset){0};
}

static uint32_t find_page(const struct idset *set, uint64_t number)
{
	uint32_t low = 0, high = set->page_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->pages[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t idset_find(const struct idset *set, uint64_t id, uint32_t *hint)
{
	uint64_t number = id / PAGE_BITS;
	unsigned word = id % PAGE_BITS / 64;
	const struct idset_page *page;
	uint64_t bit = 1ull << (id % 64);
	uint32_t rank;

	if (*hint >= set->page_count || set->pages[*hint].number != number) {
		uint32_t at = find_page(set, number);

		if (at == set->page_count || set->pages[at].number != number)
			return UINT32_MAX;
		*hint = at;
	}
	page = &set->pages[*hint];
	if (!(page->bits[word] & bit))
		return UINT32_MAX;
	rank = page->before;
	for (unsigned i = 0; i < word; i++)
		rank += (uint32_t)__builtin_popcountll(page->bits[i]);
	return rank + (uint32_t)__builtin_popcountll(page->bits[word] & (bit - 1));
}
