#include "capture/cuda/cuda_names.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/session.h"

#define SLOTS_FIRST 1024

struct name {
	char *text;
	size_t bytes;
	uint64_t hash;
	uint32_t session; /* in whose spool it is */
};

/* Names by id - 1; never forgotten, so that an id means the same in every recording. */
static struct name *names;
static uint32_t name_count, name_room;
static uint32_t *text_slots; /* ids by hash, 0 = free; open addressing */
static uint32_t text_slot_count;

/* Pointers that were followed in this generation. */
struct seen {
	const char *pointer;
	uint32_t generation;
	uint32_t id;
};
static struct seen *seen_slots;
static uint32_t seen_slot_count, seen_count;
static uint32_t seen_generation;
static _Atomic uint32_t generation = 1;

static uint64_t hash_text(const char *text, size_t bytes)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

/* ---- texts ---- */

static void index_name(uint32_t *slots, uint32_t slot_count, uint32_t id)
{
	uint32_t at = (uint32_t)names[id - 1].hash & (slot_count - 1);

	while (slots[at])
		at = (at + 1) & (slot_count - 1);
	slots[at] = id;
}

static bool grow_texts(void)
{
	uint32_t slot_count = text_slot_count ? text_slot_count * 2 : SLOTS_FIRST;
	uint32_t *slots = calloc(slot_count, sizeof(*slots));
	struct name *grown = slots ? realloc(names, slot_count / 2 * sizeof(*names)) : NULL;

	if (grown)
		names = grown;
	if (!grown) {
		free(slots);
		return false;
	}
	name_room = slot_count / 2;
	for (uint32_t id = 1; id <= name_count; id++)
		index_name(slots, slot_count, id);
	free(text_slots);
	text_slots = slots;
	text_slot_count = slot_count;
	return true;
}

static uint32_t find_text(const char *text, size_t bytes, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (text_slot_count - 1);

	for (; text_slot_count && text_slots[at]; at = (at + 1) & (text_slot_count - 1)) {
		const struct name *name = &names[text_slots[at] - 1];

		if (name->hash == hash && name->bytes == bytes && !memcmp(name->text, text, bytes))
			return text_slots[at];
	}
	return 0;
}

static uint32_t intern(const char *text)
{
	size_t bytes = strlen(text);
	uint64_t hash = hash_text(text, bytes);
	uint32_t id = find_text(text, bytes, hash);
	char *copy;

	if (id)
		return id;
	if (name_count == name_room && !grow_texts())
		return 0;
	copy = strdup(text);
	if (!copy)
		return 0;
	names[name_count++] = (struct name){.text = copy, .bytes = bytes, .hash = hash};
	index_name(text_slots, text_slot_count, name_count);
	return name_count;
}

static void write_name(uint32_t id)
{
	struct name *name = &names[id - 1];
	struct record_kernel record = {
		.ns = session_now_ns(),
		.name_bytes = writer_text_bytes(name->bytes),
	};

	if (name->session == session_current_number())
		return;
	name->session = session_current_number();
	writer_put_text(session_writer(), RECORD_KERNEL, id, &record, sizeof(record), name->text,
			name->bytes);
}

/* ---- pointers ---- */

static struct seen *find_seen(struct seen *slots, uint32_t slot_count, const char *pointer)
{
	uint32_t at = (uint32_t)((uintptr_t)pointer * 0x9e3779b97f4a7c15u >> 32);

	for (at &= slot_count - 1; slots[at].pointer && slots[at].pointer != pointer;)
		at = (at + 1) & (slot_count - 1);
	return &slots[at];
}

/* Also the way to forget: entries of an older generation are not taken along. */
static bool grow_seen(uint32_t now)
{
	uint32_t slot_count = seen_slot_count ? seen_slot_count : SLOTS_FIRST;
	struct seen *slots;
	uint32_t kept = 0;

	if (now == seen_generation && seen_slot_count)
		slot_count *= 2;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < seen_slot_count; i++) {
		const struct seen *seen = &seen_slots[i];

		if (!seen->pointer || seen->generation != now)
			continue;
		*find_seen(slots, slot_count, seen->pointer) = *seen;
		kept++;
	}
	free(seen_slots);
	seen_slots = slots;
	seen_slot_count = slot_count;
	seen_count = kept;
	seen_generation = now;
	return true;
}

uint32_t cuda_names_id(const char *name)
{
	uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
	struct seen *seen;

	if (!name)
		return 0;
	if ((now != seen_generation || seen_count >= seen_slot_count / 2) && !grow_seen(now))
		return 0;
	seen = find_seen(seen_slots, seen_slot_count, name);
	if (!seen->pointer) {
		uint32_t id = intern(name);

		if (!id)
			return 0;
		*seen = (struct seen){name, now, id};
		seen_count++;
	}
	write_name(seen->id);
	return seen->id;
}

void cuda_names_doubt(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}
