/* Which real is launched, when another one is made, and when it is better to pass through.
 *
 * All is reckoned in calls that set a node in the driver. What else costs, in such calls, is
 * stated, or measured on the way (virtual_cost.c). */
#include <stdlib.h>
#include <string.h>

#include "preload/virtual.h"

enum {
	MAKING_NODE = 4,   /* calls that making an executable costs for each node, besides */
	BACK_SHARE = 8,	   /* while learning, one of so many calls has to come back */
	NODE_BYTES = 8192, /* of memory, of one real */
	MISSED = 1024,	   /* slots for sets that no real had; a power of two */
	WINDOW = 256,	   /* launches with noted calls after which gain and costs are compared */
	LEARNING = 12,	   /* windows in which it need not gain yet, if sets come back */
	LEAN = 3,	   /* windows without a gain in a row, where costs are measured */
	STALE_ROUNDS = 4,  /* a real is kept for so many launches for each real that there may be */
};

/* A set that no real had. */
struct missed {
	uint64_t hash;
	uint64_t calls; /* that a real of its own would have saved */
};

/* Sets mostly come in the order in which they came before. */
bool virtual_find_real(const struct virtual *v, uint32_t *ret_real)
{
	const uint32_t guesses[] = {v->last, v->reals[v->last].next};

	for (uint32_t i = 0; i < sizeof(guesses) / sizeof(*guesses); i++) {
		if (!real_has_wanted(v, &v->reals[guesses[i]]))
			continue;
		*ret_real = guesses[i];
		return true;
	}
	for (uint32_t i = 0; i < v->real_count; i++) {
		if (!real_has_wanted(v, &v->reals[i]))
			continue;
		*ret_real = i;
		return true;
	}
	return false;
}

/* ---- misses ---- */

static uint64_t cost_of_making(const struct virtual *v)
{
	if (virtual_limits.are_measured && v->costs.making.count > 0)
		return v->costs.making_calls;
	return virtual_limits.making_calls
		       ? virtual_limits.making_calls + (uint64_t)MAKING_NODE * v->node_count
		       : 1;
}

static uint32_t distance(const struct virtual *v, const struct real *real)
{
	uint32_t differing = 0;

	for (uint32_t i = 0; i < v->moving_count; i++)
		differing += real->have[i] != v->wanted[i];
	return differing;
}

/* Whether the real's set has come back lately, so that it would have to be set again. */
static bool is_kept(const struct virtual *v, const struct real *real)
{
	return real->found &&
	       v->launch_count - real->found < (uint64_t)STALE_ROUNDS * virtual_limits.reals;
}

/* The real that needs the fewest calls; those that give back its own set later count, too. */
static uint32_t nearest(const struct virtual *v, uint32_t *ret_calls)
{
	uint32_t best = 0, least = UINT32_MAX;

	for (uint32_t i = 0; i < v->real_count; i++) {
		const struct real *real = &v->reals[i];
		uint32_t calls = distance(v, real);
		uint32_t cost = is_kept(v, real) ? 2 * calls : calls;

		if (cost >= least)
			continue;
		best = i;
		least = cost;
		*ret_calls = calls;
	}
	return best;
}

/* The real that has rested longest, if it is not kept any more. 0: none. */
static uint32_t stalest(const struct virtual *v)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < v->real_count; i++)
		if (!is_kept(v, &v->reals[i]) &&
		    (best == 0 || v->reals[i].launched < v->reals[best].launched))
			best = i;
	return best;
}

/* Notes that no real has the wanted set, which costs CALLS. Returns what this set has cost so far
 * because it had no real. */
static uint64_t note_missed(struct virtual *v, uint32_t calls)
{
	struct missed *slot;

	if (!v->missed)
		v->missed = calloc(MISSED, sizeof(*v->missed));
	if (!v->missed)
		return 0;
	slot = &v->missed[(v->wanted_hash >> 32) & (MISSED - 1)];
	if (slot->hash == v->wanted_hash) {
		v->came_back += v->new_sets;
		slot->calls += calls;
	} else {
		*slot = (struct missed){v->wanted_hash, calls};
	}
	return slot->calls;
}

