/* The bytes of an image while it is put together (image_bytes.h). */
#include "preload/image_bytes.h"

#include <stdatomic.h>
#include <string.h>

#include "base/table.h"

void *bytes_add(struct bytes *bytes, size_t count)
{
	uint8_t *added;

	if (table_reserve(&bytes->at, &bytes->room, bytes->count + count, 1) < 0)
		return NULL;
	added = (uint8_t *)bytes->at + bytes->count;
	bytes->count += count;
	return memset(added, 0, count);
}

bool bytes_append(struct bytes *bytes, const void *from, size_t count)
{
	void *to = bytes_add(bytes, (count + 7) & ~(size_t)7);

	if (to && count > 0)
		memcpy(to, from, count);
	return to;
}

bool bytes_append_unknown(struct bytes *bytes)
{
	static _Atomic uint64_t last;
	uint64_t number = atomic_fetch_add(&last, 1) + 1;

	return bytes_append(bytes, &number, sizeof(number));
}

uint64_t node_place(const void *nodes, size_t count, const void *node)
{
	const void *const *at = nodes;
	size_t i = 0;

	while (i < count && at[i] != node)
		i++;
	return i;
}
