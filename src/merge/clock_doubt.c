/* The uncertainty of a clock by its machine's steady clock (clock_doubt.h). */
#include "merge/clock_doubt.h"

#include <math.h>
#include <string.h>

#define DRIFT_MOST ((double)RANK_CLOCK_DRIFT_MOST / RANK_CLOCK_PARTS)
#define TIME_MOST  ((double)RANK_CLOCK_TIME_MOST)

/* Rounding: of a joint's offset and of a converted time. */
#define ROUNDING_NS 4

/* What is judged: pieces, by moments that are right to ERROR_NS. */
struct chain {
	const struct steady_clock *clock;
	struct rank_clock *to;
	double error_ns;
};

struct line {
	double at, offset, slope;
};

static double value_of(const struct line *line, double at)
{
	return line->offset + line->slope * (at - line->at);
}

/* The line through the moments ROW and ROW + 1. */
static struct line line_through(const struct chain *chain, size_t row)
{
	double rise = steady_offset(chain->clock, row + 1) - steady_offset(chain->clock, row);

	return (struct line){
		steady_time(chain->clock, row), steady_offset(chain->clock, row),
		rise / (steady_time(chain->clock, row + 1) - steady_time(chain->clock, row))};
}

/* The span from the moment ROW to the next one, and the pieces in it: one, or two that meet at
 * BEND. */
struct span {
	size_t row;
	double begin, end, bend;
	struct line pieces[2];
	struct rank_clock_joint *joint; /* of the first piece */
};

static struct line piece_of(const struct chain *chain, const struct rank_clock_joint *joint)
{
	const struct steady_moment *zero = chain->clock->rows;

	return (struct line){
		(double)(joint->host_ns - zero->host_ns),
		(double)(joint->offset_ns - (zero->steady_ns - zero->host_ns)),
		(double)(joint[1].offset_ns - joint->offset_ns) /
			(double)(joint[1].host_ns - joint->host_ns),
	};
}

/* JOINT: of a piece that begins before ROW or there. */
static struct span span_of(const struct chain *chain, size_t row, struct rank_clock_joint *joint)
{
	const struct steady_moment *rows = chain->clock->rows;
	const struct rank_clock_joint *last = &chain->to->joints[chain->to->joint_count - 1];
	struct span span = {.row = row,
			    .begin = steady_time(chain->clock, row),
			    .end = steady_time(chain->clock, row + 1)};

	while (joint[1].host_ns <= rows[row].host_ns && joint + 2 <= last)
		joint++;
	span.joint = joint;
	span.bend = span.end;
	span.pieces[0] = span.pieces[1] = piece_of(chain, joint);
	if (joint[1].host_ns < rows[row + 1].host_ns) {
		span.pieces[1] = piece_of(chain, joint + 1);
		span.bend = span.pieces[1].at;
	}
	return span;
}

/* The most that the pieces are away from LINE between BEGIN and END, in SPAN. */
static double away_from(const struct span *span, const struct line *line, double begin, double end)
{
	const double at[] = {begin, fmin(fmax(span->bend, begin), end), end};
	double worst = 0;

	for (int i = 0; i < 3; i++) {
		const struct line *piece = &span->pieces[at[i] >= span->bend];

		worst = fmax(worst, fabs(value_of(line, at[i]) - value_of(piece, at[i])));
	}
	return worst;
}

/* Whether one rate agrees with the moment ROW and its neighbours. */
static bool is_straight(const struct chain *chain, size_t row)
{
	struct line before = line_through(chain, row - 1), behind = line_through(chain, row);
	double left = steady_time(chain->clock, row) - steady_time(chain->clock, row - 1);
	double right = steady_time(chain->clock, row + 1) - steady_time(chain->clock, row);

	return fabs(before.slope - behind.slope) * left * right / (left + right) <=
	       2 * chain->error_ns + ROUNDING_NS;
}

/* How far the pieces may be from the clock in SPAN if its rate does not change there. Then it does
 * not in one of the neighbours either. Negative: the moments contradict that. */
