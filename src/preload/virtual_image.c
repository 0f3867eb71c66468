/* Images, and the reals that have them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"
#include "preload/virtual.h"

enum {
	IMAGE_SHARE = 8,    /* images may take one of so many parts of the memory */
	CHILD_BYTES = 8192, /* what a clone of a child graph counts as */
};

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

uint32_t virtual_find_image(struct virtual *v, uint32_t cell, uint32_t guess,
			    const struct note *note)
{
	if (guess && is_image(v->images[guess - 1], cell, note))
		return guess;
	return find_hashed(v, cell, note);
}

static void free_image(struct virtual *v, struct image *image)
{
	if (image->child && v->vendor->graph_destroy(image->child) != 0)
		PRELOAD_COUNT(failures);
	free(image);
}

static size_t bytes_of(const struct image *image)
{
	return sizeof(*image) + image->bytes + (image->child ? CHILD_BYTES : 0);
}

/* ---- dropping images that no real has ---- */

static void mark_used(const struct virtual *v, const uint32_t *have, uint32_t *numbers)
{
	for (uint32_t i = 0; i < v->moving_count; i++)
		if (have[i] && have[i] != IMAGE_UNKNOWN)
			numbers[have[i]] = 1;
}

/* Replaces the numbers of images by NUMBERS of them. Returns the hash of the set. */
static uint64_t renumber(const struct virtual *v, uint32_t *have, const uint32_t *numbers)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < v->moving_count; i++) {
		if (have[i] != IMAGE_UNKNOWN)
			have[i] = numbers[have[i]];
		hash += image_place_hash(i, have[i]);
	}
	return hash;
}

static void put_image(struct virtual *v, uint64_t hash, uint32_t row)
{
	struct hash_probe probe = hash_map_probe(&v->image_map, hash);

	while (hash_map_next(&v->image_map, &probe))
		;
	hash_map_put(&v->image_map, &probe, row);
}

/* Keeps those images whose NUMBERS are not 0, and fills their new numbers. */
static void keep_marked(struct virtual *v, uint32_t *numbers)
{
	uint32_t kept = 0;
	int mode = vendor_relax(v->vendor);

	for (uint32_t i = 0; i < v->image_count; i++) {
		if (!numbers[i + 1]) {
			free_image(v, v->images[i]);
			continue;
		}
		v->images[kept] = v->images[i];
		numbers[i + 1] = ++kept;
	}
	vendor_unrelax(v->vendor, mode);
	v->image_count = kept;
	v->image_bytes = 0;
	hash_map_clear(&v->image_map);
	for (uint32_t i = 0; i < kept; i++) {
		v->image_bytes += bytes_of(v->images[i]);
		put_image(v, v->images[i]->hash, i);
	}
}

/* Frees all images that neither a real has nor the program wants. -ENOMEM. */
static int drop_unused(struct virtual *v)
{
	uint32_t *numbers = calloc((size_t)v->image_count + 1, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	mark_used(v, v->wanted, numbers);
	for (uint32_t i = 0; i < v->real_count; i++)
		mark_used(v, v->reals[i].have, numbers);
	keep_marked(v, numbers);
	v->wanted_hash = renumber(v, v->wanted, numbers);
	for (uint32_t i = 0; i < v->real_count; i++)
		v->reals[i].hash = renumber(v, v->reals[i].have, numbers);
	free(numbers);
	/* Hashes of sets mean other sets now. */
	free(v->missed);
	v->missed = NULL;
	virtual_forget_seen(v);
	PRELOAD_COUNT(drops);
	return 0;
}

/* ---- adding ---- */

static bool has_room(struct virtual *v, uint32_t bytes)
{
	uint32_t capacity = v->image_capacity ? 2 * v->image_capacity : 64;
	struct image **larger;
	uint64_t most = virtual_limits.bytes / IMAGE_SHARE;

	if (v->image_bytes + bytes > most && (drop_unused(v) < 0 || v->image_bytes > most / 2))
		return false;
	if (hash_map_reserve(&v->image_map) < 0)
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
	int mode = vendor_relax(v->vendor);
	int err = v->vendor->graph_clone(&image->child, child);

	if (err != 0) {
		image->child = NULL;
		virtual_inner_failed(v);
	}
	vendor_unrelax(v->vendor, mode);
	return err == 0;
}

int virtual_add_image(struct virtual *v, uint32_t cell, const struct note *note,
		      uint32_t *ret_image)
{
	struct image *image =
		has_room(v, note->bytes) ? malloc(sizeof(*image) + note->bytes) : NULL;

	if (!image)
		return -ENOMEM;
	*image = (struct image){.hash = cell_hash(cell, note), .cell = cell, .bytes = note->bytes};
	memcpy(image->data, note->data, note->bytes);
	if (note->child && !clone_child(v, image, note->child)) {
		free(image);
		return -ENOMEM;
	}
	put_image(v, image->hash, v->image_count);
	v->images[v->image_count++] = image;
	v->image_bytes += bytes_of(image);
	*ret_image = v->image_count;
	return 0;
}

void virtual_free_images(struct virtual *v)
{
	int mode = vendor_relax(v->vendor);

	for (uint32_t i = 0; i < v->image_count; i++)
		free_image(v, v->images[i]);
	vendor_unrelax(v->vendor, mode);
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
	uint64_t begin = preload_time_begin(), sample = cost_begin(&v->costs.set);
	uint64_t advised = v->sets ? preload_now_ns() : 0;
	int err = v->vendor->apply(image->data, image->child, exec, node);

	if (v->sets)
		virtual_sets_called(v, preload_now_ns() - advised);
	cost_end(&v->costs.set, sample);
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
