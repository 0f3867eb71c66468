/* Distributes the rows of a table to the tracks on which they are shown. Each track has a list,
 * and all lists are linked through one array, which costs four bytes a row.
 *
 * The events of a track are ordered by begin; of equal begins the longest comes first; no two
 * events overlap partially. Rows mostly arrive in that order. Rows that arrive late are kept in a
 * second list, which rows_list_sort sorts when the track is written, and the walk merges the two.
 * A row that does not nest is left for a further track, so that no time is changed and no row is
 * lost.
 *
 * Threading: a struct rows belongs to one thread. */
#ifndef DAGTAP_FORMAT_TIMELINE_TRACK_ROWS_H
#define DAGTAP_FORMAT_TIMELINE_TRACK_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_model.h"

#define ROWS_NONE UINT32_MAX

struct rows_time {
	int64_t begin_ns;
	int64_t end_ns; /* never before begin_ns */
};

/* A singly linked list of rows. head and tail are valid only if count > 0. */
struct rows_run {
	uint32_t head;
	uint32_t tail;
	uint32_t count;
};

struct rows_list {
	struct rows_run main; /* rows that arrived in order */
	/* rows that arrived after a row that they precede; in order of arrival until
	 * rows_list_sort */
	struct rows_run late;
	struct rows_time last; /* time of the last row of `main`; valid if main.count > 0 */
	/* bits that the caller defines and sets: which kinds of work are in the list */
	uint8_t words;
};

/* The time of row ROW of TABLE. The function makes sure that end_ns is not before begin_ns. */
typedef struct rows_time rows_time_of(const void *table, uint32_t row);

struct rows {
	const void *table; /* set by the caller after rows_init, as are row_bytes and time_of */
	size_t row_bytes;  /* size of a row, for prefetching */
	rows_time_of *time_of;
	uint32_t *next; /* by row: the next row of its list, ROWS_NONE = last */
	struct rows_list *lists;
	size_t lists_count;
};

/* Allocates empty lists for ROWS_COUNT rows. Returns 0 or -ENOMEM; then nothing is left to
 * release. */
int rows_init(struct rows *rows, size_t rows_count, size_t lists_count);

/* Frees the memory. Accepts a zeroed or released struct. */
void rows_release(struct rows *rows);

/* The order of a track: by begin, then the longest first. */
static inline bool rows_time_before(struct rows_time a, struct rows_time b)
{
	return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

/* Appends ROW to RUN. ROW must be on no other list. */
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

/* Adds ROW with its TIME to the list. Cost: constant. */
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

/* Sorts the late rows. Call it before the list is walked. Returns 0 or -ENOMEM. */
int rows_list_sort(const struct rows *rows, struct rows_list *list);

/* The linked order defeats the hardware prefetcher, so a walk prefetches this many rows ahead.
 * Without it, loading and exporting 850,000 events (dagtap-bench reference --scale 0.1) to XSpace
 * takes 1.18 times the CPU time (1.08 to 1.39; bench/compare-programs.py, 16 rounds). */
#define ROWS_AHEAD 12

/* A walk through a sorted list: by begin, then the longest first, then by row index. */
struct rows_walk {
	const struct rows *rows;
	uint32_t row;	     /* the next row; ROWS_NONE at the end */
	uint32_t main, late; /* heads of what is left of the two lists */
	uint32_t ahead;	     /* the next row of `main` to prefetch */
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

/* Starts a walk. LIST is copied, so rows may be put on other lists meanwhile. */
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

/* Takes walk->row and advances; not at the end. The caller may then add the row to another list. */
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

/* The events that enclose the next one on a track: a stack of their ends. Starts zeroed. */
struct rows_nest {
	int64_t *ends;
	size_t depth;
	size_t room;
};

/* Returns 1 if an event with this time nests on the track, and adds it; 0 if it overlaps
 * partially; -ENOMEM. Events must come in the order of their begins. */
int rows_nest_take(struct rows_nest *nest, struct rows_time time);

/* Frees the memory; the stack is empty and usable again. */
void rows_nest_release(struct rows_nest *nest);

#endif
