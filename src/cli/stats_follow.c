/* The thread that reads the spools: see stats_follow.h. */
#include "cli/stats_follow.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/replace.h"
#include "base/table.h"
#include "base/timer.h"
#include "cli/cli_thread.h"
#include "cli/gather.h"
#include "cli/metrics_door.h"
#include "cli/process_watch.h"
#include "cli/spool_listing.h"
#include "cli/stats_deliveries.h"
#include "cli/stats_snapshot.h"
#include "live/live.h"
#include "stats/prometheus.h"
#include "stats/stats_file.h"

/* Records of graphs that are kept for each process. Each window with a launch is loaded with all of
 * them, so this bounds its cost, too. */
#define GRAPH_BYTES_MOST (16u << 20)

#define READS_MOST 16 /* windows of one process before the next one has its turn */

struct followed {
	char *name;	   /* of the spool, owned */
	struct live *live; /* NULL: read to its end, or not to be followed */
	uint32_t process;  /* in stats */
	int watch_fd;	   /* of process_watch_open */
};

struct stats_follow {
	struct stats_follow_options options;
	int folder_fd; /* of spools */
	struct stats_writer writer;
	FILE *out;
	struct replacement output; /* until the first process: OUT without its name */
	struct metrics_door *door;

	/* Of the thread alone. */
	struct followed *rows;
	uint32_t rows_count;
	bool watches_none;	    /* descriptors ran out: no process is watched any more */
	uint64_t interval_begin_ns; /* CLOCK_REALTIME */
	struct timer_limit interval_end;
	struct timer_limit snapshot_pause;
	bool has_outlier; /* of the window that is counted */
	struct stat_outlier outlier;
	struct stats_follow_result result;

	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* over what follows */
	pthread_cond_t ended;
	bool is_over; /* the program has ended */
	struct stats stats;
};

static void note_write(struct stats_follow *follow, int err)
{
	if (err < 0 && !follow->result.write_error)
		follow->result.write_error = err;
}

/* ---- outliers ---- */

/* Keeps the first one of a window. */
static void take_outlier(void *context, const struct stat_outlier *outlier)
{
	struct stats_follow *follow = context;

	if (!follow->has_outlier)
		follow->outlier = *outlier;
	follow->has_outlier = true;
}

/* Copies what the ring holds now, and notes the outlier. */
static void write_snapshot(struct stats_follow *follow, const char *spool)
{
	struct bundle_meta meta = {
		.version = (char *)DAGTAP_VERSION,
		.command = (char *)follow->options.command,
		.start_ns = clock_read_ns(CLOCK_REALTIME),
		.exit_status = -1,
	};
	struct stats_follow_result *result = &follow->result;
	char *path = stats_snapshot_path(follow->options.output, result->snapshots + 1);
	const struct gather_request request = {
		.folder = follow->options.folder,
		.folder_fd = follow->folder_fd,
		.output = path,
		.force = follow->options.force,
		.keep = true,
		.meta = &meta,
	};
	struct gather_result unused = {0};
	struct dagtap_error error;
	bool is_written = path && gather_one(&request, spool, &unused, &error) == 0;

	if (!path)
		dagtap_error_set(&error, -ENOMEM, "out of memory");
	result->snapshots += is_written;
	if (!is_written && !result->snapshots_failed++)
		result->snapshot_failure = error;
	note_write(follow, stats_write_outlier(&follow->writer, &follow->stats, &follow->outlier,
					       is_written ? path : NULL));
	free(path);
}

/* ---- reading ---- */

static int count_window(struct stats_follow *follow, const struct followed *row,
			const struct trace *window)
{
	int err;

	follow->has_outlier = false;
	follow->result.activities += window->activities_count;
	pthread_mutex_lock(&follow->lock);
	err = stats_take(&follow->stats, row->process, window, take_outlier, follow);
	pthread_mutex_unlock(&follow->lock);
	if (err < 0 || !follow->has_outlier || follow->result.snapshots >= STATS_SNAPSHOTS_MOST ||
	    !timer_is_over(follow->snapshot_pause))
		return err;
	follow->snapshot_pause = timer_start(TIMER_STATS_SNAPSHOT);
	write_snapshot(follow, row->name);
	return 0;
}

/* Counts and closes WINDOW, which may be NULL. MORE is of live_poll. Returns MORE, or an error. */
static int take_window(struct stats_follow *follow, const struct followed *row,
		       struct trace *window, int more)
{
	int err = more >= 0 && window ? count_window(follow, row, window) : 0;

