/* The memory that a blit kernel accesses. A kernel checks each region before it accesses it; an
 * access outside of memory is a fault of the dispatch.
 *
 * Threading: any thread. A fault is kept for each thread. */
#ifndef SOFTGPU_BLIT_REGION_H
#define SOFTGPU_BLIT_REGION_H

#include <stdbool.h>
#include <stdint.h>

/* The memory that a kernel accesses through one pointer. */
struct blit_region {
	const void *base;	       /* host address */
	uint64_t unit_bytes;	       /* size of the unit of all fields below */
	uint64_t start;		       /* from the base to the first element */
	uint64_t width, height, depth; /* extent; no element at all when one is 0 */
	uint64_t row, slice;	       /* distance of two rows, and of two slices */
};

/* Checks that all of REGION lies in device memory or in locked memory. When this returns false it
 * has called blit_fault, and the kernel must do nothing. Cost: a look-up under the memory lock, and
 * a scan of the locked ranges. */
bool blit_reaches(const struct blit_region *region);

/* Marks the calling thread's kernel as faulted and counts dispatches_bad_range. For accesses that
 * cannot be described as a region. */
void blit_fault(void);

/* Returns whether a kernel has faulted on the calling thread since the last call of this
 * function. */
bool blit_take_fault(void);

/* Adds A * B to *SUM. Returns false on overflow. */
static inline bool blit_add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t product;

	return !__builtin_mul_overflow(a, b, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

#endif
