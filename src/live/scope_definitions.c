/* Scopes of a recording that is followed, and when they may be forgotten (scope_definitions.h). */
#include "live/scope_definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"
#include "record/attribute.h"

#define NONE UINT32_MAX

/* A chain of parents that is longer is damage. */
#define DEEPEST 4096

uint64_t scope_of_record(const struct record_header *record)
{
	const void *at = record;

	switch (record->type) {
	case RECORD_API:
		return ((const struct record_api *)at)->scope;
	case RECORD_DISPATCH:
		return ((const struct record_dispatch *)at)->scope;
	case RECORD_COPY:
		return ((const struct record_copy *)at)->scope;
	case RECORD_MEMORY:
		return ((const struct record_memory *)at)->scope;
	default:
		return 0;
	}
}

static uint64_t hash_of(uint64_t id)
{
	return hash_mix(id, 0);
}

static uint32_t find(const struct definitions *definitions, uint64_t id)
{
	struct hash_probe probe;

	if (!id || !definitions->scope_map.slot_count)
		return NONE;
	probe = hash_map_probe(&definitions->scope_map, hash_of(id));
	while (hash_map_next(&definitions->scope_map, &probe)) {
		if (definitions->scopes[probe.row].id == id)
			return probe.row;
	}
	return NONE;
}

static uint32_t take_row(struct definitions *definitions)
{
	if (definitions->free_count)
		return definitions->free_scopes[--definitions->free_count];
	/* A row that becomes free always has a place in the list. */
	if (table_reserve((void **)&definitions->free_scopes, &definitions->free_room,
			  definitions->scopes_count + 1ull,
			  sizeof(*definitions->free_scopes)) < 0 ||
	    !table_add((void **)&definitions->scopes, &definitions->scopes_count,
		       sizeof(*definitions->scopes)))
		return NONE;
	return definitions->scopes_count - 1;
}

/* Finds or adds the scope with ID, which is not 0. NONE: out of memory. */
static uint32_t get(struct definitions *definitions, uint64_t id)
{
	uint32_t row = find(definitions, id);
	struct hash_probe probe;

	if (row != NONE)
		return row;
	if (hash_map_reserve(&definitions->scope_map) < 0)
		return NONE;
	row = take_row(definitions);
	if (row == NONE)
		return NONE;
	probe = hash_map_probe(&definitions->scope_map, hash_of(id));
	while (hash_map_next(&definitions->scope_map, &probe))
		;
	hash_map_put(&definitions->scope_map, &probe, row);
	definitions->scopes[row] = (struct scope_definition){.id = id, .is_used = true};
	return row;
}

static uint64_t parent_of(const struct scope_definition *scope)
{
	return scope->begin ? ((const struct record_scope *)(const void *)scope->begin)->parent : 0;
}

/* Whether the scope may be forgotten once nothing refers to it. One whose end has come and whose
 * beginning has not stays: they may be written by different threads. */
static bool is_over(const struct scope_definition *scope)
{
	if (!scope->begin)
		return !scope->end;
	return scope->end || scope->begin->tag == RECORD_SCOPE_MARK;
}

static void forget_copy(struct definitions *definitions, struct record_header *copy)
{
	if (copy)
		definitions->bytes -= copy->words * 8u;
	free(copy);
}

/* Forgets the scope if nothing needs it, and then perhaps those around it. */
static void forget_unused(struct definitions *definitions, uint32_t row)
{
	while (row != NONE) {
		struct scope_definition *scope = &definitions->scopes[row];
		uint32_t parent = find(definitions, parent_of(scope));

		if (scope->users || !is_over(scope))
			return;
		hash_map_remove(&definitions->scope_map, hash_of(scope->id), row);
		forget_copy(definitions, scope->begin);
		forget_copy(definitions, scope->end);
		*scope = (struct scope_definition){0};
		definitions->free_scopes[definitions->free_count++] = row;
		row = parent;
		if (row != NONE)
			definitions->scopes[row].users--;
	}
}

static struct record_header *copy_of(struct definitions *definitions,
				     const struct record_header *record)
{
	size_t bytes = record->words * 8u;
	struct record_header *copy = malloc(bytes);

	if (!copy)
		return NULL;
	definitions->bytes += bytes;
	return memcpy(copy, record, bytes);
}

