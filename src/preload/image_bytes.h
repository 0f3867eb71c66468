/* The bytes of an image while it is put together. An image stands for a call: two calls with equal
 * images do the same. */
#ifndef DAGPATCH_PRELOAD_IMAGE_BYTES_H
#define DAGPATCH_PRELOAD_IMAGE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are put together; begins zeroed. The memory is from malloc. */
struct bytes {
	void *at;
	size_t count, room;
};

/* Appends COUNT zeroed bytes, which begin at a multiple of 8 if all counts before are. Returns
 * them; they move at the next call. NULL: no memory. */
void *bytes_add(struct bytes *bytes, size_t count);

/* Appends COUNT bytes, padded with zeros to a multiple of 8. False: no memory. */
bool bytes_append(struct bytes *bytes, const void *from, size_t count);

/* Appends a number that is used once, so that the image equals no other one: what is here is not
 * known. False: no memory. */
bool bytes_append_unknown(struct bytes *bytes);

/* Returns the place of NODE, a vendor's handle, in the COUNT handles at NODES; COUNT if it is not
 * there. An image has places instead of handles. */
uint64_t node_place(const void *nodes, size_t count, const void *node);

#endif
