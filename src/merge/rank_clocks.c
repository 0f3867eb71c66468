/* The clocks of many ranks on one (rank_clocks.h). */
#include "merge/rank_clocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "base/table.h"
#include "merge/clock_bounds.h"
#include "merge/clock_pieces.h"
#include "merge/clock_steady.h"

#define NO_CLOCK UINT32_MAX

/* A collective of a pair. */
struct match {
	const struct collective *own, *other;
};

/* Two clocks that were compared: OWN's times by OTHER's. */
struct pair {
	uint32_t own, other;
	struct clock_bounds bounds;
	struct match *matches; /* for clocks that do not run evenly */
	size_t match_count, match_room;
};

/* The state of a fit. */
struct fit {
	const struct clock_facts *facts;
	uint32_t clock_count;
	uint64_t wall_error_ns;
	struct pair *pairs;
	uint32_t pair_count;
	struct hash_map pair_index;
	int64_t (*shortest_ns)[2]; /* by clock: its shortest interval in each half */
	uint32_t reference;	   /* the hub of the largest communicator */
	uint32_t reference_size;   /* the number of clocks of that communicator */
	struct rank_clock *clocks;
	bool *is_reached, *is_done;
};

/* ---- matching ---- */

static int compare_collectives(const void *left, const void *right)
{
	const struct collective *a = left, *b = right;

	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->clock > b->clock) - (a->clock < b->clock);
}

/* Makes one row of the rows of one clock and operation: what is between the last begin and the
 * first end. Returns the number of rows that remain. */
static size_t unite_ranks(struct collective *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct collective *row = kept ? &rows[kept - 1] : NULL;

		if (!row || compare_collectives(row, &rows[i])) {
			rows[kept++] = rows[i];
			continue;
		}
		if (rows[i].begin_ns > row->begin_ns)
			row->begin_ns = rows[i].begin_ns;
		if (rows[i].end_ns < row->end_ns)
			row->end_ns = rows[i].end_ns;
		if (rows[i].error_ns > row->error_ns)
			row->error_ns = rows[i].error_ns;
	}
	return kept;
}

/* The number of rows at ROWS that are of one operation, of COUNT rows. */
static size_t operation_rows(const struct collective *rows, size_t count)
{
	size_t i = 1;

	while (i < count && rows[i].number == rows[0].number)
		i++;
	return i;
}

static size_t communicator_rows(const struct collective *rows, size_t count)
{
	size_t i = 1;

	while (i < count && rows[i].communicator == rows[0].communicator)
		i++;
	return i;
}

/* Notes the shortest interval of each clock in COUNT rows, of one half of a communicator. */
static void note_shortest(struct fit *fit, const struct collective *rows, size_t count, int half)
{
	for (size_t i = 0; i < count; i++) {
		int64_t *shortest = &fit->shortest_ns[rows[i].clock][half];

		if (rows[i].end_ns - rows[i].begin_ns < *shortest)
			*shortest = rows[i].end_ns - rows[i].begin_ns;
	}
}

/* How good CLOCK is as a hub, less is better: the longer one of its shortest intervals in the two
 * halves, because the offset and the drift both need short intervals. */
static int64_t hub_score(const struct fit *fit, uint32_t clock)
{
	const int64_t *shortest = fit->shortest_ns[clock];

	return shortest[0] > shortest[1] ? shortest[0] : shortest[1];
}

/* Chooses the clock of a communicator that the others are compared with, and counts its clocks. */
static uint32_t choose_hub(struct fit *fit, const struct collective *rows, size_t count,
			   uint32_t *ret_size)
{
	uint32_t hub = NO_CLOCK, size = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t *shortest = fit->shortest_ns[rows[i].clock];

		shortest[0] = shortest[1] = INT64_MAX;
	}
	for (size_t i = 0, n; i < count; i += n) {
		n = operation_rows(rows + i, count - i);
		if (n > 1)
			note_shortest(fit, rows + i, n, i >= count / 2);
		if (n > size)
			size = (uint32_t)n;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t clock = rows[i].clock;
		int64_t score = hub_score(fit, clock);

		if (hub == NO_CLOCK || score < hub_score(fit, hub) ||
		    (score == hub_score(fit, hub) && clock < hub))
			hub = clock;
	}
	*ret_size = size;
	return hub;
}

