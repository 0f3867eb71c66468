/* Correlation ids of CUDA calls. CUPTI numbers calls with 32 bits, over all threads, from 1.
 * They are widened to 64 bits by the latest ids: a number is at most 2^31 calls away from them.
 *
 * Any thread; all values are relaxed atomics. */
#ifndef DAGTAP_CAPTURE_CUDA_CID_H
#define DAGTAP_CAPTURE_CUDA_CID_H

#include <stdatomic.h>
#include <stdint.h>

/* A wide id near the latest one. Its first value is such that the first ids keep their value. */
extern _Atomic uint64_t cuda_cid_near;

/* The smallest id of a call that the recording has seen. Work with a smaller id belongs to no
 * call that has a row. */
extern _Atomic uint64_t cuda_cid_first;

#define CUDA_CID_NEAR_FIRST ((uint64_t)1 << 31)

/* While CUDA is used, the calls of other interfaces (HIP, RCCL or NCCL) have ids above
 * CUDA_CID_END. If there were such calls before, with small ids, CUDA's ids do not start at 1
 * but after CUDA_CID_NEAR_OTHERS - 2^31. */
#define CUDA_CID_END	     ((uint64_t)1 << 40)
#define CUDA_CID_NEAR_OTHERS (((uint64_t)1 << 33) + CUDA_CID_NEAR_FIRST)
#define CUDA_CID_STEP	     ((uint64_t)1 << 20)

/* Returns the wide id of CORRELATION; 0, no call, stays 0. */
static inline uint64_t cuda_cid(uint32_t correlation)
{
	uint64_t near = atomic_load_explicit(&cuda_cid_near, memory_order_relaxed);

	if (!correlation)
		return 0;
	return near + (uint64_t)(int64_t)(int32_t)(correlation - (uint32_t)near);
}

/* Returns the wide id of a call that is being entered, and notes it. Stores cuda_cid_near only
 * every CUDA_CID_STEP calls: otherwise all threads would write one cache line. */
static inline uint64_t cuda_cid_enter(uint32_t correlation)
{
	uint64_t near = atomic_load_explicit(&cuda_cid_near, memory_order_relaxed);
	uint64_t first = atomic_load_explicit(&cuda_cid_first, memory_order_relaxed);
	uint64_t cid = cuda_cid(correlation);

	if (__builtin_expect(cid > near + CUDA_CID_STEP, 0))
		atomic_store_explicit(&cuda_cid_near, cid, memory_order_relaxed);
	/* Calls of two threads may arrive in the wrong order. */
	while (__builtin_expect(cid && cid < first, 0) &&
	       !atomic_compare_exchange_weak_explicit(&cuda_cid_first, &first, cid,
						      memory_order_relaxed, memory_order_relaxed))
		;
	return cid;
}

/* Returns the wide id of an activity's call; 0 when no call with it was seen to begin. */
static inline uint64_t cuda_cid_work(uint32_t correlation)
{
	uint64_t cid = cuda_cid(correlation);

	return cid < atomic_load_explicit(&cuda_cid_first, memory_order_relaxed) ? 0 : cid;
}

#endif
