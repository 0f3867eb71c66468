/* Follows a recording and loads windows of it: see live.h. */
#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/table.h"
#include "live/follower.h"
#include "live/units.h"
#include "record/spool_header.h"
#include "record/witnesses.h"

#define MOST_OPEN_BYTES (64u << 20)
#define QUIET_NS	2000000000u

struct live {
	struct follower follower;
	struct units units;
	struct live_options options;
	struct spool_info info; /* its texts lie in the follower's header */
	uint64_t mark;		/* the last unit before live_mark, once it has been met */
	uint64_t witnesses[WITNESS_COUNT]; /* of noted_witnesses; 0: none has come */
};

/* A window that is made: the runs of records that are loaded. */
struct window {
	struct units *units;
	struct record_run *runs;
	uint32_t runs_count;
	uint32_t unit_count; /* of the ready ones, the first */
	bool has_launch;     /* a unit has the launch of a graph */
};

int live_open_fd(int fd, const char *name, const struct live_options *options,
		 struct live **ret_live, struct dagtap_error *error)
{
	struct live *live = calloc(1, sizeof(*live));
	int err;

	if (!live)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", name);
	if (options)
		live->options = *options;
	if (!live->options.most_open_bytes)
		live->options.most_open_bytes = MOST_OPEN_BYTES;
	live->options.load.without_waits = true;
	live->options.load.without_ledger = true;
	units_init(&live->units, live->options.quiet_ns ? live->options.quiet_ns : QUIET_NS);
	live->units.definitions.takes_any_time = live->options.takes_any_time;
	live->units.graphs.most_bytes = live->options.most_graph_bytes;
	if (live->options.compares_launches)
		live->units.launches = calloc(1, sizeof(*live->units.launches));
	if (live->options.compares_launches && !live->units.launches)
		err = dagtap_error_set(error, -ENOMEM, "%s: out of memory", name);
	else
		err = follower_open(&live->follower, fd, name, live->options.takes_ring, error);
	if (err) {
		units_release(&live->units);
		free(live);
		return err;
	}
	live->info = spool_header_info(live->follower.header);
	/* A window has no end: what is open in it may go on. */
	live->info.closed = false;
	*ret_live = live;
	return 0;
}

int live_open(const char *path, const struct live_options *options, struct live **ret_live,
	      struct dagtap_error *error)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (fd < 0)
		return dagtap_error_set(error, -errno, "%s: %s", path, strerrordesc_np(errno));
	err = live_open_fd(fd, path, options, ret_live, error);
	close(fd);
	return err;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	follower_close(&live->follower);
	units_release(&live->units);
	free(live);
}

/* ---- windows ---- */

static int add_run(void *window_of_units, const struct record_header *record, uint32_t tid)
{
	struct window *window = window_of_units;
	struct record_run *run =
		table_add((void **)&window->runs, &window->runs_count, sizeof(*window->runs));

	if (!run)
		return -ENOMEM;
	*run = (struct record_run){record, record->words * 8u, tid};
	return 0;
}

/* Selects what RECORD, of a unit, refers to, and adds it to the window. */
static int select_record(struct window *window, const struct record_header *record, uint32_t tid)
{
	struct units *units = window->units;
	const void *at = record;
	const struct record_cuda_kernel *kernel = at;
	const struct record_cuda_copy *copy = at;

	definitions_select(&units->definitions, record, tid);
	cuda_calls_select(&units->cuda_calls, &units->definitions, cuda_calls_cid(record));
	window->has_launch |=
		record->type == RECORD_GRAPH_LAUNCH ||
		(record->type == RECORD_CUDA_KERNEL && (kernel->graph || kernel->node)) ||
		(record->type == RECORD_CUDA_COPY && (copy->graph || copy->node));
	return add_run(window, record, tid);
}

/* Selects the oldest units that are ready, and the definitions that they need. */
static int select_units(struct window *window)
{
	struct units *units = window->units;
	uint32_t number = units_ready(units), tid;
	size_t bytes = 0;
	int err = 0;

	definitions_begin(&units->definitions);
	for (; number != UNITS_NONE && bytes < LIVE_WINDOW_BYTES && err == 0;
	     number = units->rows[number].next) {
		const struct unit *unit = &units->rows[number];
		const struct record_header *record;
		size_t at = 0;

		while (err == 0 && (record = unit_next(unit, &at, &tid)))
			err = select_record(window, record, tid);
		bytes += unit->size;
		window->unit_count++;
	}
	if (err == 0)
		err = cuda_calls_selected(&units->cuda_calls, units->definitions.window, add_run,
					  window);
	if (err == 0 && window->has_launch)
		err = graph_history_selected(&units->graphs, add_run, window);
	return err == 0 ? definitions_selected(&units->definitions, add_run, window) : err;
}

/* Loads the units that are ready, up to LIVE_WINDOW_BYTES of them, and frees them. */
static int give_out(struct live *live, struct trace **ret_window)
{
	struct window window = {.units = &live->units};
	int err = select_units(&window);
	struct record_set set = {&live->info, window.runs, window.runs_count};

	if (err == 0)
		err = trace_open_records(&set, &live->options.load, ret_window);
	free(window.runs);
	if (err == 0 && window.has_launch && live->units.launches)
		cuda_launches_learn(live->units.launches, *ret_window);
	for (uint32_t i = 0; i < window.unit_count && err == 0; i++)
		units_drop(&live->units, units_ready(&live->units));
	if (err == 0 && window.has_launch && live->units.has_cuda &&
	    graph_history_is_due(&live->units.graphs)) {
		err = units_forget_graphs(&live->units, *ret_window);
		if (err < 0) {
			trace_close(*ret_window);
			*ret_window = NULL;
		}
	}
	return err;
}

