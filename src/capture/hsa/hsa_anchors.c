/* Measures anchors: the host clock and the runtime's system time by a narrow bracket, and a device
 * tick for that system time. */
#include "capture/hsa/hsa_anchors.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "capture/capture_session.h"
#include "capture/hsa/hsa_agents.h"
#include "capture/hsa/hsa_calls.h"

/* ROCr 6 and later; not in the headers of ROCr 5.2.3. */
#define AGENT_INFO_CLOCK_COUNTERS 0xA118
#define TICK_HZ_USUAL		  100000000u /* assumed if the runtime does not tell */
#define BRACKETS		  5
#define SEARCH_ROUNDS		  12
#define NEAR_ENOUGH_NS		  20000
/* The clocks may drift apart by 1 / 10,000, 100 ppm: more than NTP adjusts one of them by. */
#define DRIFT_PART		  10000

/* What AGENT_INFO_CLOCK_COUNTERS returns. */
struct clock_counters {
	uint64_t gpu;
	uint64_t cpu;
	uint64_t system;
	uint64_t system_hz;
};

/* The same moment on two clocks; host_ns is right to half of width_ns. */
struct bracket {
	uint64_t system_ns;
	uint64_t host_ns;
	uint64_t width_ns;
};

/* The best measurement of the offset so far, its uncertainty, and when it was made, host clock. */
static _Atomic uint64_t host_offset, host_doubt_ns, host_measured_ns;

uint64_t hsa_anchors_host_offset(void)
{
	return atomic_load_explicit(&host_offset, memory_order_relaxed);
}

uint64_t hsa_anchors_host_doubt_ns(uint64_t now_ns)
{
	uint64_t then_ns = atomic_load_explicit(&host_measured_ns, memory_order_relaxed);

	return atomic_load_explicit(&host_doubt_ns, memory_order_relaxed) +
	       (now_ns > then_ns ? now_ns - then_ns : 0) / DRIFT_PART;
}

/* Keeps the offset of BRACKET if it is not less certain than the present one, whose uncertainty
 * grows with drift. A thread that has lost its CPU between the two reads has a wide bracket. */
static void learn_offset(const struct bracket *bracket)
{
	uint64_t doubt_ns = bracket->width_ns / 2;

	if (atomic_load_explicit(&host_measured_ns, memory_order_relaxed) &&
	    doubt_ns > hsa_anchors_host_doubt_ns(bracket->host_ns))
		return;
	atomic_store_explicit(&host_offset, bracket->host_ns - bracket->system_ns,
			      memory_order_relaxed);
	atomic_store_explicit(&host_doubt_ns, doubt_ns, memory_order_relaxed);
	atomic_store_explicit(&host_measured_ns, bracket->host_ns, memory_order_relaxed);
}

/* Reads the system clock between two reads of the host clock, several times, and returns the
 * narrowest bracket. */
static bool bracket_read(struct bracket *ret_bracket)
{
	struct bracket best = {.width_ns = UINT64_MAX};

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t system = 0, before = session_now_ns(), after;

		if (hsa_next.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &system) !=
		    HSA_STATUS_SUCCESS)
			return false;
		after = session_now_ns();
		if (after - before < best.width_ns)
			best = (struct bracket){system, before + (after - before) / 2,
						after - before};
	}
	learn_offset(&best);
	*ret_bracket = best;
	return true;
}

static int64_t ns_to_ticks(int64_t ns, uint64_t hz)
{
	return (int64_t)((__int128)ns * (int64_t)hz / 1000000000);
}

static bool tick_to_system(hsa_agent_t agent, uint64_t tick, uint64_t *ret_ns)
{
	return hsa_next.hsa_amd_profiling_convert_tick_to_system_domain &&
	       hsa_next.hsa_amd_profiling_convert_tick_to_system_domain(agent, tick, ret_ns) ==
		       HSA_STATUS_SUCCESS;
}

/* Finds a tick of about now. The runtime converts ticks but does not tell the present one, so the
 * search starts from the last known tick and approaches it by conversions. The runtime extrapolates
 * for ticks far from its own last reading of the clocks, so a tick near the present time is
 * needed. */
static bool tick_find(struct hsa_agent_entry *agent, uint64_t now_system_ns, uint64_t *ret_tick,
		      uint64_t *ret_system_ns)
{
	uint64_t tick = agent->last_tick, system_ns;
	uint64_t hz = agent->tick_hz ? agent->tick_hz : TICK_HZ_USUAL;

	for (int i = 0; i < SEARCH_ROUNDS; i++) {
		int64_t off;

		if (!tick_to_system(agent->handle, tick, &system_ns))
			return false;
		off = (int64_t)(now_system_ns - system_ns);
		if (off > -NEAR_ENOUGH_NS && off < NEAR_ENOUGH_NS) {
			agent->last_tick = *ret_tick = tick;
			*ret_system_ns = system_ns;
			return true;
		}
		tick += (uint64_t)ns_to_ticks(off, hz);
	}
	return false;
}

/* Reads the tick and the system time together, which newer runtimes allow. */
static bool counters_read(const struct hsa_agent_entry *agent, uint64_t *ret_tick,
			  uint64_t *ret_system_ns)
{
	struct clock_counters counters = {0};

	if (hsa_next.hsa_agent_get_info(agent->handle, (hsa_agent_info_t)AGENT_INFO_CLOCK_COUNTERS,
					&counters) != HSA_STATUS_SUCCESS ||
	    !counters.gpu || !counters.system || !counters.system_hz)
		return false;
	*ret_tick = counters.gpu;
	*ret_system_ns =
		(uint64_t)((unsigned __int128)counters.system * 1000000000u / counters.system_hz);
	return true;
}

static void anchor_record(struct hsa_agent_entry *agent, const struct bracket *bracket)
{
	struct record_anchor anchor = {.uncertainty_ns = bracket->width_ns};

	if (!counters_read(agent, &anchor.tick, &anchor.system_ns) &&
	    !tick_find(agent, bracket->system_ns, &anchor.tick, &anchor.system_ns))
		return;
	anchor.host_ns = anchor.system_ns + (bracket->host_ns - bracket->system_ns);
	writer_put(session_writer(), RECORD_ANCHOR, agent->index, &anchor, sizeof(anchor));
}

void hsa_anchors_record(void)
{
	struct bracket bracket;
	uint32_t count;
	struct hsa_agent_entry *agents = hsa_agents_get(&count);

	if (!bracket_read(&bracket))
		return;
	for (uint32_t i = 0; i < count; i++) {
		if (agents[i].is_gpu)
			anchor_record(&agents[i], &bracket);
	}
}
