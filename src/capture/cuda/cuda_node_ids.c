/* CUPTI's ids of graph nodes, remembered by handle; see cuda_node_ids.h. */
#include "capture/cuda/cuda_node_ids.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "capture/cuda/cupti.h"

enum { ENTRIES = 1 << 11 };

/* What a node had as its id in the period that its entry names. A version is odd while its entry is
 * written. */
static struct entry {
	_Atomic uint32_t version;
	_Atomic uint32_t period;
	_Atomic uint64_t node, id;
} entries[ENTRIES];

/* Periods end when ids are forgotten. 0 is that of entries without an id. */
static _Atomic uint32_t period = 1;

static struct entry *entry_of(uint64_t node)
{
	return &entries[(node * 0x9e3779b97f4a7c15u) >> 53];
}

_Static_assert(ENTRIES == 1 << (64 - 53), "the hash has as many bits");

/* The acquire loads keep the second load of the version behind those of the fields. */
static bool find(struct entry *entry, uint64_t node, uint32_t now, uint64_t *ret_id)
{
	uint32_t version = atomic_load_explicit(&entry->version, memory_order_acquire);
	uint64_t there = atomic_load_explicit(&entry->node, memory_order_acquire);
	uint32_t of = atomic_load_explicit(&entry->period, memory_order_acquire);

	*ret_id = atomic_load_explicit(&entry->id, memory_order_acquire);
	return version % 2 == 0 && there == node && of == now &&
	       atomic_load_explicit(&entry->version, memory_order_relaxed) == version;
}

/* The release stores keep the fields behind the odd version. */
static void keep(struct entry *entry, uint64_t node, uint32_t now, uint64_t id)
{
	uint32_t version = atomic_load_explicit(&entry->version, memory_order_relaxed);

	if (version % 2 || !atomic_compare_exchange_strong(&entry->version, &version, version + 1))
		return;
	atomic_store_explicit(&entry->node, node, memory_order_release);
	atomic_store_explicit(&entry->period, now, memory_order_release);
	atomic_store_explicit(&entry->id, id, memory_order_release);
	atomic_store_explicit(&entry->version, version + 2, memory_order_release);
}

uint64_t cuda_node_id(void *node)
{
	uint64_t id = 0;
	uint32_t result = node ? cupti.get_node_id(node, &id) : CUPTI_OK;

	cupti_note(CUPTI_FAILURE_GRAPH_IDS, result);
	return result == CUPTI_OK ? id : 0;
}

/* The period is read before CUPTI is asked: an id that is forgotten meanwhile is not found. */
uint64_t cuda_node_id_kept(void *node)
{
	uint32_t now = atomic_load_explicit(&period, memory_order_acquire);
	struct entry *entry = entry_of((uintptr_t)node);
	uint64_t id;

	if (find(entry, (uintptr_t)node, now, &id))
		return id;
	id = cuda_node_id(node);
	if (id)
		keep(entry, (uintptr_t)node, now, id);
	return id;
}

void cuda_node_ids_forget(void)
{
	uint32_t next = atomic_fetch_add_explicit(&period, 1, memory_order_release) + 1;

	if (!next)
		atomic_store_explicit(&period, 1, memory_order_release);
}
