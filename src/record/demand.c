/* The rate at which writers take chunks, and what it asks for. */
#include "record/demand.h"

#define LAST_NS	  500000000u /* the ready chunks should last for half a second */
#define LOOK_NS	  50000000u  /* shorter times mistake a few starting threads for a high rate */
#define SECOND_NS 1000000000u

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void demand_init(struct demand *demand, uint64_t least, uint64_t most, uint64_t now_ns)
{
	*demand = (struct demand){
		.least = least < most ? least : most,
		.most = most,
		.second_ns = now_ns,
		.looked_ns = now_ns,
	};
}

static uint64_t chunks_now(const struct demand *demand)
{
	uint64_t chunks = larger(demand->least, larger(demand->peak, demand->peak_before));

	return chunks < demand->most ? chunks : demand->most;
}

uint64_t demand_chunks(struct demand *demand, uint64_t taken, uint64_t ready, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - demand->looked_ns;

	if (now_ns - demand->second_ns >= SECOND_NS) {
		demand->peak_before = demand->peak;
		demand->peak = 0;
		demand->second_ns = now_ns;
	}
	if (elapsed_ns >= LOOK_NS) {
		demand->peak =
			larger(demand->peak, (taken - demand->taken_then) * LAST_NS / elapsed_ns);
		demand->taken_then = taken;
		demand->looked_ns = now_ns;
	}
	/* The rate grows faster than it is measured: more chunks were taken since the
	 * last call than are left. */
	if (taken - demand->taken_before > ready)
		demand->peak = larger(demand->peak, chunks_now(demand) * 2);
	demand->taken_before = taken;
	return chunks_now(demand);
}
