/* The table of kept scopes, and the walk over a chunk before it is reused. */
#include "record/lasting.h"

#include <stdbool.h>
#include <string.h>

/* Limits the copies to half of a chunk, so that reusing a chunk always frees the other half. */
#define CARRIED_BYTES_MOST (SPOOL_CHUNK_BYTES / 2)

static uint32_t slot_of(uint64_t id)
{
	return (uint32_t)((id * 0x9e3779b97f4a7c15u) >> 32) % LASTING_SLOTS;
}

/* The slot of ID, or the free slot where ID would be added. The table is never full. */
static struct lasting_scope *find(struct lasting *lasting, uint64_t id)
{
	uint32_t at = slot_of(id);

	while (lasting->scopes[at].id && lasting->scopes[at].id != id)
		at = (at + 1) % LASTING_SLOTS;
	return &lasting->scopes[at];
}

/* Adds ID unless it is known, 0, or the table has LASTING_MOST scopes. */
static void add(struct lasting *lasting, uint64_t id)
{
	struct lasting_scope *scope = find(lasting, id);

	if (scope->id || !id || lasting->count == LASTING_MOST)
		return;
	*scope = (struct lasting_scope){.id = id};
	lasting->count++;
}

/* Removes SCOPE. Moves following entries of the same probe sequence up, so that no search ends at
 * the gap. */
static void discard(struct lasting *lasting, struct lasting_scope *scope)
{
	uint32_t gap = (uint32_t)(scope - lasting->scopes), at = gap;

	lasting->count--;
	for (;;) {
		uint32_t home;

		at = (at + 1) % LASTING_SLOTS;
		if (!lasting->scopes[at].id)
			break;
		home = slot_of(lasting->scopes[at].id);
		if ((at - home) % LASTING_SLOTS < (at - gap) % LASTING_SLOTS)
			continue;
		lasting->scopes[gap] = lasting->scopes[at];
		gap = at;
	}
	lasting->scopes[gap] = (struct lasting_scope){0};
}

/* The SCOPE_END of a scope is about to be reused: forgets the scope. If a copy of its SCOPE
 * record exists, the SCOPE_END is written again too. */
static void end_scope(struct lasting *lasting, const struct record_scope_end *end)
{
	struct lasting_scope *scope = find(lasting, end->id);

	if (!scope->id)
		return;
	if (scope->is_written)
		writer_put(lasting->writer, RECORD_SCOPE_END, end->header.tag, end, sizeof(*end));
	discard(lasting, scope);
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
static bool survey(struct lasting *lasting, const struct spool_chunk *chunk)
{
	bool is_first_time = chunk->writer != lasting->writer->lane_index;
	bool has_scope = false;

	for (const struct record_header *record = first_record(chunk); record;
	     record = next_record(chunk, record)) {
		const void *at = record;

		if (record->type == RECORD_SCOPE_END) {
			end_scope(lasting, at);
		} else if (record->type == RECORD_SCOPE && record->tag != RECORD_SCOPE_MARK) {
			has_scope = true;
			if (is_first_time)
				add(lasting, ((const struct record_scope *)at)->id);
		}
	}
	return has_scope;
}

/* Writes a THREAD record if the last one was of another thread. */
static void speak_for(struct writer *w, const struct record_thread *thread)
{
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

void lasting_carry(struct lasting *lasting, const struct spool_chunk *chunk)
{
	const struct record_thread *thread = NULL;
	uint32_t carried_bytes = 0;

	if (!survey(lasting, chunk))
		return;
	for (const struct record_header *record = first_record(chunk); record;
	     record = next_record(chunk, record)) {
		const void *at = record;
		struct lasting_scope *scope;

		if (record->type == RECORD_THREAD)
			thread = at;
		if (record->type != RECORD_SCOPE)
			continue;
		scope = find(lasting, ((const struct record_scope *)at)->id);
		if (!scope->id)
			continue;
		carried_bytes += (uint32_t)sizeof(*thread) + record->words * 8u;
		if (carried_bytes > CARRIED_BYTES_MOST) {
			discard(lasting, scope);
			continue;
		}
		scope->is_written = true;
		speak_for(lasting->writer, thread);
		write_again(lasting->writer, record);
	}
}