static double doubt_unchanged(const struct chain *chain, const struct span *span)
{
	struct line chord = line_through(chain, span->row);

	if (span->row && span->row + 2 < chain->clock->count && !is_straight(chain, span->row) &&
	    !is_straight(chain, span->row + 1))
		return -1;
	return away_from(span, &chord, span->begin, span->end) + chain->error_ns;
}

/* The same for a rate that changes in SPAN, and in none of its neighbours. The line through a
 * neighbour is wrong by ERROR_NS where it enters the span, and by MOST where it leaves it. FAR: the
 * distance of the line from the moment there. */
static double doubt_along(const struct chain *chain, const struct span *span,
			  const struct line *line, double most, double far)
{
	return away_from(span, line, span->begin, span->end) + fmax(most, far + chain->error_ns);
}

static double doubt_changed(const struct chain *chain, const struct span *span)
{
	bool has_before = span->row > 0, has_behind = span->row + 2 < chain->clock->count;
	struct line chord = line_through(chain, span->row);
	struct line before = has_before ? line_through(chain, span->row - 1) : chord;
	struct line behind = has_behind ? line_through(chain, span->row + 1) : chord;
	double length = span->end - span->begin, error = chain->error_ns;
	double far_begin = fabs(value_of(&behind, span->begin) - value_of(&chord, span->begin));
	double far_end = fabs(value_of(&before, span->end) - value_of(&chord, span->end));
	double most_before = error, most_behind = error, at;

	if (has_before)
		most_before += 2 * error * length / (span->begin - before.at);
	if (has_behind)
		most_behind += 2 * error * length /
			       (steady_time(chain->clock, span->row + 2) -
				steady_time(chain->clock, span->row + 1));
	if (!has_before)
		return doubt_along(chain, span, &behind, most_behind, far_begin);
	if (!has_behind)
		return doubt_along(chain, span, &before, most_before, far_end);
	at = span->begin + (value_of(&behind, span->begin) - value_of(&before, span->begin)) /
				   (before.slope - behind.slope);
	/* The lines meet: the clock follows one, then the other. */
	if (at >= span->begin && at <= span->end)
		return fmax(away_from(span, &before, span->begin, at),
			    away_from(span, &behind, at, span->end)) +
		       fmax(most_before, most_behind);
	if (far_begin > error + most_behind + ROUNDING_NS &&
	    far_end > error + most_before + ROUNDING_NS)
		return -1;
	return fmin(doubt_along(chain, span, &before, fmax(most_before, most_behind), far_end),
		    doubt_along(chain, span, &behind, fmax(most_before, most_behind), far_begin));
}

/* How far the pieces may be from the clock in SPAN if the rate changes once at most in it and its
 * neighbours. Infinite: that is not assumed, or the moments contradict it. */
static double doubt_assumed(const struct chain *chain, const struct span *span)
{
	size_t last = chain->clock->count - 1;
	size_t begin = span->row ? span->row - 1 : 0;
	size_t end = span->row + 2 < last ? span->row + 2 : last;
	double most = fmax(doubt_unchanged(chain, span), doubt_changed(chain, span));

	return most < 0 || steady_time(chain->clock, end) - steady_time(chain->clock, begin) >
				       CLOCK_STEADY_ALONE_NS
		       ? INFINITY
		       : most;
}

/* The same for any course: a clock that leaves the line between its moments comes back. */
static double doubt_of_any(const struct chain *chain, const struct span *span)
{
	struct line chord = line_through(chain, span->row);

	return away_from(span, &chord, span->begin, span->end) + chain->error_ns +
	       DRIFT_MOST / 2 * (span->end - span->begin);
}

static uint64_t whole_ns(double ns)
{
	return ns < TIME_MOST ? (uint64_t)ceil(ns) + ROUNDING_NS : INT64_MAX;
}

static void raise_joints(const struct span *span, double doubt)
{
	uint64_t ns = whole_ns(doubt);
	int count = span->bend < span->end ? 3 : 2;

	for (int i = 0; i < count; i++)
		span->joint[i].uncertainty_ns =
			span->joint[i].uncertainty_ns > ns ? span->joint[i].uncertainty_ns : ns;
}

