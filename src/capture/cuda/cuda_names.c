/* The names of CUDA kernels: texts by pointer, each written once for a spool; see cuda_names.h. */
#include "capture/cuda/cuda_names.h"

#include <stdatomic.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "base/table.h"
#include "capture/capture_session.h"
#include "capture/texts.h"

/* Never freed, so that an id means the same name in every recording. */
static struct texts names;

/* The pointers that were followed since the generation began. */
struct seen {
	const char *pointer;
	struct text *name;
};
static struct seen *seen_rows;
static uint32_t seen_count;
static struct hash_map seen_map; /* of seen_rows */
static uint32_t seen_generation;
static _Atomic uint32_t generation = 1; /* advanced by cuda_names_doubt */

static void write_name(struct writer *writer, struct text *name)
{
	struct record_kernel record = {
		.ns = session_now_ns(),
		.name_bytes = writer_text_bytes(name->bytes),
	};

	name->spool = writer->spool_id;
	writer_put_text(writer, RECORD_KERNEL, name->number, &record, sizeof(record), name->text,
			name->bytes);
}

/* The name at the pointer, which is read if it is new in this generation; NULL when memory is
 * short. */
static struct text *find_name(const char *pointer)
{
	struct hash_probe probe;
	struct seen *seen;
	struct text *name;

	if (hash_map_reserve(&seen_map) < 0)
		return NULL;
	probe = hash_map_probe(&seen_map, hash_mix(0, (uintptr_t)pointer));
	while (hash_map_next(&seen_map, &probe))
		if (seen_rows[probe.row].pointer == pointer)
			return seen_rows[probe.row].name;
	name = texts_keep(&names, NULL, pointer);
	seen = name ? table_add((void **)&seen_rows, &seen_count, sizeof(*seen)) : NULL;
	if (seen) {
		*seen = (struct seen){pointer, name};
		hash_map_put(&seen_map, &probe, seen_count - 1);
	}
	return name;
}

uint32_t cuda_names_id(const char *name)
{
	uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
	struct writer *writer = session_writer();
	struct text *found;

	if (now != seen_generation) {
		hash_map_clear(&seen_map);
		seen_count = 0;
		seen_generation = now;
	}
	found = name ? find_name(name) : NULL;
	if (!found)
		return 0;
	if (writer && found->spool != writer->spool_id)
		write_name(writer, found);
	return found->number;
}

void cuda_names_doubt(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}
