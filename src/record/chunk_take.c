/* What a writer needs of its spooler: ready chunks, and whether the spool closes. */
#include "record/chunk_take.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/spooler_state.h"

/* The queue of ready chunks has one producer (chunk_supply.c) and many consumers. */
struct spool_chunk *spooler_take_chunk(struct spooler *s, uint32_t leave, uint32_t *ret_index)
{
	struct spool_live *live = &s->header->live;
	uint64_t ticket = atomic_load_explicit(&live->chunks_taken, memory_order_relaxed);
	struct spool_chunk *chunk;

	do {
		/* Pairs with the release in make_ready (chunk_supply.c): the slot has the chunk's
		 * address. */
		if (ticket + leave >=
		    atomic_load_explicit(&live->chunks_ready, memory_order_acquire))
			return NULL;
		/* The producer fills the slot again only after its ticket was
		 * taken, and a ticket number never repeats. So if the exchange
		 * succeeds, this is the ticket's chunk. */
		chunk = atomic_load_explicit(&s->slots[ticket & (s->slot_count - 1)],
					     memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&live->chunks_taken, &ticket, ticket + 1,
							memory_order_acq_rel,
							memory_order_relaxed));
	*ret_index = (uint32_t)ticket;
	return chunk;
}

int spooler_is_closing(const struct spooler *s)
{
	return (int)atomic_load_explicit(&s->closing, memory_order_relaxed);
}

uint64_t spooler_refusal_of_mine(void)
{
	return (uint64_t)syscall(SYS_gettid) << 32 | 1;
}

/* Sequentially consistent with spooler_close: it sees our addition to `refusing`, or we see
 * `closing`. */
bool spooler_begin_refusal(struct spooler *s)
{
	if (spooler_is_closing(s))
		return false;
	atomic_fetch_add_explicit(&s->writers->refusing, spooler_refusal_of_mine(),
				  memory_order_seq_cst);
	if (!atomic_load_explicit(&s->closing, memory_order_seq_cst))
		return true;
	spooler_end_refusal(s);
	return false;
}

void spooler_end_refusal(struct spooler *s)
{
	atomic_fetch_sub_explicit(&s->writers->refusing, spooler_refusal_of_mine(),
				  memory_order_release);
}

struct spool_live *spooler_live(struct spooler *s)
{
	return &s->header->live;
}

uint64_t spooler_session_id(const struct spooler *s)
{
	return s->header->session_id;
}
