/* The interned layouts of kernels' parameters: an array in chunks and a hash table by function. */
#include "patch/layout.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* struct patch_kernel stores the size of the argument block in 16 bits. */
enum { MAX_BLOCK_BYTES = UINT16_MAX, CHUNK_ITEMS = 1024, CHUNKS = 1024 };

/* Chunks never move, and a thread that has an index has seen its item stored, because it got the
 * index under the lock or from a thread that did. So layout_at needs no lock. */
struct patch_layouts {
	pthread_rwlock_t lock;
	struct patch_layout **chunks[CHUNKS];
	uint32_t count;
	uint32_t *buckets; /* hash table by function; an item's index + 1; 0: empty */
	uint32_t bucket_count;
	struct dagpatch_parameter scratch[PATCH_PARAMETERS];
};

static struct patch_layout *item(const struct patch_layouts *layouts, uint32_t index)
{
	return layouts->chunks[index / CHUNK_ITEMS][index % CHUNK_ITEMS];
}

int layouts_create(struct patch_layouts **ret_layouts)
{
	struct patch_layouts *layouts = calloc(1, sizeof(*layouts));

	if (!layouts)
		return -ENOMEM;
	pthread_rwlock_init(&layouts->lock, NULL);
	*ret_layouts = layouts;
	return 0;
}

void layouts_destroy(struct patch_layouts *layouts)
{
	if (!layouts)
		return;
	for (uint32_t i = 0; i < layouts->count; i++)
		free(item(layouts, i));
	for (uint32_t i = 0; i < CHUNKS; i++)
		free(layouts->chunks[i]);
	free(layouts->buckets);
	pthread_rwlock_destroy(&layouts->lock);
	free(layouts);
}

static uint32_t bucket_of(const struct patch_layouts *layouts, const void *function)
{
	return (uint32_t)(((uint64_t)(uintptr_t)function * 0x9e3779b97f4a7c15u) >> 32) &
	       (layouts->bucket_count - 1);
}

static void put(struct patch_layouts *layouts, uint32_t index)
{
	uint32_t at = bucket_of(layouts, item(layouts, index)->function);

	while (layouts->buckets[at])
		at = (at + 1) & (layouts->bucket_count - 1);
	layouts->buckets[at] = index + 1;
}

static int make_buckets(struct patch_layouts *layouts, uint32_t count)
{
	uint32_t *buckets = calloc(count, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	free(layouts->buckets);
	layouts->buckets = buckets;
	layouts->bucket_count = count;
	for (uint32_t i = 0; i < layouts->count; i++)
		put(layouts, i);
	return 0;
}

static int make_room(struct patch_layouts *layouts)
{
	uint32_t chunk = layouts->count / CHUNK_ITEMS;

	if (chunk == CHUNKS)
		return -ENOMEM;
	if (!layouts->chunks[chunk]) {
		layouts->chunks[chunk] = calloc(CHUNK_ITEMS, sizeof(struct patch_layout *));
		if (!layouts->chunks[chunk])
			return -ENOMEM;
	}
	if (layouts->count < layouts->bucket_count / 2)
		return 0;
	return make_buckets(layouts, layouts->bucket_count ? layouts->bucket_count * 2 : 128);
}

static bool is_same(const struct patch_layout *layout, const struct dagpatch_parameter *parameters,
		    uint32_t count)
{
	if (layout->count != count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (layout->parameters[i].offset != parameters[i].offset ||
		    layout->parameters[i].bytes != parameters[i].bytes)
			return false;
	return true;
}

/* Finds the known layout of FUNCTION (PACKED is NULL), or its packed layout with these
 * parameters. */
static const struct patch_layout *find(const struct patch_layouts *layouts, const void *function,
				       const struct dagpatch_parameter *packed, uint32_t count)
{
	if (layouts->bucket_count == 0)
		return NULL;
	for (uint32_t at = bucket_of(layouts, function); layouts->buckets[at];
	     at = (at + 1) & (layouts->bucket_count - 1)) {
		const struct patch_layout *layout = item(layouts, layouts->buckets[at] - 1);

		if (layout->function == function &&
		    (packed ? !layout->is_known && is_same(layout, packed, count)
			    : layout->is_known))
			return layout;
	}
	return NULL;
}

static int check(const struct dagpatch_parameter *parameters, uint32_t count)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (parameters[i].offset < end || parameters[i].bytes == 0 ||
		    (unsigned int)parameters[i].kind > DAGPATCH_PARAMETER_HIDDEN)
			return -EINVAL;
		end = (uint64_t)parameters[i].offset + parameters[i].bytes;
	}
	return end > MAX_BLOCK_BYTES ? -E2BIG : 0;
}

