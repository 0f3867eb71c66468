/* Rows of a table, dealt out to the lines that they are shown on: a list for each line, threaded
 * through one array of four bytes a row.
 *
 * A line holds its events by begin, of equal ones the longest first, and no two that overlap in part.
 * Rows mostly come in that order; those that do not are kept apart, sorted when the line's turn comes, and
 * merged in as it is walked. What does not fit on a line is left over for a further one (a lane), so that no
 * time is changed and nothing is lost. */
#ifndef DAGTAP_FORMAT_ROWS_H
#define DAGTAP_FORMAT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model.h"

#define ROWS_NONE UINT32_MAX

struct rows_time {
	int64_t begin_ns;
	int64_t end_ns; /* not before begin_ns */
};

struct rows_run {
	uint32_t head;
	uint32_t tail;
	uint32_t count;
};

struct rows_list {
	struct rows_run main; /* in order as it was dealt out */
	struct rows_run late; /* what came behind rows that it goes before */
	struct rows_time last;
	uint8_t words; /* what is on it: bits of the caller */
};

/* The time of a row: end_ns is not before begin_ns. */
typedef struct rows_time rows_time_of(const void *table, uint32_t row);

struct rows {
	const void *table;
	size_t row_bytes;
	rows_time_of *time_of;
	uint32_t *next;
	struct rows_list *lists;
	size_t lists_count;
};

/* 0 or -ENOMEM. */
int rows_init(struct rows *rows, size_t rows_count, size_t lists_count);
void rows_release(struct rows *rows);

static inline bool rows_time_before(struct rows_time a, struct rows_time b)
{
	return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

static inline void rows_run_add(const struct rows *rows, struct rows_run *run, uint32_t row)
{
	rows->next[row] = ROWS_NONE;
	if (run->count++ == 0)
		run->head = row;
	else
		rows->next[run->tail] = row;
	run->tail = row;
}

static inline uint32_t rows_list_count(const struct rows_list *list)
{
	return list->main.count + list->late.count;
}

static inline void rows_list_deal(const struct rows *rows, struct rows_list *list, uint32_t row,
				  struct rows_time time)
{
	if (list->main.count > 0 && rows_time_before(time, list->last)) {
		rows_run_add(rows, &list->late, row);
		return;
	}
	list->last = time;
	rows_run_add(rows, &list->main, row);
}

/* Puts the late ones in order. 0 or -ENOMEM. */
int rows_list_sort(const struct rows *rows, struct rows_list *list);

/* A list is walked in an order that no cache foresees: rows are asked for so far ahead. */
#define ROWS_AHEAD 12

/* Through a sorted list by begin, then the longest first, then by row. */
struct rows_walk {
	const struct rows *rows;
	uint32_t row; /* the one to look at; ROWS_NONE at the end */
	uint32_t main, late;
	uint32_t ahead;
};

static inline void rows_walk_look_ahead(struct rows_walk *walk)
{
	const char *row;

	if (walk->ahead == ROWS_NONE)
		return;
	row = (const char *)walk->rows->table + walk->ahead * walk->rows->row_bytes;
	__builtin_prefetch(row);
	__builtin_prefetch(row + walk->rows->row_bytes - 1);
	walk->ahead = walk->rows->next[walk->ahead];
}

static inline bool rows_walk_is_late_next(const struct rows_walk *walk)
{
	const struct rows *rows = walk->rows;
	struct rows_time main, late;

	if (walk->late == ROWS_NONE || walk->main == ROWS_NONE)
		return walk->main == ROWS_NONE;
	main = rows->time_of(rows->table, walk->main);
	late = rows->time_of(rows->table, walk->late);
	return rows_time_before(late, main) ||
	       (!rows_time_before(main, late) && walk->late < walk->main);
}

static inline void rows_walk_choose(struct rows_walk *walk)
{
	walk->row = rows_walk_is_late_next(walk) ? walk->late : walk->main;
}

static inline struct rows_walk rows_walk_begin(const struct rows *rows,
					       const struct rows_list *list)
{
	struct rows_walk walk = {
		.rows = rows,
		.main = list->main.count ? list->main.head : ROWS_NONE,
		.late = list->late.count ? list->late.head : ROWS_NONE,
	};

	walk.ahead = walk.main;
	for (unsigned i = 0; i < ROWS_AHEAD; i++)
		rows_walk_look_ahead(&walk);
	rows_walk_choose(&walk);
	return walk;
}

/* The row is the caller's from then on, to be put on another list. */
static inline uint32_t rows_walk_take(struct rows_walk *walk)
{
	uint32_t row = walk->row;

	if (row == walk->late) {
		walk->late = walk->rows->next[row];
	} else {
		rows_walk_look_ahead(walk);
		walk->main = walk->rows->next[row];
	}
	rows_walk_choose(walk);
	return row;
}

/* The events around the next one, on a line where they nest. */
struct rows_nest {
	int64_t *ends;
	size_t depth;
	size_t room;
};

/* Whether an event that begins no sooner than the last one that fitted, fits on this line; then it
 * is taken to be on it. Negative errno: no memory. */
int rows_nest_take(struct rows_nest *nest, struct rows_time time);
void rows_nest_release(struct rows_nest *nest);

#endif
