/* The parts of a writer that are not inline: new chunks, drops, THREAD records. */
#include "record/writer.h"

#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "record/chunk_take.h"

/* The room in a new chunk after its THREAD record. */
#define LARGEST_RECORD (SPOOL_CHUNK_BYTES - SPOOL_CHUNK_HEAD_BYTES - sizeof(struct record_thread))

static void shared_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

void *writer_refuse(struct writer *w, enum record_type type)
{
	bool nobody = atomic_load_explicit(&w->use, memory_order_relaxed) == WRITER_NOBODY;
	enum record_drop cause = nobody ? RECORD_DROP_NO_WRITER : RECORD_DROP_REENTERED;
	enum record_class class = record_class_of(type);
	struct spool_live *live = spooler_live(w->spooler);

	if (!spooler_begin_refusal(w->spooler)) {
		shared_count(&live->late[class]);
		return NULL;
	}
	shared_count(&live->counts.attempted[class]);
	shared_count(&live->counts.dropped[class][cause]);
	spooler_end_refusal(w->spooler);
	return NULL;
}

static void fill_thread(const struct writer *w, struct record_thread *record)
{
	record->ns = clock_now_ns();
	record->scope_number = w->thread.scope_number;
	memcpy(record->name, w->thread.name, sizeof(record->name));
}

static uint64_t thread_header(const struct writer *w)
{
	return RECORD_THREAD | sizeof(struct record_thread) / 8 << 16 |
	       (uint64_t)w->thread.tid << 32;
}

/* Marks the writer's chunk as full; its records end at CURSOR. */
static void finish_chunk(struct writer *w, unsigned char *cursor)
{
	struct spool_chunk *chunk = w->chunk;

	if (!chunk)
		return;
	w->chunk = NULL;
	chunk->used_bytes = (uint32_t)(cursor - (unsigned char *)chunk);
	chunk->full_ns = clock_now_ns();
	/* Pairs with the acquire in seal_window. The housekeeper may unmap the chunk from
	 * here on. */
	atomic_store_explicit(&chunk->state, SPOOL_CHUNK_FULL, memory_order_release);
}

/* The order of these stores matters to readers: a chunk with a magic has a complete label, and the
 * writer's counters count the chunk only after that. is_unlabelled (spool_reader.c) and cut_chunks
 * (live_cut.c) rely on it. */
static void label_chunk(struct writer *w, struct spool_chunk *chunk, uint32_t index)
{
	chunk->index = index;
	chunk->session_id = spooler_session_id(w->spooler);
	chunk->writer = w->index;
	chunk->sequence = w->sequence++;
	atomic_store_explicit(&chunk->state, SPOOL_CHUNK_OPEN, memory_order_relaxed);
	atomic_store_explicit(&chunk->magic, SPOOL_CHUNK_MAGIC, memory_order_release);
	atomic_store_explicit(&w->counters->chunks, w->sequence, memory_order_release);
}

/* Makes a new chunk the current one. Returns false when none is ready; the old chunk then stays,
 * and smaller records may still fit into it. */
static bool turn_chunk(struct writer *w)
{
	unsigned char *cursor = atomic_load_explicit(&w->cursor, memory_order_relaxed);
	struct record_thread *thread;
	struct spool_chunk *chunk;
	uint32_t index;

	chunk = spooler_take_chunk(w->spooler, w->leaves_ready, &index);
	if (!chunk)
		return false;
	finish_chunk(w, cursor);
	label_chunk(w, chunk, index);
	w->chunk = chunk;
	thread = (struct record_thread *)chunk->records;
	writer_count(&w->counters->counts.attempted[RECORD_CLASS_META]);
	fill_thread(w, thread);
	atomic_store_explicit((_Atomic uint64_t *)thread, thread_header(w), memory_order_release);
	atomic_store_explicit(&w->cursor, chunk->records + sizeof(*thread), memory_order_relaxed);
	atomic_store_explicit(&w->limit, (unsigned char *)chunk + SPOOL_CHUNK_BYTES,
			      memory_order_relaxed);
	return true;
}

static void *drop(struct writer *w, enum record_class class, enum record_drop cause)
{
	writer_count(&w->counters->counts.dropped[class][cause]);
	atomic_store_explicit(&w->use, WRITER_IDLE, memory_order_release);
	return NULL;
}

/* W is BUSY on entry, so a thread that closes the spool waits before it touches the chunk. */
void *writer_reserve_slowly(struct writer *w, enum record_type type, size_t bytes)
{
	enum record_class class = record_class_of(type);

	if (!w->spooler || spooler_is_closing(w->spooler)) {
		if (w->spooler)
			shared_count(&spooler_live(w->spooler)->late[class]);
		/* From now on records that would still fit come here too. */
		atomic_store_explicit(&w->limit, NULL, memory_order_relaxed);
		atomic_store_explicit(&w->has_ended, true, memory_order_release);
		atomic_store_explicit(&w->use, WRITER_IDLE, memory_order_release);
		return NULL;
	}
	writer_count(&w->counters->counts.attempted[class]);
	if (bytes > LARGEST_RECORD)
		return drop(w, class, RECORD_DROP_OVERSIZE);
	if (!turn_chunk(w))
		return drop(w, class, RECORD_DROP_FULL);
	return atomic_load_explicit(&w->cursor, memory_order_relaxed);
}

void writer_put_text(struct writer *w, enum record_type type, uint32_t tag, const void *fixed,
		     size_t fixed_bytes, const char *text, size_t text_bytes)
{
	const size_t header_bytes = sizeof(struct record_header);
	size_t kept_bytes = writer_text_bytes(text_bytes);
	char *record = writer_reserve(w, type, fixed_bytes + kept_bytes);

	if (!record)
		return;
	memcpy(record + header_bytes, (const char *)fixed + header_bytes,
	       fixed_bytes - header_bytes);
	memcpy(record + fixed_bytes, text, kept_bytes);
	writer_commit(w, record, type, fixed_bytes + kept_bytes, tag);
}

void writer_put(struct writer *w, enum record_type type, uint32_t tag, const void *fixed,
		size_t fixed_bytes)
{
	writer_put_text(w, type, tag, fixed, fixed_bytes, "", 0);
}

void writer_put_thread(struct writer *w)
{
	struct record_thread *record = writer_reserve(w, RECORD_THREAD, sizeof(*record));

	if (!record)
		return;
	fill_thread(w, record);
	writer_commit(w, record, RECORD_THREAD, sizeof(*record), w->thread.tid);
}

/* Gives W, but not its keeper, to THREAD. */
static void change_thread(struct writer *w, const struct writer_thread *thread)
{
	w->thread = *thread;
	atomic_store_explicit(&w->owner, thread->tid, memory_order_relaxed);
	/* Without a chunk there is no need: turn_chunk writes a THREAD record. */
	if (atomic_load_explicit(&w->cursor, memory_order_relaxed))
		writer_put_thread(w);
}

void writer_set_thread(struct writer *w, const struct writer_thread *thread)
{
	change_thread(w, thread);
	if (!w->keeper)
		return;
	/* The keeper's chunks are never reused, so every thread stays known. */
	w->keeper->thread = *thread;
	writer_put_thread(w->keeper);
}

void writer_set_scope_number(struct writer *w, uint64_t scope_number)
{
	w->thread.scope_number = scope_number;
	writer_put_thread(w);
	if (!w->keeper)
		return;
	w->keeper->thread.scope_number = scope_number;
	writer_put_thread(w->keeper);
}
