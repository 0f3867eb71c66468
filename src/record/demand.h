/* How many chunks to keep ready: what lasts for half a second at the rate at which they were taken of late.
 *
 * So long the housekeeping thread may get no CPU, or wait for the disk, and nothing is lost. A burst counts for
 * one to two seconds; then the number falls back. */
#ifndef DAGTAP_RECORD_DEMAND_H
#define DAGTAP_RECORD_DEMAND_H

#include <stdint.h>

struct demand {
	uint64_t least; /* chunks, whatever the rate */
	uint64_t most;
	uint64_t peak;	      /* of this second */
	uint64_t peak_before; /* of the one before */
	uint64_t second_ns;   /* when this second began */
	uint64_t looked_ns;
	uint64_t taken_then;   /* when we looked */
	uint64_t taken_before; /* at the last call */
};

void demand_init(struct demand *demand, uint64_t least, uint64_t most, uint64_t now_ns);

/* To be called every few ms. TAKEN: chunks in all, so far; READY: how many are left to be taken. */
uint64_t demand_chunks(struct demand *demand, uint64_t taken, uint64_t ready, uint64_t now_ns);

#endif
