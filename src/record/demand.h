/* Computes how many chunks to keep ready: as many as writers take in half a second at the highest
 * rate of the last one to two seconds.
 *
 * So the housekeeper may get no CPU, or wait for the disk, for half a second, and no record is
 * dropped. Threading: the caller's lock; no system calls. All counts are chunks. */
#ifndef DAGTAP_RECORD_DEMAND_H
#define DAGTAP_RECORD_DEMAND_H

#include <stdint.h>

struct demand {
	uint64_t least; /* bounds of the result */
	uint64_t most;
	uint64_t peak;	       /* highest demand in the current second */
	uint64_t peak_before;  /* highest demand in the second before */
	uint64_t second_ns;    /* when the current second began */
	uint64_t looked_ns;    /* when the rate was last measured */
	uint64_t taken_then;   /* TAKEN at looked_ns */
	uint64_t taken_before; /* TAKEN at the last call */
};

/* LEAST and MOST bound the result; LEAST is lowered to MOST if it is larger. */
void demand_init(struct demand *demand, uint64_t least, uint64_t most, uint64_t now_ns);

/* Returns how many chunks should be ready. Call it every few ms. TAKEN: chunks that writers have
 * taken so far, in all. READY: chunks that are ready now. NOW_NS: CLOCK_MONOTONIC. */
uint64_t demand_chunks(struct demand *demand, uint64_t taken, uint64_t ready, uint64_t now_ns);

#endif
