/* Fitting a clock in pieces (clock_pieces.h). */
#include "merge/clock_pieces.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/table.h"

#define DRIFT_MOST ((double)RANK_CLOCK_DRIFT_MOST / RANK_CLOCK_PARTS)

/* No piece drifts by more: rank_clock_is_possible allows twice as much. */
#define SLOPE_MOST 0.05

/* A piece is at most this part of the whole, because it has one uncertainty. */
#define PARTS 16

/* What widens the part of the corridor that pieces may use, until there are few enough pieces. */
#define ROOM_LEAST 0.5
#define ROOM_STEPS 60
#define ROOM_NS	   100.0

/* Rounding: of the joint's offset, of a converted time, and of what was computed here. */
#define ROUNDING_NS 4.0

/* A moment of the corridor. Offsets are differences from the corridor's origin. */
struct gate {
	int64_t ns;
	double lowest, highest;
};

struct corridor {
	struct gate *gates; /* by ascending time */
	size_t count;
	int64_t offset_ns;	   /* of the origin */
	int64_t first_ns, last_ns; /* of the collectives: pieces end there */
	int64_t part_ns;
};

/* ---- the corridor ---- */

static int compare_gates(const void *left, const void *right)
{
	const struct gate *a = left, *b = right;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Tightens TO by what FROM, at another time, says. */
static void spread(const struct gate *from, struct gate *to)
{
	double most = DRIFT_MOST * fabs((double)(to->ns - from->ns));

	to->lowest = fmax(to->lowest, from->lowest - most);
	to->highest = fmin(to->highest, from->highest + most);
}

static void add_gate(struct corridor *corridor, int64_t ns, double lowest, double highest)
{
	corridor->gates[corridor->count++] = (struct gate){ns, lowest, highest};
	if (ns < corridor->first_ns)
		corridor->first_ns = ns;
	if (ns > corridor->last_ns)
		corridor->last_ns = ns;
}

static void add_match(struct corridor *corridor, const struct clock_match *match)
{
	int64_t most = match->other.end_ns - match->own.begin_ns + match->error_ns;
	int64_t least = match->other.begin_ns - match->own.end_ns - match->error_ns;

	add_gate(corridor, match->own.begin_ns, -INFINITY, (double)(most - corridor->offset_ns));
	add_gate(corridor, match->own.end_ns, (double)(least - corridor->offset_ns), INFINITY);
}

/* Returns 1, 0 if the corridor is closed somewhere, or -ENOMEM. */
static int make_corridor(const struct clock_match *matches, size_t count,
			 const struct rank_clock *clock, struct corridor *corridor)
{
	*corridor = (struct corridor){
		.gates = table_alloc(2 * (uint64_t)count + 2, sizeof(*corridor->gates)),
		.offset_ns = matches[0].other.begin_ns - matches[0].own.begin_ns,
		.first_ns = INT64_MAX,
		.last_ns = INT64_MIN,
	};
	if (!corridor->gates)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		add_match(corridor, &matches[i]);
	/* The times that are needed, of which nothing more is known. */
	corridor->gates[corridor->count++] = (struct gate){clock->first_ns, -INFINITY, INFINITY};
	corridor->gates[corridor->count++] = (struct gate){clock->last_ns, -INFINITY, INFINITY};
	qsort(corridor->gates, corridor->count, sizeof(*corridor->gates), compare_gates);
	for (size_t i = 1; i < corridor->count; i++)
		spread(&corridor->gates[i - 1], &corridor->gates[i]);
	for (size_t i = corridor->count - 1; i; i--)
		spread(&corridor->gates[i], &corridor->gates[i - 1]);
	for (size_t i = 0; i < corridor->count; i++) {
		if (corridor->gates[i].lowest > corridor->gates[i].highest)
			return 0;
	}
	corridor->part_ns =
		(corridor->gates[corridor->count - 1].ns - corridor->gates[0].ns) / PARTS;
	return 1;
}

/* ---- pieces ---- */

/* A chain of pieces that is being made: the slopes that lead from its last joint through all gates
 * behind it. */
struct chain {
	const struct corridor *corridor;
	double room; /* part of the corridor's width that may be used */
	struct rank_clock *clock;
	size_t at; /* gate of the last joint */
	double offset, least, most;
};

static double middle_of(const struct gate *gate)
{
	return (gate->lowest + gate->highest) / 2;
}

/* Adds a joint at GATE. Returns false if there are too many. */
static bool add_joint(struct chain *chain, size_t gate, double offset)
{
	struct rank_clock *clock = chain->clock;

	if (clock->joint_count == RANK_CLOCK_JOINTS_MOST)
		return false;
	clock->joints[clock->joint_count++] = (struct rank_clock_joint){
		.host_ns = chain->corridor->gates[gate].ns,
		.offset_ns = chain->corridor->offset_ns + llround(offset),
	};
	chain->at = gate;
	chain->offset = offset;
	chain->least = -SLOPE_MOST;
	chain->most = SLOPE_MOST;
	return true;
}

/* Narrows the slopes to those that lead through GATE. Returns false, with the slopes as they were,
 * if there are none. */
static bool pass(struct chain *chain, const struct gate *gate)
{
	double distance = (double)(gate->ns - chain->corridor->gates[chain->at].ns);
	double half = (gate->highest - gate->lowest) / 2 * chain->room;
	double middle = middle_of(gate) - chain->offset, least, most;

	if (chain->room > 1)
		half += ROOM_NS * chain->room;
	least = fmax(chain->least, (middle - half) / distance);
	most = fmin(chain->most, (middle + half) / distance);
	if (least > most)
		return false;
	chain->least = least;
	chain->most = most;
	return true;
}

/* Whether a piece must end at the gate NS at the latest. */
static bool ends_at(const struct chain *chain, int64_t ns)
{
	const struct corridor *corridor = chain->corridor;

	return ns == corridor->first_ns || ns == corridor->last_ns ||
	       ns == corridor->gates[corridor->count - 1].ns ||
	       ns - corridor->gates[chain->at].ns >= corridor->part_ns;
}

/* Ends a piece at GATE. */
static bool end_piece(struct chain *chain, size_t gate)
{
	const struct gate *gates = chain->corridor->gates;

	return add_joint(chain, gate,
			 chain->offset + (chain->least + chain->most) / 2 *
						 (double)(gates[gate].ns - gates[chain->at].ns));
}

/* Lays pieces through the corridor. Returns false if there are too many. */
static bool lay_pieces(const struct corridor *corridor, double room, struct rank_clock *clock)
{
	struct chain chain = {.corridor = corridor, .room = room, .clock = clock};
	const struct gate *gates = corridor->gates;

	clock->joint_count = 0;
	add_joint(&chain, 0, middle_of(&gates[0]));
	for (size_t i = 1, passed = 0; i < corridor->count; i++) {
		if (gates[i].ns == gates[chain.at].ns)
			continue;
		if (!pass(&chain, &gates[i])) {
			/* If no gate was passed, a slope is too steep: the joint is outside. */
			if (passed <= chain.at)
				passed = i;
			if (!end_piece(&chain, passed))
				return false;
			i = passed;
			continue;
		}
		passed = i;
		if (ends_at(&chain, gates[i].ns) && !end_piece(&chain, i))
			return false;
	}
	return clock->joint_count >= 2;
}

/* ---- the uncertainty ---- */

/* The most that a side of the corridor is away from a piece between two gates which are DISTANCE
 * apart: it is A and B away at them, and it leaves the piece by TO the one and FROM the other. */
static double peak(double a, double b, double distance, double away, double back)
{
	double at = (b - a + back * distance) / (away + back);

	at = fmin(fmax(at, 0), distance);
	return fmax(fmax(a, b), fmin(a + away * at, b + back * (distance - at)));
}

/* The most that the corridor's sides are away from the piece that begins at JOINT; *AT: its gate,
 * which becomes that of the next joint. */
static double piece_uncertainty(const struct corridor *corridor,
				const struct rank_clock_joint *joint, size_t *at)
{
	double begin = (double)(joint->offset_ns - corridor->offset_ns);
	double slope = (double)(joint[1].offset_ns - joint->offset_ns) /
		       (double)(joint[1].host_ns - joint->host_ns);
	const struct gate *gate = &corridor->gates[*at];
	double worst = 0, above = 0, below = 0;

	for (bool is_first = true; gate->ns <= joint[1].host_ns; is_first = false) {
		double offset = begin + slope * (double)(gate->ns - joint->host_ns);
		double next_above = gate->highest - offset, next_below = offset - gate->lowest;

		if (is_first) {
			worst = fmax(next_above, next_below);
		} else {
			double distance = (double)(gate->ns - gate[-1].ns);

			worst = fmax(worst, peak(above, next_above, distance, DRIFT_MOST - slope,
						 DRIFT_MOST + slope));
			worst = fmax(worst, peak(below, next_below, distance, DRIFT_MOST + slope,
						 DRIFT_MOST - slope));
		}
		above = next_above;
		below = next_below;
		if (++*at == corridor->count)
			break;
		gate++;
	}
	--*at;
	return worst;
}

/* Rounded up. */
static uint64_t whole_ns(double ns)
{
	return ns < (double)INT64_MAX ? (uint64_t)ceil(ns) : INT64_MAX;
}

static double slope_of(const struct rank_clock_joint *joint)
{
	return (double)(joint[1].offset_ns - joint->offset_ns) /
	       (double)(joint[1].host_ns - joint->host_ns);
}

/* Raises the uncertainty of JOINT to WORST, or to what it is at GATE. */
static void raise_joint(const struct corridor *corridor, const struct gate *gate, double worst,
			struct rank_clock_joint *joint)
{
	double offset = (double)(joint->offset_ns - corridor->offset_ns);
	uint64_t ns;

	if (gate)
		worst = fmax(gate->highest - offset, offset - gate->lowest);
	ns = whole_ns(worst + ROUNDING_NS);
	if (ns > joint->uncertainty_ns)
		joint->uncertainty_ns = ns;
}

static void set_uncertainties(const struct corridor *corridor, struct rank_clock *clock)
{
	const struct rank_clock_joint *joints = clock->joints;
	uint32_t pieces = clock->joint_count - 1;
	double steepest = fmax(fabs(slope_of(joints)), fabs(slope_of(&joints[pieces - 1])));
	uint64_t steep = (uint64_t)((DRIFT_MOST + steepest) * RANK_CLOCK_PARTS) + 1;
	size_t at = 0;

	for (uint32_t i = 0; i < pieces; i++) {
		size_t begin = at;
		double worst = piece_uncertainty(corridor, &joints[i], &at);
		/* There each side of the corridor is one line, so that the ends say all. */
		bool is_outside = joints[i + 1].host_ns <= corridor->first_ns ||
				  joints[i].host_ns >= corridor->last_ns;

		raise_joint(corridor, is_outside ? &corridor->gates[begin] : NULL, worst,
			    &clock->joints[i]);
		raise_joint(corridor, is_outside ? &corridor->gates[at] : NULL, worst,
			    &clock->joints[i + 1]);
	}
	if (steep > clock->spread)
		clock->spread = steep;
}

int clock_pieces_fit(const struct clock_match *matches, size_t count, struct rank_clock *clock)
{
	struct corridor corridor;
	double room = ROOM_LEAST;
	bool is_laid = false;
	int result = make_corridor(matches, count, clock, &corridor);

	clock->joint_count = 0;
	for (int i = 0; i < ROOM_STEPS && result > 0 && !is_laid; i++) {
		is_laid = lay_pieces(&corridor, room, clock);
		room *= 2;
	}
	if (is_laid)
		set_uncertainties(&corridor, clock);
	if (!is_laid || !rank_clock_is_possible(clock))
		clock->joint_count = 0;
	free(corridor.gates);
	return result < 0 ? result : 0;
}

/* ---- following another clock ---- */

enum { MOMENTS_MOST = 2 * RANK_CLOCK_JOINTS_MOST + RANK_CLOCK_KNOTS };

struct moments {
	struct rank_clock_joint rows[MOMENTS_MOST];
	uint32_t count;
};

static int compare_moments(const void *left, const void *right)
{
	const struct rank_clock_joint *a = left, *b = right;

	return (a->host_ns > b->host_ns) - (a->host_ns < b->host_ns);
}

static void add_moment(struct moments *moments, int64_t host_ns)
{
	moments->rows[moments->count++].host_ns = host_ns;
}

/* The moments of STEP's time at which STEP or PARENT changes. */
static void find_moments(const struct rank_clock *step, const struct rank_clock *parent,
			 struct moments *moments)
{
	uint32_t kept = 1;

	moments->count = 0;
	for (uint32_t i = 0; i < step->joint_count; i++)
		add_moment(moments, step->joints[i].host_ns);
	for (int i = 0; i < RANK_CLOCK_KNOTS && !step->joint_count; i++)
		add_moment(moments, rank_clock_knot(step, i));
	for (uint32_t i = 0; i < parent->joint_count; i++)
		add_moment(moments, rank_clock_unmap(step, parent->joints[i].host_ns));
	qsort(moments->rows, moments->count, sizeof(*moments->rows), compare_moments);
	for (uint32_t i = 1; i < moments->count; i++) {
		if (moments->rows[i].host_ns != moments->rows[kept - 1].host_ns)
			moments->rows[kept++] = moments->rows[i];
	}
	moments->count = kept;
}

/* The value at the moment I if it were on the line from the one before to the one behind it. */
static double between(const struct moments *moments, uint32_t i, double before, double behind)
{
	const struct rank_clock_joint *row = &moments->rows[i];

	return before + (behind - before) * (double)(row->host_ns - row[-1].host_ns) /
				(double)(row[1].host_ns - row[-1].host_ns);
}

/* How far the moment I is from that line. */
static double bend(const struct moments *moments, uint32_t i)
{
	const struct rank_clock_joint *row = &moments->rows[i];

	return fabs(between(moments, i, (double)(row[-1].offset_ns - row->offset_ns),
			    (double)(row[1].offset_ns - row->offset_ns)));
}

/* Leaves out the moment whose piece bends least. Its neighbours get what that changes, so that the
 * line between them is above the uncertainty that was there, and the bend. */
static void leave_out(struct moments *moments)
{
	struct rank_clock_joint *rows = moments->rows;
	uint32_t best = 1;
	double more;

	for (uint32_t i = 2; i + 1 < moments->count; i++) {
		if (bend(moments, i) < bend(moments, best))
			best = i;
	}
	more = (double)rows[best].uncertainty_ns + bend(moments, best) + ROUNDING_NS -
	       between(moments, best, (double)rows[best - 1].uncertainty_ns,
		       (double)rows[best + 1].uncertainty_ns);
	if (more > 0) {
		rows[best - 1].uncertainty_ns =
			rank_clock_sum(rows[best - 1].uncertainty_ns, whole_ns(more));
		rows[best + 1].uncertainty_ns =
			rank_clock_sum(rows[best + 1].uncertainty_ns, whole_ns(more));
	}
	moments->count--;
	for (uint32_t i = best; i < moments->count; i++)
		rows[i] = rows[i + 1];
}

uint64_t clock_pieces_sum(uint64_t step_ns, uint64_t parent_ns)
{
	uint64_t faster_ns = step_ns / (RANK_CLOCK_PARTS / RANK_CLOCK_DRIFT_MOST);

	return rank_clock_sum(rank_clock_sum(step_ns, faster_ns + 2), parent_ns);
}

void clock_pieces_follow(const struct rank_clock *step, const struct rank_clock *parent,
			 struct rank_clock *way)
{
	struct moments moments = {.count = 0};

	way->joint_count = 0;
	if (!step->joint_count && !parent->joint_count)
		return;
	find_moments(step, parent, &moments);
	for (uint32_t i = 0; i < moments.count; i++) {
		struct rank_clock_joint *row = &moments.rows[i];
		int64_t mapped = rank_clock_map(step, row->host_ns);

		row->offset_ns = rank_clock_map(parent, mapped) - row->host_ns;
		row->uncertainty_ns = clock_pieces_sum(rank_clock_uncertainty(step, row->host_ns),
						       rank_clock_uncertainty(parent, mapped));
	}
	while (moments.count > RANK_CLOCK_JOINTS_MOST)
		leave_out(&moments);
	for (uint32_t i = 0; i < moments.count && moments.count >= 2; i++)
		way->joints[way->joint_count++] = moments.rows[i];
}
