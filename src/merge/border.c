/* The lower side of a convex hull (border.h): Andrew's monotone chain, one point at a time. */
#include "merge/border.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether MIDDLE is on or above the line from A to B, so that no line below both can touch it. */
static bool is_covered(const struct border_point *a, const struct border_point *middle,
		       const struct border_point *b)
{
	__int128 rise = (__int128)(middle->y - a->y) * (b->x - a->x);
	__int128 line = (__int128)(b->y - a->y) * (middle->x - a->x);

	return rise >= line;
}

/* The index of the first point with an x of X or more. */
static uint32_t find(const struct border *border, int64_t x)
{
	uint32_t low = 0, high = border->count;

	if (high && border->points[high - 1].x < x)
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (border->points[middle].x < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_room(struct border *border)
{
	uint32_t room = border->room ? 2 * border->room : 8;
	struct border_point *points;

	if (border->count < border->room)
		return 0;
	points = realloc(border->points, room * sizeof(*points));
	if (!points)
		return -ENOMEM;
	border->points = points;
	border->room = room;
	return 0;
}

/* Removes the points from FIRST on, COUNT of them. */
static void remove_points(struct border *border, uint32_t first, uint32_t count)
{
	memmove(border->points + first, border->points + first + count,
		(border->count - first - count) * sizeof(*border->points));
	border->count -= count;
}

/* Removes the neighbours of the point AT that it covers. */
static void settle(struct border *border, uint32_t at)
{
	struct border_point *points = border->points;
	uint32_t first = at, last = at;

	while (last + 2 < border->count &&
	       is_covered(&points[at], &points[last + 1], &points[last + 2]))
		last++;
	while (first >= 2 && is_covered(&points[first - 2], &points[first - 1], &points[at]))
		first--;
	remove_points(border, at + 1, last - at);
	remove_points(border, first, at - first);
}

int border_add(struct border *border, int64_t x, int64_t y)
{
	const struct border_point point = {x, y};
	uint32_t at = find(border, x);

	if (at < border->count && border->points[at].x == x) {
		if (border->points[at].y <= y)
			return 0;
		border->points[at] = point;
		settle(border, at);
		return 0;
	}
	if (at && at < border->count &&
	    is_covered(&border->points[at - 1], &point, &border->points[at]))
		return 0;
	if (make_room(border) < 0)
		return -ENOMEM;
	memmove(border->points + at + 1, border->points + at,
		(border->count - at) * sizeof(*border->points));
	border->points[at] = point;
	border->count++;
	settle(border, at);
	return 0;
}

void border_release(struct border *border)
{
	free(border->points);
	*border = (struct border){0};
}

static double slope_behind(const struct border *border, uint32_t at)
{
	const struct border_point *a = &border->points[at], *b = a + 1;

	return (double)(b->y - a->y) / (double)(b->x - a->x);
}

double border_below(const struct border *border, double slope, int64_t origin)
{
	uint32_t low = 0, high = border->count - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (slope_behind(border, middle) < slope)
			low = middle + 1;
		else
			high = middle;
	}
	return (double)border->points[low].y - slope * (double)(border->points[low].x - origin);
}

double border_reach(const struct border *border, double least, double most, int64_t origin,
		    double x)
{
	uint32_t at = find(border, origin + (int64_t)x);
	double slope = at == 0 ? least : most;

	if (at && at < border->count)
		slope = slope_behind(border, at - 1);
	if (slope < least)
		slope = least;
	if (slope > most)
		slope = most;
	return border_below(border, slope, origin) + slope * x;
}