	trace_close(window);
	return err < 0 ? err : more;
}

/* Brings the counts of what was not read into the statistics. AT_MARK: of a process that goes on,
 * live_count before its mark; else NULL. */
static void count_losses(struct stats_follow *follow, const struct followed *row, bool is_over,
			 const struct live_counts *at_mark)
{
	struct stat_process *process = &follow->stats.processes[row->process];
	struct stat_deliveries deliveries;
	struct live_counts counts;
	uint64_t lost = 0, dropped;

	live_count(row->live, &counts);
	if (at_mark)
		follower_counts_limit(&counts.ring, &at_mark->ring);
	dropped = counts.cuda_dropped;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		lost += counts.ring.lost[class];
		dropped += counts.ring.dropped[class];
	}
	deliveries = stats_deliveries_of(row->live, &counts, is_over);
	pthread_mutex_lock(&follow->lock);
	process->deliveries = deliveries;
	/* While the process writes, what is not read yet would count as lost. */
	process->lost = is_over ? lost : process->lost;
	process->dropped = dropped;
	process->no_writer = counts.ring.no_writer;
	process->cut_off = counts.cut_off;
	process->left_out = counts.graph_records_left_out;
	process->is_over = is_over;
	pthread_mutex_unlock(&follow->lock);
}

static void end_watch(struct followed *row)
{
	if (row->watch_fd >= 0)
		close(row->watch_fd);
	row->watch_fd = -1;
}

static void close_row(struct followed *row)
{
	live_close(row->live);
	row->live = NULL;
	end_watch(row);
}

static void fail(struct stats_follow *follow, struct followed *row, int err)
{
	if (!follow->result.failed++)
		dagtap_error_set(&follow->result.failure, err, "%s: %s", row->name,
				 strerrordesc_np(-err));
	close_row(row);
}

static void write_interval(struct stats_follow *follow, uint32_t process, uint64_t end_ns)
{
	int err;

	note_write(follow, stats_write_interval(&follow->writer, &follow->stats, process,
						follow->interval_begin_ns, end_ns));
	note_write(follow, stats_write_deliveries(&follow->writer, &follow->stats, process));
	pthread_mutex_lock(&follow->lock);
	err = stats_end_interval(&follow->stats, process);
	pthread_mutex_unlock(&follow->lock);
	note_write(follow, err);
}

/* Gives out what is left of a recording of which no more is read. AT_MARK as for count_losses. */
static void finish_row(struct stats_follow *follow, struct followed *row,
		       const struct live_counts *at_mark)
{
	struct trace *window;
	int more;

	do {
		more = live_finish(row->live, &window);
		more = take_window(follow, row, window, more);
	} while (more > 0);
	count_losses(follow, row, true, at_mark);
	write_interval(follow, row->process, clock_read_ns(CLOCK_REALTIME));
	note_write(follow, stats_write_end(&follow->writer, &follow->stats, row->process));
	if (more < 0) {
		fail(follow, row, more);
		return;
	}
	close_row(row);
	if (!follow->options.keep_spool && !follow->result.write_error)
		unlinkat(follow->folder_fd, row->name, 0);
}

/* Reads what a recording has now, READS_MOST windows of it at most. IS_LAST: the program has ended,
 * so all of it is read; of a process that goes on recording, what it has written until now. Returns
 * whether there may be more now. */
static bool read_row(struct stats_follow *follow, struct followed *row, bool is_last)
{
	bool is_dead = process_watch_has_ended(row->watch_fd) ||
		       (is_last && !listing_is_live(follow->folder_fd, row->name));
	bool goes_on = is_last && !is_dead;
	struct live_counts at_mark;
	uint32_t reads = 0;
	struct trace *window;
	bool is_closed, is_enough;
	int more;

	if (is_dead)
		live_note_death(row->live);
	if (goes_on) {
		live_count(row->live, &at_mark);
		live_mark(row->live);
	}
	do {
		is_closed = live_is_closed(row->live);
		more = live_poll(row->live, &window);
		more = take_window(follow, row, window, more);
		is_enough = goes_on ? live_has_read(row->live) : !is_last && ++reads == READS_MOST;
	} while (more > 0 && !is_enough);
	if (more < 0)
		fail(follow, row, more);
	else if (is_last || (more == 0 && (is_closed || is_dead)))
		finish_row(follow, row, goes_on ? &at_mark : NULL);
	return more > 0;
}

