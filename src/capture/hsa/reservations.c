/* The table of call contexts of reserved packets; see the header. */
#include "capture/hsa/reservations.h"

#include <errno.h>
#include <stdlib.h>

int reservations_init(struct reservations *r, uint64_t cell_count)
{
	r->cells = calloc(cell_count, sizeof(*r->cells));
	r->mask = cell_count - 1;
	return r->cells ? 0 : -ENOMEM;
}

void reservations_release(struct reservations *r)
{
	free(r->cells);
	r->cells = NULL;
}

void reservations_reset(struct reservations *r)
{
	for (uint64_t i = 0; i <= r->mask; i++)
		atomic_store_explicit(&r->cells[i].first, 0, memory_order_relaxed);
	for (uint32_t i = 0; i < RESERVATION_SPARE; i++)
		atomic_store_explicit(&r->spare[i].first, 0, memory_order_relaxed);
	r->current_first = r->current_end = 0;
}

static struct frame_context context_of_call(uint64_t count)
{
	struct frame_context context = frame_take();

	/* frame_take counted one activity; the ordinals of a batch follow one another. */
	if (frame_top)
		frame_top->activities += (uint32_t)(count - 1);
	return context;
}

/* The acquire pairs with the release in cell_take: the last reservation was read before it is
 * overwritten. */
static int cell_claim(struct reservation *cell)
{
	uint64_t expected = 0;

	return atomic_compare_exchange_strong_explicit(&cell->first, &expected, RESERVATION_BUSY,
						       memory_order_acquire, memory_order_relaxed);
}

static struct reservation *find_free(struct reservations *r, uint64_t first)
{
	struct reservation *cell = &r->cells[first & r->mask];

	if (cell_claim(cell))
		return cell;
	for (uint32_t i = 0; i < RESERVATION_SPARE; i++) {
		if (cell_claim(&r->spare[i]))
			return &r->spare[i];
	}
	return NULL;
}

void reservations_put(struct reservations *r, uint64_t first, uint64_t count)
{
	struct frame_context context = context_of_call(count);
	struct reservation *cell = find_free(r, first);

	if (!cell) {
		atomic_fetch_add_explicit(&r->lost, 1, memory_order_relaxed);
		return;
	}
	cell->count = count;
	cell->context = context;
	/* Pairs with the acquire in cell_take. */
	atomic_store_explicit(&cell->first, first + 1, memory_order_release);
}

/* Takes the reservation in CELL and frees the cell, if the reservation begins at INDEX. The acquire
 * pairs with the release in reservations_put, the release with the acquire in cell_claim. */
static int cell_take(struct reservations *r, struct reservation *cell, uint64_t index)
{
	if (atomic_load_explicit(&cell->first, memory_order_acquire) != index + 1)
		return 0;
	r->current_first = index;
	r->current_end = index + cell->count;
	r->current = cell->context;
	atomic_store_explicit(&cell->first, 0, memory_order_release);
	return 1;
}

/* Makes the reservation of the packet at INDEX the current one. */
static int find_reserved(struct reservations *r, uint64_t index)
{
	if (cell_take(r, &r->cells[index & r->mask], index))
		return 1;
	if (index >= r->current_first && index < r->current_end)
		return 1;
	for (uint32_t i = 0; i < RESERVATION_SPARE; i++) {
		if (cell_take(r, &r->spare[i], index))
			return 1;
	}
	return 0;
}

struct frame_context reservations_take(struct reservations *r, uint64_t index)
{
	struct frame_context context = {0};

	if (!find_reserved(r, index))
		return context;
	context = r->current;
	context.ordinal += (uint32_t)(index - r->current_first);
	return context;
}
