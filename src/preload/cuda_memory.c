/* What addresses belong to. The driver tells it, which takes 0.1 us, so each virtual executable
 * remembers the last allocations until one may have ended: all calls that can end one are wrapped
 * here, or say so by cuda_memory_ended. */
#include <string.h>

#include "preload/cuda_real.h"
#include "preload/passing.h"

/* CU_POINTER_ATTRIBUTE_BUFFER_ID, _RANGE_START_ADDR, _RANGE_SIZE, _MEMPOOL_HANDLE */
enum { ATTRIBUTE_BUFFER = 7, ATTRIBUTE_START = 11, ATTRIBUTE_BYTES = 12, ATTRIBUTE_POOL = 17 };

static _Atomic uint64_t ends = 1;   /* calls that may have ended an allocation */
static _Atomic bool may_end_unseen; /* for good: nothing is remembered */

void cuda_memory_ended(void)
{
	/* pairs with the acquire in cuda_find_buffer */
	atomic_fetch_add_explicit(&ends, 1, memory_order_release);
}

void cuda_memory_unknown_call(void)
{
	may_end_unseen = true;
	cuda_memory_ended();
}

/* Counted after the call: what another thread remembers before the driver has ended the allocation
 * is forgotten. */
#define ENDING(name, parameters, arguments)                                                        \
	int name parameters                                                                        \
	{                                                                                          \
		__typeof__(&(name)) real = CUDA_REAL(name);                                        \
		int err = real ? real arguments : DOOR_NOT_FOUND;                                  \
                                                                                                   \
		cuda_memory_ended();                                                               \
		return err;                                                                        \
	}
CUDA_MEMORY_DOORS(ENDING)

static bool ask(void *value, int attribute, cuda_address address)
{
	return cuda_inner.cuPointerGetAttribute &&
	       cuda_inner.cuPointerGetAttribute(value, attribute, address) == CUDA_OK;
}

/* Memory of a pool is not remembered: it ends when a stream comes to it, without a call. */
static void remember(struct memory_ranges *ranges, cuda_address address, uint64_t id)
{
	struct memory_range *at = &ranges->at[ranges->next];
	struct memory_range found = {.id = id};
	void *pool = NULL;

	if (may_end_unseen || !ask(&pool, ATTRIBUTE_POOL, address) || pool ||
	    !ask(&found.start, ATTRIBUTE_START, address) ||
	    !ask(&found.bytes, ATTRIBUTE_BYTES, address))
		return;
	*at = found;
	ranges->next = (ranges->next + 1) % MEMORY_RANGES;
}

bool cuda_find_buffer(struct virtual *v, cuda_address address, struct cuda_buffer *buffer)
{
	/* Before the driver is asked: what ends meanwhile is asked again the next time. */
	uint64_t now = atomic_load_explicit(&ends, memory_order_acquire);
	struct memory_ranges *ranges = &v->ranges;
	unsigned long long id = 0;

	if (ranges->ends != now)
		*ranges = (struct memory_ranges){.ends = now};
	for (uint32_t i = 0; i < MEMORY_RANGES; i++) {
		if (address - ranges->at[i].start >= ranges->at[i].bytes)
			continue;
		buffer->id = ranges->at[i].id;
		return true;
	}
	if (!ask(&id, ATTRIBUTE_BUFFER, address))
		return false;
	buffer->id = id;
	if (id)
		remember(ranges, address, id);
	return true;
}