/* Makes another real with the wanted set. False: it could not be made; then no more are. */
static bool make_real(struct virtual *v, uint32_t *ret_real)
{
	struct real *real = &v->reals[v->real_count];
	uintptr_t before = vendor_enter(v->vendor, v->device);
	uint64_t begin = preload_time_begin(), sample = cost_begin(&v->costs.making);
	int mode = vendor_relax(v->vendor);
	int err = -1;

	*real = (struct real){.have = calloc(v->moving_capacity, sizeof(*real->have))};
	if (real->have)
		err = v->vendor->instantiate(&real->handle, v->clone, v->flags);
	cost_end(&v->costs.making, sample);
	preload_time_end(begin, &preload_stats.times.instantiate);
	if (err == 0) {
		err = real_settle(v, real);
		if (err != 0 && v->vendor->exec_destroy(real->handle) != 0)
			PRELOAD_COUNT(failures);
	}
	if (err != 0)
		virtual_inner_failed(v);
	vendor_unrelax(v->vendor, mode);
	vendor_leave(v->vendor, before);
	if (err != 0) {
		free(real->have);
		v->is_full = true;
		return false;
	}
	PRELOAD_COUNT(instantiated);
	*ret_real = v->real_count++;
	return true;
}

/* A real is made for a set that has cost as much before. A few are also made when sets that do not
 * come back have, because the next ones may be near to one of several: as long as that gains. */
static bool is_worth_making(const struct virtual *v, uint64_t calls)
{
	uint64_t cost = cost_of_making(v);

	if (v->is_full || v->real_count >= virtual_limits.reals ||
	    v->image_bytes + (uint64_t)v->real_count * v->node_count * NODE_BYTES >
		    virtual_limits.bytes)
		return false;
	return calls >= cost || (v->missed_calls >= cost && v->real_count < v->most_by_chance);
}

static uint32_t choose_missed(struct virtual *v)
{
	uint32_t calls = 0, chosen = nearest(v, &calls), made;
	uint64_t all_calls = note_missed(v, calls + v->tried);

	v->missed_calls += calls;
	if (is_worth_making(v, all_calls) && make_real(v, &made)) {
		v->missed_calls = 0;
		return made;
	}
	if (all_calls >= cost_of_making(v) && stalest(v))
		return stalest(v);
	return chosen;
}

uint32_t virtual_choose(struct virtual *v)
{
	uint32_t chosen;

	if (v->is_passing)
		return 0;
	v->window += v->new_sets > 0;
	if (!virtual_find_real(v, &chosen)) {
		PRELOAD_COUNT(changed);
		return choose_missed(v);
	}
	if (v->tried > 0) {
		/* It has the set because new images were tried on it. */
		note_missed(v, v->tried);
	} else if (chosen != v->last) {
		PRELOAD_COUNT(found);
		v->reals[chosen].found = v->launch_count + 1;
		v->came_back += v->new_sets;
	}
	if (chosen != v->last)
		PRELOAD_COUNT(changed);
	return chosen;
}

/* ---- passing through ---- */

void virtual_look_back(struct virtual *v)
{
	uint64_t cost;
	bool gains, may_gain;

	if (v->window < WINDOW)
		return;
	virtual_reckon(v);
	cost = v->applied +
	       (v->noted * v->costs.note_percent + v->switches * v->costs.switch_percent) / 100;
	gains = v->noted > cost;
	v->lean = gains ? 0 : v->lean + 1;
	may_gain = v->windows < LEARNING && v->came_back * BACK_SHARE >= v->noted;
	/* A measured window may have been disturbed. */
	if (virtual_limits.are_measured && v->lean < LEAN)
		may_gain |= v->windows >= v->lean || v->came_back * BACK_SHARE >= v->noted;
	if (!gains && !may_gain &&
	    virtual_dissolve(v, &preload_stats.pass_rare, "GraphLaunch") != 0)
		PRELOAD_COUNT(failures);
	if (gains)
		v->most_by_chance = 2 * v->real_count;
	v->windows++;
	v->window = 0;
	v->noted = v->applied = v->switches = v->came_back = 0;
}
