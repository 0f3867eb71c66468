/* Barrier packets (processor.h): a packet processor waits until what they depend on holds. */
#include <hsa/hsa_ext_amd.h>

#include "base/clock.h"
#include "softgpu/counters.h"
#include "softgpu/device_clock.h"
#include "softgpu/processor.h"
#include "softgpu/signal.h"
#include "softgpu/signal_block.h"
#include "softgpu/signal_epoch.h"

#define MAX_DEPENDENCIES   5
/* The interval for polling dependencies: the value of a memory signal may change without a
 * wake-up. */
#define DEPENDENCY_LOOK_NS 1000000u

struct dependency {
	hsa_signal_t signal; /* holds a reference */
	hsa_signal_condition_t condition;
	hsa_signal_value_t mask;
	hsa_signal_value_t compare;
};

struct dependencies {
	struct dependency all[MAX_DEPENDENCIES];
	uint32_t count;
	bool any_is_enough; /* a barrier-OR packet */
};

static bool dependency_holds(const struct dependency *dependency)
{
	hsa_signal_value_t value = signal_value(dependency->signal) & dependency->mask;

	return signal_condition_holds(dependency->condition, value, dependency->compare);
}

static bool dependencies_hold(const struct dependencies *wanted)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < wanted->count; i++)
		held += dependency_holds(&wanted->all[i]);
	return wanted->any_is_enough && wanted->count ? held > 0 : held == wanted->count;
}

static void wait_for_epoch(struct processor *processor, uint32_t seen)
{
	const struct flight *flight = processor_next_to_end(processor);
	uint64_t now = clock_host_ns();
	uint64_t until = now + DEPENDENCY_LOOK_NS;

	if (flight && now >= clock_spin_from(flight->end_ns)) {
		clock_relax();
		return;
	}
	if (flight && clock_spin_from(flight->end_ns) < until)
		until = clock_spin_from(flight->end_ns);
	signal_epoch_wait(seen, clock_wake_ns(until));
}

/* As wait_for_dependencies, with a schedule. The completion of the barrier packet needs a turn too.
 * Returns true when the thread has that turn, which the caller ends; false when the queue is being
 * stopped. */
static bool wait_for_barrier_turn(struct processor *processor, const struct dependencies *wanted)
{
	for (bool is_blocked = false;;) {
		uint32_t seen = signal_epoch(), count = processor->flight_count;
		bool holds = dependencies_hold(wanted);
		int which;

		if (processor_must_end(processor))
			return false;
		if (!holds && !is_blocked)
			softgpu_count(barriers_blocked, 1);
		is_blocked |= !holds;
		which = schedule_wait(&processor->party, seen, count + holds, true);
		if (which == (int)count)
			return true;
		if (which >= 0)
			processor_run_turn(processor, (uint32_t)which);
	}
}

/* Waits until the dependencies of a barrier packet hold or the queue is being stopped. Earlier
 * packets complete meanwhile. Later ones are not taken: a barrier packet blocks its queue until it
 * has completed. */
static void wait_for_dependencies(struct processor *processor, const struct dependencies *wanted)
{
	for (bool is_blocked = false;; is_blocked = true) {
		uint32_t seen = signal_epoch();

		processor_retire_due(processor);
		if (processor_must_end(processor) || dependencies_hold(wanted))
			return;
		if (!is_blocked)
			softgpu_count(barriers_blocked, 1);
		wait_for_epoch(processor, seen);
	}
}

static void add_dependency(struct dependencies *wanted, const struct dependency *dependency)
{
	if (dependency->signal.handle && signal_retain(dependency->signal))
		wanted->all[wanted->count++] = *dependency;
}

static void read_barrier(const union packet *packet, struct dependencies *ret_wanted)
{
	for (int i = 0; i < MAX_DEPENDENCIES; i++) {
		struct dependency dependency = {packet->barrier.dep_signal[i],
						HSA_SIGNAL_CONDITION_EQ, -1, 0};

		add_dependency(ret_wanted, &dependency);
	}
}

static void read_vendor(const union packet *packet, struct dependencies *ret_wanted)
{
	const hsa_amd_barrier_value_packet_t *value = &packet->barrier_value;
	struct dependency dependency = {value->signal, value->cond, value->mask, value->value};

	if (value->header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
		add_dependency(ret_wanted, &dependency);
}

void processor_run_barrier(struct processor *processor, const union packet *packet,
			   struct flight *flight)
{
	uint8_t type = (uint8_t)(packet->header >> HSA_PACKET_HEADER_TYPE);
	struct dependencies wanted = {.any_is_enough = type == HSA_PACKET_TYPE_BARRIER_OR};
	bool has_turn = false;

	if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC)
		read_vendor(packet, &wanted);
	else if (type != HSA_PACKET_TYPE_AGENT_DISPATCH)
		read_barrier(packet, &wanted);
	if (schedule_is_on())
		has_turn = wait_for_barrier_turn(processor, &wanted);
	else
		wait_for_dependencies(processor, &wanted);
	for (uint32_t i = 0; i < wanted.count; i++)
		signal_release(wanted.all[i].signal);
	flight->end_ns = clock_host_ns();
	if (!processor_must_end(processor))
		processor_complete(processor, flight);
	else
		signal_release(flight->completion);
	if (has_turn)
		schedule_turn_ends(&processor->party);
}
