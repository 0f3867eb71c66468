/* What notes, sets and launches cost where the program runs. A part of the calls is measured, at
 * places that only the number of calls decides. What the samples say is taken over once a window of
 * launches (virtual_choose.c). */
#include "preload/virtual.h"

enum {
	ENOUGH = 16, /* samples, before they count */
	OUTLIER = 8, /* times the median; a larger sample counts as so much */
	PART = 8,    /* one of so many calls is measured */
	PERCENT = 100,
};

/* A sequence of numbers without a short period, as calls of one kind come in periods. */
static bool is_due(struct cost *cost)
{
	cost->turn = cost->turn * 1664525u + 1013904223u;
	return cost->count < COST_SAMPLES || cost->turn >> 16 < 65536 / PART;
}

uint64_t cost_begin(struct cost *cost)
{
	return virtual_limits.are_measured && is_due(cost) ? preload_now_ns() : 0;
}

void cost_end(struct cost *cost, uint64_t begin)
{
	uint64_t ns;

	if (begin == 0)
		return;
	ns = preload_now_ns() - begin;
	cost->ns[cost->count++ % COST_SAMPLES] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	/* Stays a number of samples that is complete. */
	if (cost->count == 2 * COST_SAMPLES)
		cost->count = COST_SAMPLES;
}

/* The mean, as calls of several kinds may be measured; an interrupted call counts little. */
uint64_t cost_typical(const struct cost *cost)
{
	uint32_t count = cost->count < COST_SAMPLES ? cost->count : COST_SAMPLES;
	uint32_t sorted[COST_SAMPLES];
	uint64_t sum = 0, most;

	if (count == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i;

		for (; at > 0 && sorted[at - 1] > cost->ns[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = cost->ns[i];
	}
	most = (uint64_t)OUTLIER * sorted[count / 2];
	for (uint32_t i = 0; i < count; i++)
		sum += sorted[i] < most ? sorted[i] : most;
	return sum / count;
}

void virtual_reckon(struct virtual *v)
{
	struct virtual_costs *costs = &v->costs;
	uint64_t set = cost_typical(&costs->set), same, other;

	if (costs->set.count < ENOUGH || set == 0)
		return;
	if (costs->note.count >= ENOUGH)
		costs->note_percent = PERCENT * cost_typical(&costs->note) / set;
	if (costs->making.count > 0)
		costs->making_calls =
			1 + (cost_typical(&costs->making) + cost_typical(&costs->first)) / set;
	if (costs->same.count < ENOUGH || costs->other.count < ENOUGH)
		return;
	same = cost_typical(&costs->same);
	other = cost_typical(&costs->other);
	costs->switch_percent = other > same ? PERCENT * (other - same) / set : 0;
}

uint64_t virtual_note_begin(struct virtual *v)
{
	v->costs.applied = v->applied;
	return cost_begin(&v->costs.note);
}

void virtual_note_end(struct virtual *v, uint64_t begin)
{
	if (v->costs.applied == v->applied)
		cost_end(&v->costs.note, begin);
}
