/* Images, and the reals that have them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"
#include "preload/virtual.h"

enum {
	MOST_IMAGE_BYTES = 32 << 20, /* of one virtual executable */
	CHILD_BYTES = 8192,	     /* what a clone of a child graph counts as */
};

void *bytes_add(struct bytes *bytes, size_t count)
{
	uint8_t *added;

	if (table_reserve(&bytes->at, &bytes->room, bytes->count + count, 1) < 0)
		return NULL;
	added = (uint8_t *)bytes->at + bytes->count;
	bytes->count += count;
	return memset(added, 0, count);
}

/* ---- images ---- */

static uint64_t cell_hash(uint32_t cell, const struct note *note)
{
	return hash_mix(hash_bytes(note->data, note->bytes), cell);
}

static bool is_image(const struct image *image, uint32_t cell, const struct note *note)
{
	return image->cell == cell && image->bytes == note->bytes &&
	       memcmp(image->data, note->data, note->bytes) == 0;
}

static uint32_t find_hashed(struct virtual *v, uint32_t cell, const struct note *note)
{
	uint64_t hash = cell_hash(cell, note);
	struct hash_probe probe;

	if (v->image_count == 0)
		return 0;
	probe = hash_map_probe(&v->image_map, hash);
	while (hash_map_next(&v->image_map, &probe)) {
		const struct image *image = v->images[probe.row];

		if (image->hash == hash && is_image(image, cell, note))
			return probe.row + 1;
	}
	return 0;
}

uint32_t virtual_find_image(struct virtual *v, uint32_t cell, uint32_t before,
			    const struct note *note)
{
	uint32_t found, guess = before ? v->images[before - 1]->next : 0;

	if (guess && is_image(v->images[guess - 1], cell, note))
		return guess;
	found = find_hashed(v, cell, note);
	if (before)
		v->images[before - 1]->next = found;
	return found;
}

static bool has_room(struct virtual *v, uint32_t bytes)
{
	uint32_t capacity = v->image_capacity ? 2 * v->image_capacity : 64;
	struct image **larger;

	if (v->image_bytes + bytes > MOST_IMAGE_BYTES || hash_map_reserve(&v->image_map) < 0)
		return false;
	if (v->image_count < v->image_capacity)
		return true;
	larger = realloc(v->images, capacity * sizeof(struct image *));
	if (!larger)
		return false;
	v->images = larger;
	v->image_capacity = capacity;
	return true;
}

/* The image's own clone of the child graph: the program may change or destroy its graph. */
static bool clone_child(struct virtual *v, struct image *image, void *child)
{
	int mode = v->vendor->relax();
	int err = v->vendor->graph_clone(&image->child, child);

	if (err != 0) {
		image->child = NULL;
		virtual_inner_failed(v);
	}
	v->vendor->unrelax(mode);
	return err == 0;
}

int virtual_add_image(struct virtual *v, uint32_t cell, const struct note *note,
		      uint32_t *ret_image)
{
	struct image *image =
		has_room(v, note->bytes) ? malloc(sizeof(*image) + note->bytes) : NULL;
	struct hash_probe probe;

	if (!image)
		return -ENOMEM;
	*image = (struct image){.hash = cell_hash(cell, note), .cell = cell, .bytes = note->bytes};
	memcpy(image->data, note->data, note->bytes);
	if (note->child && !clone_child(v, image, note->child)) {
		free(image);
		return -ENOMEM;
	}
	probe = hash_map_probe(&v->image_map, image->hash);
	while (hash_map_next(&v->image_map, &probe))
		;
	hash_map_put(&v->image_map, &probe, v->image_count);
	v->images[v->image_count++] = image;
	v->image_bytes += sizeof(*image) + note->bytes + (note->child ? CHILD_BYTES : 0);
	*ret_image = v->image_count;
	return 0;
}

void virtual_free_images(struct virtual *v)
{
	int mode = v->vendor->relax();

	for (uint32_t i = 0; i < v->image_count; i++) {
		if (v->images[i]->child && v->vendor->graph_destroy(v->images[i]->child) != 0)
			PRELOAD_COUNT(failures);
		free(v->images[i]);
	}
	v->vendor->unrelax(mode);
	free(v->images);
	hash_map_release(&v->image_map);
}

/* ---- reals ---- */

uint64_t image_place_hash(uint32_t moving, uint32_t image)
{
	return image ? hash_mix(moving + 1, image) : 0;
}

void real_set(struct real *real, uint32_t moving, uint32_t image)
{
	real->hash +=
		image_place_hash(moving, image) - image_place_hash(moving, real->have[moving]);
	real->have[moving] = image;
}

void *real_node(const struct virtual *v, const struct real *real, uint32_t moving)
{
	const struct node_pair *pair = &v->nodes[v->cell_of_moving[moving] / CELL_KINDS];

	return real == v->reals ? pair->node : pair->copy;
}

int virtual_apply(struct virtual *v, const struct image *image, void *exec, void *node)
{
	uint64_t begin = preload_time_begin();
	int err = v->vendor->apply(image->data, image->child, exec, node);

	preload_time_end(begin, &preload_stats.times.set);
	PRELOAD_COUNT(driver_sets);
	v->applied++;
	return err;
}

bool real_has_wanted(const struct virtual *v, const struct real *real)
{
	return real->hash == v->wanted_hash &&
	       (v->moving_count == 0 ||
		memcmp(real->have, v->wanted, v->moving_count * sizeof(*v->wanted)) == 0);
}

int real_settle(struct virtual *v, struct real *real)
{
	int err = 0;

	if (real_has_wanted(v, real))
		return 0;
	for (uint32_t i = 0; err == 0 && i < v->moving_count; i++) {
		if (real->have[i] == v->wanted[i])
			continue;
		err = virtual_apply(v, v->images[v->wanted[i] - 1], real->handle,
				    real_node(v, real, i));
		real_set(real, i, err == 0 ? v->wanted[i] : IMAGE_UNKNOWN);
	}
	if (err != 0)
		PRELOAD_COUNT(failures);
	return err;
}

int virtual_settle(struct virtual *v)
{
	return real_settle(v, v->reals);
}
