/* CUPTI's ids of graph nodes, remembered by handle: programs update the same nodes before each
 * launch, and asking CUPTI for an id costs as much as half of an update (H100, CUDA 13.0).
 *
 * Threading: any thread, without a lock. Two threads that use the same entry at the same time ask
 * CUPTI. */
#ifndef DAGTAP_CAPTURE_CUDA_NODE_IDS_H
#define DAGTAP_CAPTURE_CUDA_NODE_IDS_H

#include <stdint.h>

/* Returns CUPTI's id of NODE; 0: NODE is NULL, or CUPTI did not tell. A failure is noted. */
uint64_t cuda_node_id(void *node);

/* The same for a node that is likely to be updated again: its id is remembered. */
uint64_t cuda_node_id_kept(void *node);

/* Forgets all ids, since handles are used again. Called whenever a node is made, moved or
 * destroyed, and when a recording begins. */
void cuda_node_ids_forget(void);

#endif
