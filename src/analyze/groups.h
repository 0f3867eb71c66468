/* Numbers 64-bit keys 0, 1, 2 ... in the order of first appearance (a hash map). Not
 * thread-safe. */
#ifndef DAGTAP_ANALYZE_GROUPS_H
#define DAGTAP_ANALYZE_GROUPS_H

#include <stdint.h>

#define GROUPS_FAILED UINT32_MAX

struct groups {
	uint64_t *keys; /* by number */
	uint32_t count;
	uint32_t *slots; /* hash table: number + 1, 0 = free */
	uint32_t slot_count;
};

/* Returns the number of KEY; a new key gets the next number. GROUPS starts zeroed. GROUPS_FAILED:
 * out of memory. */
uint32_t groups_number(struct groups *groups, uint64_t key);
void groups_release(struct groups *groups);

#endif