/* The pair of two clocks, which is made if there is none. NULL: out of memory. */
static struct pair *pair_of(struct fit *fit, uint32_t own, uint32_t other)
{
	uint64_t hash = (((uint64_t)own << 32) + other) * 0x9e3779b97f4a7c15ull;
	struct hash_probe probe;
	struct pair *pair;

	if (hash_map_reserve(&fit->pair_index) < 0)
		return NULL;
	probe = hash_map_probe(&fit->pair_index, hash);
	while (hash_map_next(&fit->pair_index, &probe)) {
		pair = &fit->pairs[probe.row];
		if (pair->own == own && pair->other == other)
			return pair;
	}
	pair = table_add((void **)&fit->pairs, &fit->pair_count, sizeof(*pair));
	if (!pair)
		return NULL;
	*pair = (struct pair){.own = own, .other = other};
	hash_map_put(&fit->pair_index, &probe, fit->pair_count - 1);
	return pair;
}

/* The times of the collective that OWN and OTHER have in common. */
static struct clock_match times_of(const struct collective *own, const struct collective *other)
{
	return (struct clock_match){
		{own->begin_ns, own->end_ns},
		{other->begin_ns, other->end_ns},
		(int64_t)own->error_ns + other->error_ns,
	};
}

static int add_match(struct pair *pair, const struct collective *own,
		     const struct collective *other)
{
	const struct clock_match times = times_of(own, other);

	if (table_reserve((void **)&pair->matches, &pair->match_room, pair->match_count + 1ull,
			  sizeof(*pair->matches)) < 0)
		return -ENOMEM;
	pair->matches[pair->match_count++] = (struct match){own, other};
	return clock_bounds_add(&pair->bounds, times.own, times.other, times.error_ns);
}