static const enum witness noted_witnesses[] = {
	WITNESS_CUDA_DROPPED,
	WITNESS_CUDA_TORN_BUFFERS,
	WITNESS_CUDA_UNFINISHED_BUFFERS,
	WITNESS_SESSION_PARTS_NOT_STOPPED,
	WITNESS_CUDA_FLUSHES_FAILED,
	WITNESS_CUDA_OF_UNKNOWN_KINDS,
	WITNESS_CUDA_LAUNCHES_FAILED,
	WITNESS_CUDA_GRAPH_LAUNCHES,
	WITNESS_CUDA_KERNEL_LAUNCHES,
};

/* The counts of a recording only grow, and threads' records may come in any order. */
static void note_witness(struct live *live, const struct record_witness *record)
{
	for (size_t i = 0; i < sizeof(noted_witnesses) / sizeof(*noted_witnesses); i++) {
		const struct witness_name *name = &witness_names[noted_witnesses[i]];
		uint64_t *value = &live->witnesses[noted_witnesses[i]];

		if (strncmp(record->source, name->source, sizeof(record->source)) == 0 &&
		    strncmp(record->key, name->key, sizeof(record->key)) == 0 &&
		    record->value > *value)
			*value = record->value;
	}
}

static int take(void *context, const struct record_header *record, uint32_t tid)
{
	struct live *live = context;
	const void *at = record;

	if (record->type == RECORD_WITNESS)
		note_witness(live, at);
	return units_add(&live->units, record, tid);
}

void live_note_death(struct live *live)
{
	follower_note_death(&live->follower);
}

int live_give(struct live *live, struct trace **ret_window)
{
	int err = 0;

	*ret_window = NULL;
	if (units_ready(&live->units) != UNITS_NONE)
		err = give_out(live, ret_window);
	return err < 0 ? err : units_ready(&live->units) != UNITS_NONE;
}

int live_poll(struct live *live, struct trace **ret_window)
{
	int more = follower_read(&live->follower, LIVE_READ_BYTES, take, live);
	int err = more < 0 ? more : units_settle(&live->units);

	if (live->mark == UINT64_MAX && more >= 0 && follower_is_past_mark(&live->follower))
		live->mark = live->units.last_serial;
	*ret_window = NULL;
	if (err < 0)
		return err;
	if (live->units.bytes > live->options.most_open_bytes)
		units_cut_off(&live->units, live->options.most_open_bytes);
	err = live_give(live, ret_window);
	return err < 0 ? err : more || err;
}

int live_finish(struct live *live, struct trace **ret_window)
{
	live->info = spool_header_info(live->follower.header);
	units_cut_off(&live->units, 0);
	return live_give(live, ret_window);
}

/* ---- questions ---- */

void live_mark(struct live *live)
{
	follower_mark(&live->follower);
	live->mark = UINT64_MAX;
}

bool live_has_read(const struct live *live)
{
	return live->mark != UINT64_MAX;
}

bool live_is_past(const struct live *live)
{
	return live_has_read(live) && units_oldest(&live->units) > live->mark;
}

const struct spool_info *live_info(const struct live *live)
{
	return &live->info;
}

bool live_is_closed(const struct live *live)
{
	return follower_is_closed(&live->follower);
}

void live_count(const struct live *live, struct live_counts *ret_counts)
{
	const struct units *units = &live->units;

	*ret_counts = (struct live_counts){
		.open_bytes = units->bytes,
		.running = units->submissions_count - units->free_submission_count,
		.definition_bytes = units->definitions.bytes + units->cuda_calls.bytes,
		.cut_off = units->cut_off,
		.damaged_chunks = live->follower.damage,
		.graph_records_left_out = units->graphs.left_out,
		.cuda_dropped = live->witnesses[WITNESS_CUDA_DROPPED],
	};
	for (int state = UNIT_OPEN; state < UNIT_STATE_COUNT; state++)
		ret_counts->units_open += units->lists[state].count;
	memcpy(ret_counts->passed, units->passed, sizeof(ret_counts->passed));
	follower_count(&live->follower, &ret_counts->ring);
}

/* Whether activities may be in buffers that could not be fetched or read, or in records of whole
 * graphs, which another user of CUPTI may ask for (CUPTI_ACTIVITY_KIND_GRAPH_TRACE). */
static bool has_unread_activities(const uint64_t counts[WITNESS_COUNT])
{
	return counts[WITNESS_SESSION_PARTS_NOT_STOPPED] ||
	       counts[WITNESS_CUDA_UNFINISHED_BUFFERS] || counts[WITNESS_CUDA_TORN_BUFFERS] ||
	       counts[WITNESS_CUDA_FLUSHES_FAILED] || counts[WITNESS_CUDA_OF_UNKNOWN_KINDS];
}

void live_compare(const struct live *live, bool is_over, struct deliveries *ret)
{
	const uint64_t *counts = live->witnesses;
	const struct cuda_launch_witnesses witnesses = {
		.graph_launches = counts[WITNESS_CUDA_GRAPH_LAUNCHES],
		.launches_failed = counts[WITNESS_CUDA_LAUNCHES_FAILED],
		.kernel_launches = counts[WITNESS_CUDA_KERNEL_LAUNCHES],
	};

	*ret = (struct deliveries){0};
	if (!live->units.launches)
		return;
	cuda_launches_count(live->units.launches, &witnesses, ret);
	ret->is_known = live->units.has_cuda;
	if (!is_over || !follower_is_closed(&live->follower) || has_unread_activities(counts))
		ret->unended = ret->absent;
}
