/* CUPTI counts calls in 32 bits, over all threads, from 1. Wider ids follow from the last ones: what
 * comes is at most 2^31 calls away from them. */
#ifndef DAGTAP_CAPTURE_CUDA_CID_H
#define DAGTAP_CAPTURE_CUDA_CID_H

#include <stdatomic.h>
#include <stdint.h>

/* Somewhere near the latest id; starts where every first id keeps its value. */
extern _Atomic uint64_t cuda_cid_near;

/* Of the calls that the recording has seen. Work of an earlier one is of no call that has a row. */
extern _Atomic uint64_t cuda_cid_first;

#define CUDA_CID_NEAR_FIRST ((uint64_t)1 << 31)

/* Other interfaces' calls (HIP's, RCCL's or NCCL's) have ids above this once CUDA is there; if some had theirs
 * before, CUDA's do not start at 1. */
#define CUDA_CID_END	     ((uint64_t)1 << 40)
#define CUDA_CID_NEAR_OTHERS (((uint64_t)1 << 33) + CUDA_CID_NEAR_FIRST)
#define CUDA_CID_STEP	     ((uint64_t)1 << 20)

/* 0 stays 0: of no call. */
static inline uint64_t cuda_cid(uint32_t correlation)
{
	uint64_t near = atomic_load_explicit(&cuda_cid_near, memory_order_relaxed);

	if (!correlation)
		return 0;
	return near + (uint64_t)(int64_t)(int32_t)(correlation - (uint32_t)near);
}

/* Of a call that is being entered. Stores rarely: threads would pull at one cache line. */
static inline uint64_t cuda_cid_enter(uint32_t correlation)
{
	uint64_t near = atomic_load_explicit(&cuda_cid_near, memory_order_relaxed);
	uint64_t first = atomic_load_explicit(&cuda_cid_first, memory_order_relaxed);
	uint64_t cid = cuda_cid(correlation);

	if (__builtin_expect(cid > near + CUDA_CID_STEP, 0))
		atomic_store_explicit(&cuda_cid_near, cid, memory_order_relaxed);
	/* Calls of two threads may come in the wrong order. */
	while (__builtin_expect(cid && cid < first, 0) &&
	       !atomic_compare_exchange_weak_explicit(&cuda_cid_first, &first, cid,
						      memory_order_relaxed, memory_order_relaxed))
		;
	return cid;
}

/* Of an activity; 0: of no call that was seen to begin. */
static inline uint64_t cuda_cid_work(uint32_t correlation)
{
	uint64_t cid = cuda_cid(correlation);

	return cid < atomic_load_explicit(&cuda_cid_first, memory_order_relaxed) ? 0 : cid;
}

#endif
