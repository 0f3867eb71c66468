/* Hands out writers to the threads of the process, and takes them back (spooler.h). */
#include <stdbool.h>

#include "record/spooler_state.h"

static struct writer *pop_free_writer(struct spooler *s)
{
	uint64_t head = atomic_load_explicit(&s->free_writers, memory_order_acquire);
	struct writer *w;
	uint64_t next;

	do {
		if (!(uint32_t)head)
			return NULL;
		w = &s->writers->of[(uint32_t)head - 1];
		/* The pop count in the high half makes the exchange fail if the same head was
		 * popped and pushed meanwhile (ABA). */
		next = atomic_load_explicit(&w->next_free, memory_order_relaxed) |
		       (((head >> 32) + 1) << 32);
	} while (!atomic_compare_exchange_weak_explicit(
		&s->free_writers, &head, next, memory_order_acquire, memory_order_acquire));
	return w;
}

/* The release pairs with the acquire in pop_free_writer: the next owner sees the writer's state. */
static void push_free_writer(struct spooler *s, struct writer *w)
{
	uint64_t head = atomic_load_explicit(&s->free_writers, memory_order_relaxed);
	uint64_t next;

	do {
		atomic_store_explicit(&w->next_free, (uint32_t)head, memory_order_relaxed);
		next = (head >> 32 << 32) | (w->index + 1);
	} while (!atomic_compare_exchange_weak_explicit(
		&s->free_writers, &head, next, memory_order_release, memory_order_relaxed));
}

void writers_raise_used(struct spool_live *live, uint64_t used)
{
	uint64_t before = atomic_load_explicit(&live->writers_used, memory_order_acquire);

	while (before < used &&
	       !atomic_compare_exchange_weak_explicit(&live->writers_used, &before, used,
						      memory_order_acq_rel, memory_order_acquire))
		;
}

struct writer *writers_take(struct spooler *s, uint32_t count)
{
	uint32_t index = atomic_load_explicit(&s->writers_made, memory_order_relaxed);

	do {
		/* Also true once spooler_close has set writers_made to UINT32_MAX. */
		if (index > SPOOL_WRITER_COUNT - count)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(&s->writers_made, &index, index + count,
							memory_order_relaxed,
							memory_order_relaxed));
	writers_raise_used(&s->header->live, index + count);
	for (uint32_t i = index; i < index + count; i++) {
		struct writer *w = &s->writers->of[i];

		w->index = i;
		w->counters = &s->counters[i];
		w->spooler = s;
		w->spool_id = s->header->session_id;
		w->leaves_ready = ring_is_on(&s->ring) ? KEPT_SCOPES_CHUNKS : 0;
	}
	return &s->writers->of[index];
}

/* A new writer; with a ring also its keeper, the next writer. */
static struct writer *make_writer(struct spooler *s)
{
	bool has_ring = ring_is_on(&s->ring);
	struct writer *w = writers_take(s, has_ring ? 2 : 1);

	if (!w || !has_ring)
		return w;
	w->is_ringed = true;
	w->keeper = w + 1;
	return w;
}

struct writer *spooler_take_writer(struct spooler *s, const struct writer_thread *thread)
{
	struct writer *w;

	if (!atomic_load_explicit(&s->writers->alive, memory_order_relaxed))
		return &s->writers->nobody;
	w = pop_free_writer(s);
	if (!w)
		w = make_writer(s);
	if (!w)
		return &s->writers->nobody;
	writer_set_thread(w, thread);
	return w;
}

/* The writer and its keeper are never used again, and spooler_close does not touch their chunks. */
static void retire_writer(struct writer *w)
{
	atomic_store_explicit(&w->use, WRITER_TORN, memory_order_release);
	if (w->keeper)
		atomic_store_explicit(&w->keeper->use, WRITER_TORN, memory_order_release);
}

void spooler_put_writer(struct spooler *s, struct writer *w)
{
	if (!w || w == &s->writers->nobody || !w->spooler)
		return;
	/* A signal handler left a record by longjmp. The record is half written, or the change of
	 * the chunk is half done: no thread may continue there. */
	if (writer_is_busy(w))
		retire_writer(w);
	else
		push_free_writer(s, w);
}