/* ---- finding recordings ---- */

static bool is_known(const struct stats_follow *follow, const char *name)
{
	for (uint32_t i = 0; i < follow->rows_count; i++) {
		if (!strcmp(follow->rows[i].name, name))
			return true;
	}
	return false;
}

/* Without a watch a killed process is noticed only when the program has ended, but its recording is
 * read. Returns whether ERR is that of a lack of descriptors, and some may be free now. */
static bool give_up_watches(struct stats_follow *follow, int err)
{
	if (err != -EMFILE || follow->watches_none)
		return false;
	follow->watches_none = true;
	for (uint32_t i = 0; i < follow->rows_count; i++)
		end_watch(&follow->rows[i]);
	return true;
}

/* Begins to follow a spool. Returns 0 or a negative errno. */
static int open_row(struct stats_follow *follow, struct followed *row)
{
	const struct live_options options = {
		.takes_ring = true,
		.most_graph_bytes = GRAPH_BYTES_MOST,
		.compares_launches = true,
		.load = {.is_brief = true},
	};
	int fd = listing_open(follow->folder_fd, row->name);
	const struct spool_info *info;
	int err;

	if (fd < 0)
		return -errno;
	err = live_open_fd(fd, row->name, &options, &row->live, NULL);
	close(fd);
	if (err < 0)
		return err;
	info = live_info(row->live);
	pthread_mutex_lock(&follow->lock);
	err = stats_add_process(&follow->stats, info->pid, info->session, info->exe,
				info->start_realtime_ns, &row->process);
	pthread_mutex_unlock(&follow->lock);
	if (!follow->watches_none)
		row->watch_fd = process_watch_open(info->pid, row->name);
	return err;
}

static void add_row(struct stats_follow *follow, const char *name)
{
	struct followed *row = table_add((void **)&follow->rows, &follow->rows_count, sizeof(*row));
	int err;

	if (!row)
		return;
	row->watch_fd = -1;
	row->name = strdup(name);
	if (!row->name) {
		follow->rows_count--;
		return;
	}
	if (!follow->result.processes++)
		note_write(follow, replace_commit(&follow->output, NULL));
	err = open_row(follow, row);
	if (give_up_watches(follow, err))
		err = open_row(follow, row);
	if (err < 0)
		fail(follow, row, err);
}

