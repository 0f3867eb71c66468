/* What a thread did, as lines of events that nest: its scopes and its calls together, in the order of time. Of a
 * scope and a call of the same time the scope is the one outside. What does not nest is left over for a further
 * line. */
#ifndef DAGTAP_FORMAT_LANE_H
#define DAGTAP_FORMAT_LANE_H

#include "format/rows.h"

enum lane_table { LANE_SCOPES, LANE_CALLS, LANE_TABLES };

/* What is not on a line yet, by table. */
struct lane_lists {
	struct rows_list *of[LANE_TABLES];
};

/* One line while it is walked. */
struct lane {
	const struct lane_lists *lists;
	struct rows_nest *nest;
	struct rows_walk walks[LANE_TABLES];
	struct rows_time heads[LANE_TABLES]; /* of the rows that come next */
	struct rows_list rest[LANE_TABLES];
};

static inline bool lane_lists_are_empty(const struct lane_lists *lists)
{
	return rows_list_count(lists->of[LANE_SCOPES]) + rows_list_count(lists->of[LANE_CALLS]) ==
	       0;
}

/* Before the first line. 0 or -ENOMEM. */
int lane_lists_sort(const struct lane_lists *lists, const struct rows *scopes,
		    const struct rows *calls);

/* NEST is made empty. */
void lane_begin(struct lane *lane, const struct lane_lists *lists, const struct rows *scopes,
		const struct rows *calls, struct rows_nest *nest);
/* 1: the next row on this line; 0: there is none; or -ENOMEM. */
int lane_next(struct lane *lane, enum lane_table *ret_table, uint32_t *ret_row);
/* The lists have what is left over. */
void lane_end(struct lane *lane);

#endif
