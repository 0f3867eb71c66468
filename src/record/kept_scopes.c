/* The table of kept scopes, and the walk over a chunk before it is reused. */
#include "record/kept_scopes.h"

#include <stdbool.h>
#include <string.h>

/* Limits the copies to half of a chunk, so that reusing a chunk always frees the other half. */
#define CARRIED_BYTES_MOST (SPOOL_CHUNK_BYTES / 2)

static uint32_t slot_of(uint64_t id)
{
	return (uint32_t)((id * 0x9e3779b97f4a7c15u) >> 32) % KEPT_SCOPES_SLOTS;
}

/* The slot of ID, or the free slot where ID would be added. The table is never full. */
static struct kept_scope *find(struct kept_scopes *kept_scopes, uint64_t id)
{
	uint32_t at = slot_of(id);

	while (kept_scopes->scopes[at].id && kept_scopes->scopes[at].id != id)
		at = (at + 1) % KEPT_SCOPES_SLOTS;
	return &kept_scopes->scopes[at];
}

/* Adds ID unless it is known, 0, or the table has KEPT_SCOPES_MOST scopes. */
static void add(struct kept_scopes *kept_scopes, uint64_t id)
{
	struct kept_scope *scope = find(kept_scopes, id);

	if (scope->id || !id || kept_scopes->count == KEPT_SCOPES_MOST)
		return;
	*scope = (struct kept_scope){.id = id};
	kept_scopes->count++;
}

/* Removes SCOPE. Moves following entries of the same probe sequence up, so that no search ends at
 * the gap. */
static void discard(struct kept_scopes *kept_scopes, struct kept_scope *scope)
{
	uint32_t gap = (uint32_t)(scope - kept_scopes->scopes), at = gap;

	kept_scopes->count--;
	for (;;) {
		uint32_t home;

		at = (at + 1) % KEPT_SCOPES_SLOTS;
		if (!kept_scopes->scopes[at].id)
			break;
		home = slot_of(kept_scopes->scopes[at].id);
		if ((at - home) % KEPT_SCOPES_SLOTS < (at - gap) % KEPT_SCOPES_SLOTS)
			continue;
		kept_scopes->scopes[gap] = kept_scopes->scopes[at];
		gap = at;
	}
	kept_scopes->scopes[gap] = (struct kept_scope){0};
}

/* The SCOPE_END of a scope is about to be reused: forgets the scope. If a copy of its SCOPE
 * record exists, the SCOPE_END is written again too. */
static void end_scope(struct kept_scopes *kept_scopes, const struct record_scope_end *end)
{
	struct kept_scope *scope = find(kept_scopes, end->id);

	if (!scope->id)
		return;
	if (scope->is_written)
		writer_put(kept_scopes->writer, RECORD_SCOPE_END, end->header.tag, end,
			   sizeof(*end));
	discard(kept_scopes, scope);
}

static const struct record_header *first_record(const struct spool_chunk *chunk)
{
	return (const struct record_header *)chunk->records;
}

/* The record after RECORD, or NULL after the last one. */
static const struct record_header *next_record(const struct spool_chunk *chunk,
					       const struct record_header *record)
{
	const char *next = (const char *)record + record->words * 8u;

	return next < (const char *)chunk + chunk->used_bytes ? (const struct record_header *)next
							      : NULL;
}

/* Adds the scopes that begin in CHUNK, and removes those that end in it. Scopes in a chunk of
 * copies are in the table already. A mark has no end and is not kept. Returns whether CHUNK has a
 * SCOPE record other than marks. */
static bool survey(struct kept_scopes *kept_scopes, const struct spool_chunk *chunk)
{
	bool is_first_time = chunk->writer != kept_scopes->writer->index;
	bool has_scope = false;

	for (const struct record_header *record = first_record(chunk); record;
	     record = next_record(chunk, record)) {
		const void *at = record;

		if (record->type == RECORD_SCOPE_END) {
			end_scope(kept_scopes, at);
		} else if (record->type == RECORD_SCOPE && record->tag != RECORD_SCOPE_MARK) {
			has_scope = true;
			if (is_first_time)
				add(kept_scopes, ((const struct record_scope *)at)->id);
		}
	}
	return has_scope;
}

/* Writes a THREAD record if the last one was of another thread. */
static void speak_for(struct writer *w, const struct record_thread *thread)
{
	/* THREAD is set: each chunk begins with a THREAD record.
	 * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	if (w->thread.tid == thread->header.tag && w->thread.scope_number == thread->scope_number)
		return;
	w->thread.tid = thread->header.tag;
	w->thread.scope_number = thread->scope_number;
	memcpy(w->thread.name, thread->name, sizeof(w->thread.name));
	writer_put_thread(w);
}

/* Writes a copy of the SCOPE record. */
static void write_again(struct writer *w, const struct record_header *scope)
{
	size_t bytes = scope->words * 8u;
	char *copy = writer_reserve(w, RECORD_SCOPE, bytes);

	if (!copy)
		return;
	memcpy(copy + sizeof(*scope), (const char *)scope + sizeof(*scope), bytes - sizeof(*scope));
	writer_commit(w, copy, RECORD_SCOPE, bytes, scope->tag);
}

void kept_scopes_carry(struct kept_scopes *kept_scopes, const struct spool_chunk *chunk)
{
	const struct record_thread *thread = NULL;
	uint32_t carried_bytes = 0;

	if (!survey(kept_scopes, chunk))
		return;
	for (const struct record_header *record = first_record(chunk); record;
	     record = next_record(chunk, record)) {
		const void *at = record;
		struct kept_scope *scope;

		if (record->type == RECORD_THREAD)
			thread = at;
		if (record->type != RECORD_SCOPE)
			continue;
		scope = find(kept_scopes, ((const struct record_scope *)at)->id);
		if (!scope->id)
			continue;
		carried_bytes += (uint32_t)sizeof(*thread) + record->words * 8u;
		if (carried_bytes > CARRIED_BYTES_MOST) {
			discard(kept_scopes, scope);
			continue;
		}
		scope->is_written = true;
		speak_for(kept_scopes->writer, thread);
		write_again(kept_scopes->writer, record);
	}
}
