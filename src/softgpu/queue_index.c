/* The functions on the indices of queues. They are called for every packet and return no status, so
 * they check only for NULL: a load from a NULL queue returns 0. They work on all kinds of
 * queues. */
#include "softgpu/api.h"

#include "softgpu/queue.h"

static volatile uint64_t *write_word(const hsa_queue_t *queue)
{
	return ((const struct softgpu_queue *)queue)->write_index;
}

static volatile uint64_t *read_word(const hsa_queue_t *queue)
{
	return ((const struct softgpu_queue *)queue)->read_index;
}

#define INDEX_LOAD(which, spelling, order)                                                         \
	uint64_t softgpu_hsa_queue_load_##which##_index_##spelling(const hsa_queue_t *queue)       \
	{                                                                                          \
		return queue ? __atomic_load_n(which##_word(queue), order) : 0;                    \
	}

#define INDEX_STORE(which, spelling, order)                                                        \
	void softgpu_hsa_queue_store_##which##_index_##spelling(const hsa_queue_t *queue,          \
								uint64_t value)                    \
	{                                                                                          \
		if (queue)                                                                         \
			__atomic_store_n(which##_word(queue), value, order);                       \
	}

#define INDEX_ADD(spelling, order)                                                                 \
	uint64_t softgpu_hsa_queue_add_write_index_##spelling(const hsa_queue_t *queue,            \
							      uint64_t value)                      \
	{                                                                                          \
		return queue ? __atomic_fetch_add(write_word(queue), value, order) : 0;            \
	}

#define INDEX_CAS(spelling, order, failure_order)                                                  \
	uint64_t softgpu_hsa_queue_cas_write_index_##spelling(const hsa_queue_t *queue,            \
							      uint64_t expected, uint64_t value)   \
	{                                                                                          \
		if (queue)                                                                         \
			__atomic_compare_exchange_n(write_word(queue), &expected, value, false,    \
						    order, failure_order);                         \
		return expected;                                                                   \
	}

INDEX_LOAD(read, relaxed, __ATOMIC_RELAXED)
INDEX_LOAD(read, scacquire, __ATOMIC_ACQUIRE)
INDEX_LOAD(write, relaxed, __ATOMIC_RELAXED)
INDEX_LOAD(write, scacquire, __ATOMIC_ACQUIRE)
INDEX_STORE(read, relaxed, __ATOMIC_RELAXED)
INDEX_STORE(read, screlease, __ATOMIC_RELEASE)
INDEX_STORE(write, relaxed, __ATOMIC_RELAXED)
INDEX_STORE(write, screlease, __ATOMIC_RELEASE)
INDEX_ADD(relaxed, __ATOMIC_RELAXED)
INDEX_ADD(scacquire, __ATOMIC_ACQUIRE)
INDEX_ADD(screlease, __ATOMIC_RELEASE)
INDEX_ADD(scacq_screl, __ATOMIC_ACQ_REL)
INDEX_CAS(relaxed, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
INDEX_CAS(scacquire, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
INDEX_CAS(screlease, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
INDEX_CAS(scacq_screl, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
