/* Finding the moments of steady clocks (rank_steady.h). */
#include "merge/rank_steady.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "record/record.h"

/* Moments whose error is this many times the least one, and more than ERROR_GOOD_NS, are left out:
 * their reads were interrupted. */
#define ERROR_TIMES   8
#define ERROR_GOOD_NS 1000

static int compare_moments(const void *left, const void *right)
{
	const struct steady_moment *a = left, *b = right;

	return (a->host_ns > b->host_ns) - (a->host_ns < b->host_ns);
}

struct steady_clock rank_steady_sort(struct rank_steady *steady)
{
	struct steady_moment *rows = steady->rows;
	uint64_t most = UINT64_MAX;
	size_t kept = 0;

	if (steady->apart_ns == 0)
		steady->apart_ns = CLOCK_STEADY_APART_NS;
	for (size_t i = 0; i < steady->count; i++)
		most = rows[i].error_ns < most ? rows[i].error_ns : most;
	most = most > UINT64_MAX / ERROR_TIMES ? most : most * ERROR_TIMES;
	most = most > ERROR_GOOD_NS ? most : ERROR_GOOD_NS;
	if (steady->count)
		qsort(rows, steady->count, sizeof(*rows), compare_moments);
	for (size_t i = 0; i < steady->count; i++) {
		if (rows[i].error_ns <= most &&
		    (!kept || rows[i].host_ns - rows[kept - 1].host_ns >= steady->apart_ns))
			rows[kept++] = rows[i];
	}
	steady->count = kept;
	return (struct steady_clock){rows, kept};
}

static int add_moment(struct rank_steady *steady, const struct steady_moment *moment)
{
	if (steady->count == RANK_STEADY_MOST) {
		/* Times are RANK_CLOCK_TIME_MOST at most, so this ends. */
		while (rank_steady_sort(steady).count > RANK_STEADY_MOST / 2)
			steady->apart_ns *= 2;
	}
	if (table_reserve((void **)&steady->rows, &steady->room, steady->count + 1,
			  sizeof(*steady->rows)) < 0)
		return -ENOMEM;
	steady->rows[steady->count++] = *moment;
	return 0;
}

static int add_anchor(struct rank_steady *steady, const struct record_anchor *anchor)
{
	const struct steady_moment moment = {
		.host_ns = (int64_t)anchor->host_ns,
		.steady_ns = (int64_t)anchor->tick,
		/* 2: rounding of both. */
		.error_ns = anchor->uncertainty_ns / 2 + 2,
	};

	return add_moment(steady, &moment);
}

int rank_steady_add(struct rank_steady *steady, const struct record_run *runs, uint32_t run_count)
{
	int err = 0;

	for (uint32_t i = 0; i < run_count; i++) {
		const unsigned char *at = runs[i].records, *end = at + runs[i].bytes;

		for (; at < end && err == 0; at += ((const struct record_header *)at)->words * 8u) {
			const struct record_anchor *anchor = (const void *)at;

			if (anchor->header.type == RECORD_ANCHOR &&
			    anchor->header.tag == RECORD_STEADY_CLOCK &&
			    anchor->host_ns <= RANK_CLOCK_TIME_MOST &&
			    anchor->tick <= RANK_CLOCK_TIME_MOST)
				err = add_anchor(steady, anchor);
		}
	}
	return err;
}

int rank_steady_join(struct rank_steady *steady, const struct rank_steady *from)
{
	int err = 0;

	for (size_t i = 0; i < from->count && err == 0; i++)
		err = add_moment(steady, &from->rows[i]);
	return err;
}

void rank_steady_release(struct rank_steady *steady)
{
	free(steady->rows);
	*steady = (struct rank_steady){0};
}