static int add(struct patch_layouts *layouts, const void *function,
	       const struct dagpatch_parameter *parameters, uint32_t count, bool is_known,
	       const struct patch_layout **ret_layout)
{
	struct patch_layout *layout;
	int err = make_room(layouts);

	if (err < 0)
		return err;
	layout = malloc(sizeof(*layout) + count * sizeof(*parameters));
	if (!layout)
		return -ENOMEM;
	layout->function = function;
	layout->index = layouts->count;
	layout->count = count;
	layout->bytes = 0;
	layout->is_known = is_known;
	if (count > 0) {
		memcpy(layout->parameters, parameters, count * sizeof(*parameters));
		layout->bytes = parameters[count - 1].offset + parameters[count - 1].bytes;
	}
	layouts->chunks[layout->index / CHUNK_ITEMS][layout->index % CHUNK_ITEMS] = layout;
	layouts->count++;
	put(layouts, layout->index);
	*ret_layout = layout;
	return 0;
}

/* Call with the write lock, because the driver fills the device's only scratch array. */
static int ask(struct patch_device *device, void *function, const struct patch_layout **ret_layout)
{
	struct patch_layouts *layouts = device->layouts;
	uint32_t kept = 0;
	int count;

	*ret_layout = find(layouts, function, NULL, 0);
	if (*ret_layout)
		return 0;
	count = device->driver->kernel_parameters(device, function, layouts->scratch,
						  PATCH_PARAMETERS);
	if (count < 0)
		return count;
	if (count > PATCH_PARAMETERS)
		return -ENOTSUP;
	for (int i = 0; i < count; i++)
		if (layouts->scratch[i].kind != DAGPATCH_PARAMETER_HIDDEN)
			layouts->scratch[kept++] = layouts->scratch[i];
	if (check(layouts->scratch, kept) < 0)
		return -ENOTSUP;
	return add(layouts, function, layouts->scratch, kept, true, ret_layout);
}

int patch_layout_find(struct patch_device *device, void *function,
		      const struct patch_layout **ret_layout)
{
	struct patch_layouts *layouts = device->layouts;
	int err;

	pthread_rwlock_rdlock(&layouts->lock);
	*ret_layout = find(layouts, function, NULL, 0);
	pthread_rwlock_unlock(&layouts->lock);
	if (*ret_layout)
		return 0;
	pthread_rwlock_wrlock(&layouts->lock);
	err = ask(device, function, ret_layout);
	pthread_rwlock_unlock(&layouts->lock);
	return err;
}

int layout_describe(struct patch_device *device, const void *function,
		    const struct dagpatch_parameter *parameters, uint32_t count)
{
	struct patch_layouts *layouts = device->layouts;
	const struct patch_layout *layout;
	int err = count > PATCH_PARAMETERS ? -E2BIG : check(parameters, count);

	if (err < 0)
		return err;
	pthread_rwlock_wrlock(&layouts->lock);
	layout = find(layouts, function, NULL, 0);
	if (layout)
		err = is_same(layout, parameters, count) ? 0 : -EEXIST;
	else
		err = add(layouts, function, parameters, count, true, &layout);
	pthread_rwlock_unlock(&layouts->lock);
	return err;
}

int layout_pack(struct patch_device *device, const void *function, const uint32_t *sizes,
		uint32_t count, const struct patch_layout **ret_layout)
{
	struct patch_layouts *layouts = device->layouts;
	struct dagpatch_parameter *packed = layouts->scratch;
	const struct patch_layout *layout;
	uint64_t end = 0;
	int err = 0;

	if (count > PATCH_PARAMETERS)
		return -E2BIG;
	pthread_rwlock_wrlock(&layouts->lock);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t alignment = sizes[i] & -(uint64_t)sizes[i];

		alignment = alignment > 16 ? 16 : alignment;
		end = (end + alignment - 1) & -alignment;
		packed[i] = (struct dagpatch_parameter){.offset = (uint32_t)end, .bytes = sizes[i]};
		end += sizes[i];
	}
	err = check(packed, count);
	layout = err < 0 ? NULL : find(layouts, function, packed, count);
	if (err == 0 && !layout)
		err = add(layouts, function, packed, count, false, &layout);
	pthread_rwlock_unlock(&layouts->lock);
	if (err == 0)
		*ret_layout = layout;
	return err;
}

const struct patch_layout *layout_at(const struct patch_device *device, uint32_t index)
{
	return item(device->layouts, index);
}
