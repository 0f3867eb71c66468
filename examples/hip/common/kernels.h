/*
 * The kernels of the examples and the same arithmetic for the host, with which programs check their
 * results and the software GPU computes. The arithmetic is chosen so that one launch too many, one
 * too few, or two in the wrong order change the result. All kernels work on 32-bit words, one word
 * for each work-item.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include "example.h"

enum { MIX, ROTATE, BRANCH, REDUCE, KERNEL_COUNT };

extern const struct example_kernel example_kernels[KERNEL_COUNT];

/* Compiles and registers all four kernels. Call once. */
void kernels_register(void);

/* mix(data, term, count):              data[i] = data[i] * 3 + term */
void host_mix(uint32_t *data, uint32_t term, uint32_t count);

/* rotate(data, key, count):            data[i] = rotate_left(data[i], 7) ^ key */
void host_rotate(uint32_t *data, uint32_t key, uint32_t count);

/* branch(out, in, factor, count):      out[i] = in[i] * factor + 1 */
void host_branch(uint32_t *out, const uint32_t *in, uint32_t factor, uint32_t count);

/*
 * reduce(data, parts, width, count):   for each w in order:
 * data[i] = data[i] * 31 + parts[w * count + i]
 */
void host_reduce(uint32_t *data, const uint32_t *parts, uint32_t width, uint32_t count);

#endif
