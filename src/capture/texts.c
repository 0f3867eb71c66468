/* A set of texts; see texts.h. */
#include "capture/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"

struct text *texts_keep(struct texts *texts, const struct text *group, const char *text)
{
	size_t bytes = strlen(text);
	struct text *row, **place;
	struct hash_probe probe;

	if (hash_map_reserve(&texts->map) < 0)
		return NULL;
	probe = hash_map_probe(&texts->map, hash_mix(hash_bytes(text, bytes), (uintptr_t)group));
	while (hash_map_next(&texts->map, &probe)) {
		row = texts->rows[probe.row];
		if (row->group == group && row->bytes == bytes && !memcmp(row->text, text, bytes))
			return row;
	}
	row = malloc(sizeof(*row) + bytes + 1);
	place = row ? table_add((void **)&texts->rows, &texts->count, sizeof(*place)) : NULL;
	if (!place) {
		free(row);
		return NULL;
	}
	*row = (struct text){.number = texts->count, .group = group, .bytes = bytes};
	memcpy(row->text, text, bytes + 1);
	*place = row;
	hash_map_put(&texts->map, &probe, texts->count - 1);
	return row;
}
