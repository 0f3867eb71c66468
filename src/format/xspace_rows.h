/* Rows of a table, dealt out to the lines that they are shown on: a list for each line, threaded
 * through one array of four bytes a row.
 *
 * A line of an XSpace holds its events by begin, of equal ones the longest first, and no two that
 * overlap in part. Rows mostly come in that order; those that do not are kept apart, sorted when the
 * line's turn comes, and merged in as it is walked. What does not fit on a line is left over for a further one (a lane), so that no time is
 * changed and nothing is lost. */
#ifndef DAGTAP_FORMAT_XSPACE_ROWS_H
#define DAGTAP_FORMAT_XSPACE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model.h"

#define XSPACE_ROW_NONE UINT32_MAX

struct xspace_time {
	int64_t begin_ns;
	int64_t end_ns; /* not before begin_ns */
};

struct xspace_run {
	uint32_t head;
	uint32_t tail;
	uint32_t count;
};

struct xspace_list {
	struct xspace_run main; /* in order as it was dealt out */
	struct xspace_run late; /* what came behind rows that it goes before */
	struct xspace_time last;
	uint8_t words; /* what is on it: a bit for each enum xspace_word */
};

/* The time of a row: end_ns is not before begin_ns. */
typedef struct xspace_time xspace_time_of(const void *table, uint32_t row);

struct xspace_rows {
	const void *table;
	size_t row_bytes;
	xspace_time_of *time_of;
	uint32_t *next;
	struct xspace_list *lists;
	size_t lists_count;
};

/* 0 or -ENOMEM. */
int xspace_rows_init(struct xspace_rows *rows, size_t rows_count, size_t lists_count);
void xspace_rows_release(struct xspace_rows *rows);

static inline bool xspace_time_before(struct xspace_time a, struct xspace_time b)
{
	return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

static inline void xspace_run_add(const struct xspace_rows *rows, struct xspace_run *run,
				  uint32_t row)
{
	rows->next[row] = XSPACE_ROW_NONE;
	if (run->count++ == 0)
		run->head = row;
	else
		rows->next[run->tail] = row;
	run->tail = row;
}

static inline uint32_t xspace_list_count(const struct xspace_list *list)
{
	return list->main.count + list->late.count;
}

static inline void xspace_list_deal(const struct xspace_rows *rows, struct xspace_list *list,
				    uint32_t row, struct xspace_time time)
{
	if (list->main.count > 0 && xspace_time_before(time, list->last)) {
		xspace_run_add(rows, &list->late, row);
		return;
	}
	list->last = time;
	xspace_run_add(rows, &list->main, row);
}

/* Puts the late ones in order. 0 or -ENOMEM. */
int xspace_list_sort(const struct xspace_rows *rows, struct xspace_list *list);

/* A list is walked in an order that no cache foresees: rows are asked for so far ahead. */
#define XSPACE_ROWS_AHEAD 12

/* Through a sorted list by begin, then the longest first, then by row. */
struct xspace_walk {
	const struct xspace_rows *rows;
	uint32_t row; /* the one to look at; XSPACE_ROW_NONE at the end */
	uint32_t main, late;
	uint32_t ahead;
};

static inline void xspace_walk_look_ahead(struct xspace_walk *walk)
{
	const char *row;

	if (walk->ahead == XSPACE_ROW_NONE)
		return;
	row = (const char *)walk->rows->table + walk->ahead * walk->rows->row_bytes;
	__builtin_prefetch(row);
	__builtin_prefetch(row + walk->rows->row_bytes - 1);
	walk->ahead = walk->rows->next[walk->ahead];
}

static inline bool xspace_walk_is_late_next(const struct xspace_walk *walk)
{
	const struct xspace_rows *rows = walk->rows;
	struct xspace_time main, late;

	if (walk->late == XSPACE_ROW_NONE || walk->main == XSPACE_ROW_NONE)
		return walk->main == XSPACE_ROW_NONE;
	main = rows->time_of(rows->table, walk->main);
	late = rows->time_of(rows->table, walk->late);
	return xspace_time_before(late, main) ||
	       (!xspace_time_before(main, late) && walk->late < walk->main);
}

static inline void xspace_walk_choose(struct xspace_walk *walk)
{
	walk->row = xspace_walk_is_late_next(walk) ? walk->late : walk->main;
}

static inline struct xspace_walk xspace_walk_begin(const struct xspace_rows *rows,
						   const struct xspace_list *list)
{
	struct xspace_walk walk = {
		.rows = rows,
		.main = list->main.count ? list->main.head : XSPACE_ROW_NONE,
		.late = list->late.count ? list->late.head : XSPACE_ROW_NONE,
	};

	walk.ahead = walk.main;
	for (unsigned i = 0; i < XSPACE_ROWS_AHEAD; i++)
		xspace_walk_look_ahead(&walk);
	xspace_walk_choose(&walk);
	return walk;
}

/* The row is the caller's from then on, to be put on another list. */
static inline uint32_t xspace_walk_take(struct xspace_walk *walk)
{
	uint32_t row = walk->row;

	if (row == walk->late) {
		walk->late = walk->rows->next[row];
	} else {
		xspace_walk_look_ahead(walk);
		walk->main = walk->rows->next[row];
	}
	xspace_walk_choose(walk);
	return row;
}

/* The events around the next one, on a line where they nest. */
struct xspace_nest {
	int64_t *ends;
	size_t depth;
	size_t room;
};

/* Whether an event that begins no sooner than the last one that fitted, fits on this line; then it
 * is taken to be on it. Negative errno: no memory. */
int xspace_nest_take(struct xspace_nest *nest, struct xspace_time time);
void xspace_nest_release(struct xspace_nest *nest);

#endif