static void find_rows(struct stats_follow *follow)
{
	struct dirent **entries;
	int count = scandirat(follow->folder_fd, ".", &entries, listing_is_spool, alphasort);

	if (count < 0 && give_up_watches(follow, -errno))
		count = scandirat(follow->folder_fd, ".", &entries, listing_is_spool, alphasort);
	for (int i = 0; i < count; i++) {
		if (!is_known(follow, entries[i]->d_name))
			add_row(follow, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void end_intervals(struct stats_follow *follow)
{
	uint64_t now_ns = clock_read_ns(CLOCK_REALTIME);

	for (uint32_t i = 0; i < follow->rows_count; i++) {
		if (!follow->rows[i].live)
			continue;
		count_losses(follow, &follow->rows[i], false, NULL);
		write_interval(follow, follow->rows[i].process, now_ns);
	}
	follow->interval_begin_ns = now_ns;
	follow->interval_end = timer_start_ns(follow->options.interval_ns);
}

/* Returns whether there may be more to read now. */
static bool read_all(struct stats_follow *follow, bool is_last)
{
	bool has_more = false;

	find_rows(follow);
	for (uint32_t i = 0; i < follow->rows_count; i++) {
		if (follow->rows[i].live)
			has_more |= read_row(follow, &follow->rows[i], is_last);
	}
	if (!is_last && timer_is_over(follow->interval_end))
		end_intervals(follow);
	return has_more;
}

/* ---- the thread ---- */

/* Waits until the next read, unless HAS_MORE. Returns whether the program has ended. */
static bool await(struct stats_follow *follow, bool has_more)
{
	struct timer_limit limit = has_more ? timer_start_ns(0) : timer_start(TIMER_STATS_POLL);
	bool is_over;

	pthread_mutex_lock(&follow->lock);
	while (!follow->is_over && timer_wait_for(&follow->ended, &follow->lock, limit))
		;
	is_over = follow->is_over;
	pthread_mutex_unlock(&follow->lock);
	return is_over;
}

static void *follow_all(void *context)
{
	struct stats_follow *follow = context;
	bool has_more = false;

	while (!await(follow, has_more))
		has_more = read_all(follow, false);
	read_all(follow, true);
	return NULL;
}

/* Lets the thread read all that is left. */
static void end_thread(struct stats_follow *follow)
{
	if (!follow->has_thread)
		return;
	pthread_mutex_lock(&follow->lock);
	follow->is_over = true;
	pthread_cond_signal(&follow->ended);
	pthread_mutex_unlock(&follow->lock);
	pthread_join(follow->thread, NULL);
}

int stats_follow_start(struct stats_follow *follow, int folder_fd, struct dagtap_error *error)
{
	int err;

	follow->folder_fd = folder_fd;
	err = cli_thread_start(&follow->thread, follow_all, follow);
	follow->has_thread = !err;
	return err < 0 ? dagtap_error_set(error, err, "no thread: %s", strerrordesc_np(-err)) : 0;
}

static int write_metrics(void *context, FILE *out)
{
	struct stats_follow *follow = context;
	int err;

	pthread_mutex_lock(&follow->lock);
	err = prometheus_write(&follow->stats, out);
	pthread_mutex_unlock(&follow->lock);
	return err;
}

/* ---- start and end ---- */

static void release(struct stats_follow *follow)
{
	metrics_door_close(follow->door);
	for (uint32_t i = 0; i < follow->rows_count; i++) {
		close_row(&follow->rows[i]);
		free(follow->rows[i].name);
	}
	free(follow->rows);
	stats_release(&follow->stats);
	if (follow->out)
		fclose(follow->out);
	replace_abandon(&follow->output);
	pthread_cond_destroy(&follow->ended);
	pthread_mutex_destroy(&follow->lock);
	free(follow);
}

static int open_output(struct stats_follow *follow, struct dagtap_error *error)
{
	const struct stats_follow_options *options = &follow->options;
	char host[256] = "";
	int fd;
	int err = replace_begin(&follow->output, options->output, options->force, REPLACE_NAMELESS,
				0666, &fd, error);

	if (err < 0)
		return err;
	follow->out = fdopen(fd, "w");
	if (!follow->out) {
		close(fd);
		return dagtap_error_set(error, -ENOMEM, "out of memory");
	}
	gethostname(host, sizeof(host) - 1);
	follow->interval_begin_ns = clock_read_ns(CLOCK_REALTIME);
	follow->interval_end = timer_start_ns(options->interval_ns);
	err = stats_write_head(&follow->writer, follow->out, host, options->command,
			       follow->interval_begin_ns);
	return err < 0 ? dagtap_error_set(error, err, "%s: %s", options->output,
					  strerrordesc_np(-err))
		       : 0;
}

int stats_follow_open(const struct stats_follow_options *options, struct stats_follow **ret_follow,
		      struct dagtap_error *error)
{
	struct stats_follow *follow = calloc(1, sizeof(*follow));
	int err;

	if (!follow)
		return dagtap_error_set(error, -ENOMEM, "out of memory");
	follow->options = *options;
	pthread_mutex_init(&follow->lock, NULL);
	pthread_cond_init(&follow->ended, NULL);
	err = stats_init(&follow->stats);
	follow->stats.outlier_factor = options->outlier_factor;
	if (err == 0 && options->metrics)
		err = metrics_door_open(options->metrics, write_metrics, follow, &follow->door,
					error);
	else if (err < 0)
		dagtap_error_set(error, err, "out of memory");
	if (err == 0)
		err = open_output(follow, error);
	if (err < 0) {
		release(follow);
		return err;
	}
	*ret_follow = follow;
	return 0;
}

const char *stats_follow_address(const struct stats_follow *follow)
{
	return follow->door ? metrics_door_address(follow->door) : NULL;
}

void stats_follow_finish(struct stats_follow *follow, struct stats_follow_result *ret_result)
{
	struct stats_follow_result *result = &follow->result;
	struct stat status;

	end_thread(follow);
	result->keys = follow->stats.keys_count;
	for (uint32_t i = 0; i < follow->stats.processes_count; i++) {
		const struct stat_process *process = &follow->stats.processes[i];

		result->lost += process->lost;
		result->dropped += process->dropped;
		result->no_writer += process->no_writer;
		result->left_out += process->left_out;
		result->missing += process->deliveries.missing;
		result->outliers += process->outliers;
	}
	if (fstat(fileno(follow->out), &status) == 0)
		result->file_bytes = (uint64_t)status.st_size;
	*ret_result = *result;
	release(follow);
}