/* Outside of the moments the rate may be any. */
static void raise_end(struct rank_clock_joint *end, const struct rank_clock_joint *inner)
{
	double away = fabs((double)(end->host_ns - inner->host_ns));

	end->uncertainty_ns =
		rank_clock_sum(inner->uncertainty_ns, whole_ns(2 * DRIFT_MOST * away));
}

/* A walk over the spans. */
struct walk {
	struct span span, next;
	double now, behind; /* doubt_assumed of both */
	double doubt;	    /* of SPAN */
	bool is_any;	    /* which allows for any course, because of SPAN or a neighbour */
};

/* Goes to the first span, or to the next one. Returns false if there is none. */
static bool walk_on(const struct chain *chain, struct walk *walk, bool is_first)
{
	size_t row = is_first ? 0 : walk->next.row;
	double before = is_first ? 0 : walk->now;

	if (!is_first && walk->next.row == walk->span.row)
		return false;
	walk->span = is_first ? span_of(chain, 0, chain->to->joints) : walk->next;
	walk->now = is_first ? doubt_assumed(chain, &walk->span) : walk->behind;
	walk->behind = 0;
	if (row + 2 < chain->clock->count) {
		walk->next = span_of(chain, row + 1, walk->span.joint);
		walk->behind = doubt_assumed(chain, &walk->next);
	} else {
		walk->next = walk->span;
	}
	walk->is_any = isinf(before) || isinf(walk->now) || isinf(walk->behind);
	walk->doubt = walk->is_any ? doubt_of_any(chain, &walk->span) : walk->now;
	return true;
}

/* Makes two pieces of the one in which the moment ROW is, if there is room. */
static void split(struct rank_clock *to, const struct steady_moment *row)
{
	uint32_t i = to->joint_count;
	const struct rank_clock_joint joint = {
		.host_ns = row->host_ns,
		.offset_ns = rank_clock_map(to, row->host_ns) - row->host_ns,
	};

	while (i && to->joints[i - 1].host_ns > row->host_ns)
		i--;
	if (to->joint_count == RANK_CLOCK_JOINTS_MOST || !i || i == to->joint_count ||
	    to->joints[i - 1].host_ns == row->host_ns)
		return;
	memmove(&to->joints[i + 1], &to->joints[i], (to->joint_count - i) * sizeof(joint));
	to->joints[i] = joint;
	to->joint_count++;
}

/* Adds joints around the spans in which any course is possible, so that the pieces beside them stay
 * certain. */
static void split_pieces(const struct chain *chain)
{
	size_t at[RANK_CLOCK_JOINTS_MOST + 2], count = 0;
	bool was_any = false;
	struct walk walk;

	for (bool is = walk_on(chain, &walk, true); is && count < RANK_CLOCK_JOINTS_MOST;
	     is = walk_on(chain, &walk, false)) {
		size_t row = walk.span.row;

		if (walk.is_any != was_any && row) {
			at[count++] = row;
			at[count++] = walk.is_any ? row - 1 : row + 1;
		}
		was_any = walk.is_any;
	}
	for (size_t i = 0; i < count; i++)
		split(chain->to, &chain->clock->rows[at[i]]);
}

void clock_doubt_set(const struct steady_clock *clock, double error_ns, struct rank_clock *to)
{
	const struct chain chain = {clock, to, error_ns};
	struct rank_clock_joint *joints = to->joints;
	struct walk walk;
	uint32_t last;

	split_pieces(&chain);
	last = to->joint_count - 1;
	for (bool is = walk_on(&chain, &walk, true); is; is = walk_on(&chain, &walk, false))
		raise_joints(&walk.span, walk.doubt);
	if (joints[0].host_ns < clock->rows[0].host_ns)
		raise_end(&joints[0], &joints[1]);
	if (joints[last].host_ns > clock->rows[clock->count - 1].host_ns)
		raise_end(&joints[last], &joints[last - 1]);
}
