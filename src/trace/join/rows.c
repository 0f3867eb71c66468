/* The stage of rows: the second and last walk through a process's records. It makes the rows of
 * calls, activities and barrier packets, each at its place, and gives activities their completions.
 *
 * Places are known because the first walk has learned all ids and counted the activities of each
 * call. Threads share the parts of the file; call_rows.c, submissions.c and completions.c do the
 * work and say where the order of the file counts. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/workers.h"
#include "trace/join/completions.h"
#include "trace/join/submissions.h"
#include "trace/load/call_rows.h"
#include "trace/row_table.h"

/* ---- the activities of each call ---- */

static int count_part(void *process_load, unsigned worker, uint32_t number)
{
	const struct process_load *load = process_load;
	const struct raw_records *raw = &load->raw;
	uint32_t calls = raw->cids.count;
	struct idset_near near = {0};
	const struct activity_runs_part *part = &raw->runs.parts[number];

	for (struct activity_run *run = part->first; run != part->end; run++) {
		uint64_t cid = cuda_outer_cid(&load->cuda, activity_run_cid(run));
		uint32_t rank = cid ? idset_find_near(&raw->cids, cid, &near) : UINT32_MAX;

		run->call = rank == UINT32_MAX ? calls : rank;
		run->first = __atomic_fetch_add(&load->call_notes.activity_firsts[run->call],
						run->count, __ATOMIC_RELAXED);
	}
	return 0;
}

/* Counts the activities of each call, behind them those without a call, and gives them their
 * places. */
static int find_places(struct process_load *load)
{
	uint32_t count = load->raw.cids.count, next = load->trace->activities_count;
	uint32_t *firsts = table_zeroed(count + 2ull, sizeof(*firsts));
	int err;

	if (!firsts)
		return -ENOMEM;
	load->call_notes.activity_firsts = firsts;
	err = workers_run(WORKERS_ALL, origin_part_count(load->raw.origin), count_part, load);
	for (uint32_t i = 0; i < count + 2; i++) {
		uint32_t more = firsts[i];

		firsts[i] = next;
		next += more;
	}
	return err;
}

/* ---- the walk ---- */

struct row_walk {
	struct process_load *load;
	struct call_rows *calls;
	struct submission_rows *submissions;
	uint64_t matched, unmatched; /* completions that have a submission, or none */
	pthread_mutex_t lock;	     /* for load->long_completions */
};

/* Records from the one that is read to the one that is expected: in fewer, what the dispatch needs
 * does not come from memory. */
#define RECORDS_AHEAD 8

/* The expected record, and the end of its chunk. */
struct expected_record {
	const char *at, *end;
};

static inline void expect_next(const struct row_walk *rows, unsigned worker,
			       struct expected_record *expected)
{
	const struct record_header *header = (const void *)expected->at;

	if (expected->at == expected->end)
		return;
	if (header->type == RECORD_DISPATCH)
		submission_rows_expect(rows->submissions, worker, (const void *)header);
	expected->at += (size_t)header->words * 8;
}

/* Looks ahead within the chunk that WALK is in. */
static inline void look_ahead(const struct row_walk *rows, unsigned worker,
			      const struct origin_walk *walk, struct expected_record *expected)
{
	if (expected->end != walk->end) {
		*expected = (struct expected_record){walk->at, walk->end};
		for (int i = 1; i < RECORDS_AHEAD; i++)
			expect_next(rows, worker, expected);
	}
	expect_next(rows, worker, expected);
}

static int read_records(const struct row_walk *rows, unsigned worker, uint32_t part,
			struct origin_walk *walk, struct completion_reader *completions)
{
	struct expected_record expected = {0};
	const struct record_header *header;
	int err = 0;

	while (err == 0 && (header = origin_walk_next(walk))) {
		uint64_t type = ORIGIN_TYPE(header->type) & walk->types;

		look_ahead(rows, worker, walk, &expected);
		if (type & ORIGIN_TYPE(RECORD_API))
			err = call_rows_read(rows->calls, worker, part, (const void *)header,
					     walk->tid);
		else if (type & COMPLETION_TYPES)
			err = completion_read(completions, header);
		else if (type)
			err = submission_rows_read(rows->submissions, worker, header);
	}
	return err;
}

static int read_part(void *row_walk, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct row_walk *rows = row_walk;
	struct completion_reader completions = {.load = rows->load, .lock = &rows->lock};
	int err;

	submission_rows_begin_part(rows->submissions, worker, part);
	err = read_records(rows, worker, part, walk, &completions);
	__atomic_fetch_add(&rows->matched, completions.matched, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rows->unmatched, completions.unmatched, __ATOMIC_RELAXED);
	if (err == 0 && walk->types & SUBMISSION_TYPES)
		err = submission_rows_end_part(rows->submissions, worker);
	return err == 0 ? call_rows_end_part(rows->calls, part) : err;
}

static int walk_types(struct row_walk *rows, uint64_t types, unsigned threads)
{
	return origin_share(rows->load->raw.origin, types, threads, read_part, rows);
}

/* Of several completions of a submission the first in the file counts. No file that dagtap writes
 * has any, so the threads only notice them; then one thread reads all again, in order. */
static int settle_completions(struct row_walk *rows)
{
	struct process_load *load = rows->load;
	uint64_t kept = completions_count(load);
	int err = 0;

	if (rows->matched != kept) {
		completions_clear(load);
		rows->matched = rows->unmatched = 0;
		err = walk_types(rows, COMPLETION_TYPES, 1);
	}
	load->tally.unmatched_done += rows->unmatched + rows->matched - kept;
	return err;
}

static int walk_all(struct row_walk *rows)
{
	struct process_load *load = rows->load;
	uint64_t calls = ORIGIN_TYPE(RECORD_API);
	uint64_t others = SUBMISSION_TYPES | COMPLETION_TYPES;
	unsigned call_threads = call_rows_threads(rows->calls);
	unsigned other_threads = submission_rows_threads(load);
	int err;

	if (!load->without_ledger)
		others |= ORIGIN_TYPE(RECORD_BARRIER);
	if (call_threads == other_threads) {
		err = walk_types(rows, calls | others, call_threads);
	} else {
		err = walk_types(rows, calls, call_threads);
		if (err == 0)
			err = walk_types(rows, others, other_threads);
	}
	return err == 0 ? settle_completions(rows) : err;
}

static int make_rows(struct row_walk *rows)
{
	struct process_load *load = rows->load;
	int err = find_places(load);

	if (err == 0)
		err = call_rows_create(load, &rows->calls);
	if (err == 0)
		err = submission_rows_create(load, &rows->submissions);
	if (err == 0)
		err = completions_init(load);
	if (err == 0)
		err = walk_all(rows);
	if (err == 0)
		err = call_rows_finish(rows->calls);
	return err == 0 ? submission_rows_finish(rows->submissions) : err;
}

int rows_load(struct process_load *load)
{
	struct row_walk rows = {.load = load, .lock = PTHREAD_MUTEX_INITIALIZER};
	int err = make_rows(&rows);

	call_rows_release(rows.calls);
	submission_rows_release(rows.submissions);
	completions_release(load);
	activity_runs_release(&load->raw.runs);
	pthread_mutex_destroy(&rows.lock);
	return err;
}
