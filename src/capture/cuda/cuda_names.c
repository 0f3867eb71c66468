/* The names of CUDA kernels: texts by pointer, each written once for a spool; see cuda_names.h. */
#include "capture/cuda/cuda_names.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "capture/capture_session.h"
#include "capture/texts.h"

#define SLOTS_FIRST 1024

/* Never freed, so that an id means the same name in every recording. */
static struct texts names;

/* The pointers that were followed, with the generation in which they were. */
struct seen {
	const char *pointer;
	uint32_t generation;
	struct text *name;
};
static struct seen *seen_slots; /* open addressing */
static uint32_t seen_slot_count, seen_count;
static uint32_t seen_generation;	/* of all entries in seen_slots */
static _Atomic uint32_t generation = 1; /* advanced by cuda_names_doubt */

static void write_name(struct text *name)
{
	struct record_kernel record = {
		.ns = session_now_ns(),
		.name_bytes = writer_text_bytes(name->bytes),
	};

	name->session = session_current_number();
	writer_put_text(session_writer(), RECORD_KERNEL, name->number, &record, sizeof(record),
			name->text, name->bytes);
}

static struct seen *find_seen(struct seen *slots, uint32_t slot_count, const char *pointer)
{
	uint32_t at = (uint32_t)((uintptr_t)pointer * 0x9e3779b97f4a7c15u >> 32);

	for (at &= slot_count - 1; slots[at].pointer && slots[at].pointer != pointer;)
		at = (at + 1) & (slot_count - 1);
	return &slots[at];
}

/* Makes room for more pointers; entries of an older generation are left behind. */
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
		struct text *kept = texts_keep(&names, name);

		if (!kept)
			return 0;
		*seen = (struct seen){name, now, kept};
		seen_count++;
	}
	if (seen->name->session != session_current_number())
		write_name(seen->name);
	return seen->name->number;
}

void cuda_names_doubt(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}