/* Compares HUB with the other clocks of one operation. */
static int add_operation(struct fit *fit, const struct collective *rows, size_t count, uint32_t hub)
{
	const struct collective *other = NULL;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].clock == hub)
			other = &rows[i];
	}
	for (size_t i = 0; i < count && other; i++) {
		const struct collective *own = &rows[i];
		struct pair *pair;

		if (own == other)
			continue;
		pair = pair_of(fit, own->clock, hub);
		if (!pair || add_match(pair, own, other) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_communicator(struct fit *fit, const struct collective *rows, size_t count)
{
	uint32_t size, hub = choose_hub(fit, rows, count, &size);
	int err = 0;

	if (size < 2)
		return 0;
	if (size > fit->reference_size) {
		fit->reference = hub;
		fit->reference_size = size;
	}
	for (size_t i = 0, n; i < count && err == 0; i += n) {
		n = operation_rows(rows + i, count - i);
		err = add_operation(fit, rows + i, n, hub);
	}
	return err;
}

static int make_pairs(struct fit *fit, struct collective *rows, size_t count)
{
	int err = 0;

	if (count)
		qsort(rows, count, sizeof(*rows), compare_collectives);
	count = unite_ranks(rows, count);
	for (size_t i = 0, n; i < count && err == 0; i += n) {
		n = communicator_rows(rows + i, count - i);
		err = add_communicator(fit, rows + i, n);
	}
	return err;
}

/* ---- reaching clocks ---- */

/* Follows the line STEP, from a clock to PARENT, by PARENT's line to the reference. STEP becomes
 * the way. */
static void extend_line(struct rank_clock *step, const struct rank_clock *parent)
{
	int64_t at_ns = step->base_ns + step->offset_ns;
	__int128 both = (__int128)step->drift * parent->drift / RANK_CLOCK_PARTS;

	for (int i = 0; i < RANK_CLOCK_KNOTS; i++) {
		int64_t mapped = rank_clock_map(step, rank_clock_knot(step, i));

		step->uncertainty_ns[i] = clock_pieces_sum(step->uncertainty_ns[i],
							   rank_clock_uncertainty(parent, mapped));
	}
	step->offset_ns += rank_clock_map(parent, at_ns) - at_ns;
	step->drift += parent->drift + (int64_t)both;
	step->spread += parent->spread + step->spread / 1000 + parent->spread / 1000 + 1;
	step->uneven_ns = rank_clock_sum(step->uneven_ns, parent->uneven_ns);
	if (parent->source != RANK_CLOCK_REFERENCE && parent->matched < step->matched)
		step->matched = parent->matched;
	step->source = parent->source == RANK_CLOCK_WALL ? RANK_CLOCK_WALL : RANK_CLOCK_COLLECTIVES;
}

/* The same with the pieces of both. */
static void extend(struct rank_clock *step, const struct rank_clock *parent)
{
	struct rank_clock way = *step, line = *parent;

	way.joint_count = 0;
	line.joint_count = 0;
	extend_line(&way, &line);
	clock_pieces_follow(step, parent, &way);
	*step = way;
}

static struct steady_side side_of(const struct fit *fit, uint32_t clock)
{
	const struct clock_facts *facts = &fit->facts[clock];

	return (struct steady_side){facts->steady, facts->first_ns, facts->last_ns};
}

/* Fits the clock of PAIR, or that of the other one if IS_MIRRORED, which does not run evenly. */
static int fit_pieces(const struct fit *fit, const struct pair *pair, bool is_mirrored,
		      struct rank_clock *way)
{
	struct clock_match *matches = table_alloc(pair->match_count, sizeof(*matches));
	struct steady_side own = side_of(fit, is_mirrored ? pair->other : pair->own);
	struct steady_side other = side_of(fit, is_mirrored ? pair->own : pair->other);
	int err;

	if (!matches)
		return -ENOMEM;
	for (size_t i = 0; i < pair->match_count; i++) {
		const struct match *match = &pair->matches[i];

		matches[i] = is_mirrored ? times_of(match->other, match->own)
					 : times_of(match->own, match->other);
	}
	err = clock_pieces_fit(matches, pair->match_count, way);
	if (err == 0)
		err = clock_steady_follow(matches, pair->match_count, &own, &other, way);
	free(matches);
	return err;
}

/* Tries the way over PAIR to its own clock, whose parent is the other one, or the other way round
 * if IS_MIRRORED. BOUNDS: of the clock's times by the parent's. */
static int try_step(struct fit *fit, const struct pair *pair, bool is_mirrored,
		    const struct clock_bounds *bounds)
{
	uint32_t clock = is_mirrored ? pair->other : pair->own;
	uint32_t parent = is_mirrored ? pair->own : pair->other;
	const struct clock_facts *facts = &fit->facts[clock];
	struct rank_clock way = {0};

	clock_bounds_fit(bounds, facts->first_ns, facts->last_ns, &way);
	if (!rank_clock_is_possible(&way))
		return 0;
	if (way.uneven_ns && fit_pieces(fit, pair, is_mirrored, &way) < 0)
		return -ENOMEM;
	extend(&way, &fit->clocks[parent]);
	if (!rank_clock_is_possible(&way) ||
	    (fit->is_reached[clock] &&
	     rank_clock_worst(&way) >= rank_clock_worst(&fit->clocks[clock])))
		return 0;
	fit->clocks[clock] = way;
	fit->is_reached[clock] = true;
	return 0;
}

/* Tries the ways through PARENT, whose own way is final, to the clocks that have none yet. */
static int try_pairs(struct fit *fit, uint32_t parent)
{
	int err = 0;

	for (uint32_t i = 0; i < fit->pair_count && err == 0; i++) {
		const struct pair *pair = &fit->pairs[i];
		struct clock_bounds mirrored = {0};

		if (pair->other == parent && !fit->is_done[pair->own]) {
			err = try_step(fit, pair, false, &pair->bounds);
		} else if (pair->own == parent && !fit->is_done[pair->other]) {
			err = clock_bounds_mirror(&mirrored, &pair->bounds);
			if (err == 0)
				err = try_step(fit, pair, true, &mirrored);
			clock_bounds_release(&mirrored);
		}
	}
	return err;
}

/* The reached clock with the least uncertainty whose way is not final yet, or NO_CLOCK. */
static uint32_t next_clock(const struct fit *fit)
{
	uint32_t best = NO_CLOCK;

	for (uint32_t i = 0; i < fit->clock_count; i++) {
		if (fit->is_reached[i] && !fit->is_done[i] &&
		    (best == NO_CLOCK ||
		     rank_clock_worst(&fit->clocks[i]) < rank_clock_worst(&fit->clocks[best])))
			best = i;
	}
	return best;
}

/* Joins the first clock that is not reached by its wall clock. Returns false if all are. */
static bool join_by_wall(struct fit *fit)
{
	const struct clock_facts *reference = &fit->facts[fit->reference], *facts;
	uint64_t error_ns = rank_clock_sum(fit->wall_error_ns, fit->wall_error_ns);
	uint32_t clock = 0;
	int64_t offset_ns;

	while (clock < fit->clock_count && fit->is_reached[clock])
		clock++;
	if (clock == fit->clock_count)
		return false;
	facts = &fit->facts[clock];
	offset_ns = facts->wall_ns - reference->wall_ns;
	if (!facts->has_wall || !reference->has_wall || offset_ns > RANK_CLOCK_TIME_MOST ||
	    offset_ns < -RANK_CLOCK_TIME_MOST) {
		error_ns = INT64_MAX;
		offset_ns = reference->first_ns - facts->first_ns;
	}
	fit->clocks[clock] = (struct rank_clock){
		.source = RANK_CLOCK_WALL,
		.base_ns = facts->first_ns,
		.offset_ns = offset_ns,
		.first_ns = facts->first_ns,
		.last_ns = facts->last_ns,
	};
	for (int i = 0; i < RANK_CLOCK_KNOTS; i++)
		fit->clocks[clock].uncertainty_ns[i] = error_ns;
	fit->is_reached[clock] = true;
	return true;
}

static int reach_clocks(struct fit *fit)
{
	const struct clock_facts *facts = &fit->facts[fit->reference];
	int err = 0;

	fit->clocks[fit->reference] = (struct rank_clock){
		.source = RANK_CLOCK_REFERENCE,
		.base_ns = facts->first_ns,
		.first_ns = facts->first_ns,
		.last_ns = facts->last_ns,
	};
	fit->is_reached[fit->reference] = true;
	while (err == 0) {
		uint32_t clock = next_clock(fit);

		if (clock == NO_CLOCK && !join_by_wall(fit))
			return 0;
		if (clock == NO_CLOCK)
			continue;
		fit->is_done[clock] = true;
		err = try_pairs(fit, clock);
	}
	return err;
}

static void fit_release(struct fit *fit)
{
	for (uint32_t i = 0; i < fit->pair_count; i++) {
		clock_bounds_release(&fit->pairs[i].bounds);
		free(fit->pairs[i].matches);
	}
	free(fit->pairs);
	hash_map_release(&fit->pair_index);
	free(fit->shortest_ns);
	free(fit->is_reached);
	free(fit->is_done);
}

int rank_clocks_fit(struct collective *rows, size_t count, const struct clock_facts *facts,
		    uint32_t clock_count, uint64_t wall_error_ns, struct rank_clock *ret_clocks)
{
	struct fit fit = {
		.facts = facts,
		.clock_count = clock_count,
		.wall_error_ns = wall_error_ns,
		.shortest_ns = calloc(clock_count, sizeof(*fit.shortest_ns)),
		.is_reached = calloc(clock_count, sizeof(*fit.is_reached)),
		.is_done = calloc(clock_count, sizeof(*fit.is_done)),
		.clocks = ret_clocks,
	};
	int err = -ENOMEM;

	if (fit.shortest_ns && fit.is_reached && fit.is_done)
		err = make_pairs(&fit, rows, count);
	if (err == 0)
		err = reach_clocks(&fit);
	fit_release(&fit);
	return err;
}