static int add_begin(struct definitions *definitions, const struct record_scope *record,
		     uint32_t tid)
{
	uint32_t row = get(definitions, record->id), parent = NONE;

	if (row == NONE)
		return -ENOMEM;
	if (definitions->scopes[row].begin)
		return 0;
	if (record->parent && record->parent != record->id) {
		parent = get(definitions, record->parent);
		if (parent == NONE)
			return -ENOMEM;
	}
	definitions->scopes[row].begin = copy_of(definitions, &record->header);
	definitions->scopes[row].tid = tid;
	if (!definitions->scopes[row].begin)
		return -ENOMEM;
	if (parent != NONE)
		definitions->scopes[parent].users++;
	forget_unused(definitions, row);
	return 0;
}

static int add_end(struct definitions *definitions, const struct record_scope_end *record)
{
	uint32_t row = get(definitions, record->id);

	if (row == NONE)
		return -ENOMEM;
	if (definitions->scopes[row].end)
		return 0;
	definitions->scopes[row].end = copy_of(definitions, &record->header);
	if (!definitions->scopes[row].end)
		return -ENOMEM;
	forget_unused(definitions, row);
	return 0;
}

int scope_definitions_add(struct definitions *definitions, const struct record_header *record,
			  uint32_t tid)
{
	const void *at = record;

	if (record->type == RECORD_SCOPE_END)
		return add_end(definitions, at);
	return add_begin(definitions, at, tid);
}

int definitions_use(struct definitions *definitions, const struct record_header *record)
{
	uint64_t id = scope_of_record(record);
	uint32_t row;

	if (!id)
		return 0;
	row = get(definitions, id);
	if (row == NONE)
		return -ENOMEM;
	definitions->scopes[row].users++;
	return 0;
}

void definitions_unuse(struct definitions *definitions, const struct record_header *record)
{
	uint32_t row = find(definitions, scope_of_record(record));

	if (row == NONE)
		return;
	definitions->scopes[row].users--;
	forget_unused(definitions, row);
}

bool scope_definitions_has(const struct definitions *definitions, uint64_t id)
{
	for (int depth = 0; id && depth < DEEPEST; depth++) {
		uint32_t row = find(definitions, id), body;

		if (row == NONE || !definitions->scopes[row].begin)
			return false;
		body = record_scope_body((const void *)definitions->scopes[row].begin);
		if (body && !definitions_find(definitions, RECORD_SCOPE_BODY, body))
			return false;
		id = parent_of(&definitions->scopes[row]);
	}
	return true;
}

/* Selects the record that has the text of SCOPE, if it is another one. */
static void select_body(const struct definitions *definitions, const struct scope_definition *scope)
{
	uint32_t number = scope->begin ? record_scope_body((const void *)scope->begin) : 0;
	struct definition *body =
		number ? definitions_find(definitions, RECORD_SCOPE_BODY, number) : NULL;

	if (body)
		body->window = definitions->window;
}

void scope_definitions_select(struct definitions *definitions, uint64_t id)
{
	uint32_t row;

	while ((row = find(definitions, id)) != NONE) {
		struct scope_definition *scope = &definitions->scopes[row];

		if (scope->window == definitions->window)
			return;
		scope->window = definitions->window;
		select_body(definitions, scope);
		id = parent_of(scope);
	}
}

int scope_definitions_selected(const struct definitions *definitions,
			       int (*take)(void *context, const struct record_header *record,
					   uint32_t tid),
			       void *context)
{
	int err = 0;

	for (uint32_t i = 0; i < definitions->scopes_count && err == 0; i++) {
		const struct scope_definition *scope = &definitions->scopes[i];

		if (scope->window != definitions->window || !scope->is_used || !scope->begin)
			continue;
		err = take(context, scope->begin, scope->tid);
		if (err == 0 && scope->end)
			err = take(context, scope->end, scope->tid);
	}
	return err;
}

void scope_definitions_release(struct definitions *definitions)
{
	for (uint32_t i = 0; i < definitions->scopes_count; i++) {
		free(definitions->scopes[i].begin);
		free(definitions->scopes[i].end);
	}
	free(definitions->scopes);
	free(definitions->free_scopes);
	hash_map_release(&definitions->scope_map);
}
