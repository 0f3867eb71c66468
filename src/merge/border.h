/* The points of a set that can be nearest to a line below all of them: the lower side of the convex
 * hull, kept while points are added.
 *
 * Threading: one thread at a time. Cost: a point behind all others takes constant time on average;
 * one between them a copy of the border, which has few points: about the logarithm of their number
 * where they are random. Arithmetic is exact. */
#ifndef DAGTAP_MERGE_BORDER_H
#define DAGTAP_MERGE_BORDER_H

#include <stdint.h>

/* Differences of x and of y must fit into 63 bits. */
struct border_point {
	int64_t x, y;
};

/* Zero is an empty border. Ascending in x; the slope from point to point ascends, too. */
struct border {
	struct border_point *points;
	uint32_t count, room;
};

/* Adds a point. Returns 0 or -ENOMEM, with the border as it was. */
int border_add(struct border *border, int64_t x, int64_t y);

/* Frees the points and makes the border empty. */
void border_release(struct border *border);

/* The highest line of SLOPE that is below all points: its value at ORIGIN, an x. BORDER must not
 * be empty. */
double border_below(const struct border *border, double slope, int64_t origin);

/* The highest value at X, an offset from ORIGIN, of all lines with slopes from LEAST to MOST that
 * are below all points. BORDER must not be empty. */
double border_reach(const struct border *border, double least, double most, int64_t origin,
		    double x);

#endif
