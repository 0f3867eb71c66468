/* Keys, rows, and the activities of a window: see stats.h. */
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "format/words.h"
#include "trace/collective.h"

#define OUTLIER_QUANTILE 0.99

const char *stat_kind_text(enum stat_kind kind)
{
	static const char *const texts[] = {
#define X(name, text) text,
		STAT_KINDS(X)
#undef X
	};

	return texts[kind];
}

int stats_init(struct stats *stats)
{
	*stats = (struct stats){0};
	return strtab_init(&stats->names);
}

static void release_process(struct stat_process *process)
{
	for (uint32_t i = 0; i < process->rows_count; i++) {
		sketch_release(&process->rows[i].interval);
		sketch_release(&process->rows[i].total);
	}
	free(process->rows);
}

void stats_release(struct stats *stats)
{
	for (uint32_t i = 0; i < stats->processes_count; i++)
		release_process(&stats->processes[i]);
	free(stats->processes);
	free(stats->keys);
	numbers_release(&stats->nodes);
	numbers_release(&stats->key_numbers);
	strtab_release(&stats->names);
	*stats = (struct stats){0};
}

int stats_add_process(struct stats *stats, uint32_t pid, uint32_t session, const char *exe,
		      uint64_t start_realtime_ns, uint32_t *ret_process)
{
	uint32_t name = strtab_intern_z(&stats->names, exe);
	struct stat_process *process =
		table_add((void **)&stats->processes, &stats->processes_count, sizeof(*process));

	if (!process || stats->names.failed)
		return -ENOMEM;
	process->pid = pid;
	process->session = session;
	process->exe = name;
	process->start_realtime_ns = start_realtime_ns;
	*ret_process = stats->processes_count - 1;
	return 0;
}

void stats_add_deliveries(struct stat_deliveries *sum, const struct stat_deliveries *more)
{
	sum->is_known |= more->is_known;
#define X(name, help) sum->name += more->name;
	STAT_DELIVERIES(X)
#undef X
}

/* ---- keys and rows ---- */

uint32_t stats_get_key(struct stats *stats, enum stat_kind kind, const char *name, uint64_t graph,
		       uint32_t node)
{
	uint32_t text = strtab_intern_z(&stats->names, name);
	uint32_t place = numbers_get(&stats->nodes, graph, node);
	struct stat_key *added;
	void *is_new;
	int64_t number;

	if (stats->names.failed || place == NUMBERS_NONE)
		return UINT32_MAX;
	number = numbers_row(&stats->key_numbers, (uint64_t)kind << 32 | text, place,
			     (void **)&stats->keys, &stats->keys_count, sizeof(*stats->keys),
			     &is_new);
	if (number < 0)
		return UINT32_MAX;
	added = is_new;
	if (added)
		*added = (struct stat_key){kind, text, graph, node};
	return (uint32_t)number;
}

struct stat_row *stats_get_row(struct stats *stats, uint32_t process, uint32_t key)
{
	struct stat_process *of = &stats->processes[process];

	while (of->rows_count <= key) {
		if (!table_add((void **)&of->rows, &of->rows_count, sizeof(*of->rows)))
			return NULL;
	}
	return &of->rows[key];
}

/* ---- outliers ---- */

/* Finds the limit of a row anew. Without memory the old one stays. */
static void find_limit(const struct stats *stats, struct stat_row *row, uint64_t count)
{
	struct sketch all = {0};

	row->limit_count = count;
	if (sketch_merge(&all, &row->total) == 0 && sketch_merge(&all, &row->interval) == 0)
		row->limit_ns = stats->outlier_factor * sketch_quantile(&all, OUTLIER_QUANTILE);
	sketch_release(&all);
}

/* ---- activities ---- */

/* The state of one call of stats_take. */
struct taking {
	struct stats *stats;
	uint32_t process;
	const struct trace *window;
	uint32_t *work_keys; /* by work: its key + 1, or 0 */
	bool is_outlier;     /* the activity that is counted, under one of its keys */
	stat_outlier_take *take;
	void *context;
};

static bool has_duration(const struct trace_activity *activity)
{
	return activity->untimed == RECORD_UNTIMED_NO && activity->end_ns >= activity->start_ns;
}

/* An activity that is an outlier under several of its keys is one. */
static void check_outlier(struct taking *taking, uint32_t key, const struct stat_row *row,
			  const struct trace_activity *activity)
{
	uint64_t duration_ns = (uint64_t)(activity->end_ns - activity->start_ns);
	const struct stat_outlier outlier = {taking->process, key, duration_ns, row->limit_ns,
					     activity->start_ns};

	if (taking->is_outlier || row->limit_ns == 0 || (double)duration_ns <= row->limit_ns)
		return;
	taking->is_outlier = true;
	taking->stats->processes[taking->process].outliers++;
	if (taking->take)
		taking->take(taking->context, &outlier);
}

static int count_under(struct taking *taking, uint32_t key, const struct trace_activity *activity)
{
	struct stat_row *row;
	uint64_t count;
	int err;

	row = key == UINT32_MAX ? NULL : stats_get_row(taking->stats, taking->process, key);
	if (!row)
		return -ENOMEM;
	if (!has_duration(activity)) {
		row->untimed++;
		return 0;
	}
	check_outlier(taking, key, row, activity);
	err = sketch_add(&row->interval, (uint64_t)(activity->end_ns - activity->start_ns));
	count = row->total.count + row->interval.count;
	if (err == 0 && taking->stats->outlier_factor > 0 && count >= STAT_OUTLIER_LEAST &&
	    count >= 2 * row->limit_count)
		find_limit(taking->stats, row, count);
	return err;
}

static uint32_t work_key(const struct taking *taking, uint32_t work)
{
	const struct trace_work *row = &taking->window->works[work];
	uint32_t key;

	if (taking->work_keys[work])
		return taking->work_keys[work] - 1;
	key = stats_get_key(taking->stats, row->kind == TRACE_KERNEL ? STAT_KERNEL : STAT_COPY,
			    words_work(taking->window, row), 0, 0);
	if (key != UINT32_MAX)
		taking->work_keys[work] = key + 1;
	return key;
}

/* The function of RCCL that started the kernel, or that around it; the kernel's name if there is
 * none, or one that groups others. */
static const char *collective_name(const struct trace *window,
				   const struct trace_activity *activity, const char *kernel)
{
	uint32_t call = activity->call;

	for (int depth = 0; call != TRACE_NONE && depth < 64; depth++) {
		const struct trace_call *row = &window->calls[call];
		const char *name = trace_text(window, window->apis[row->api].name);

		if (trace_domain_of(window, row) == RECORD_DOMAIN_RCCL && !strstr(name, "Group"))
			return name;
		call = row->parent;
	}
	return kernel;
}

static int take_activity(struct taking *taking, const struct trace_activity *activity)
{
	const struct trace *window = taking->window;
	const struct trace_work *work = trace_work_of(window, activity);
	const char *kernel = trace_text(window, work->name);
	const struct trace_node *node;
	int err;

	taking->is_outlier = false;
	err = count_under(taking, work_key(taking, activity->work), activity);

	if (err == 0 && work->kind == TRACE_KERNEL && trace_is_collective_name(kernel))
		err = count_under(taking,
				  stats_get_key(taking->stats, STAT_COLLECTIVE,
						collective_name(window, activity, kernel), 0, 0),
				  activity);
	if (err < 0 || activity->node == TRACE_NONE)
		return err;
	node = &window->nodes[activity->node];
	return count_under(taking,
			   stats_get_key(taking->stats, STAT_NODE, words_work(window, work),
					 window->graphs[node->graph].id, node->index),
			   activity);
}

int stats_take(struct stats *stats, uint32_t process, const struct trace *window,
	       stat_outlier_take *take, void *context)
{
	struct taking taking = {
		.stats = stats,
		.process = process,
		.window = window,
		.take = take,
		.context = context,
	};
	int err = 0;

	taking.work_keys = calloc((size_t)window->works_count + 1, sizeof(*taking.work_keys));
	if (!taking.work_keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < window->activities_count && err == 0; i++)
		err = take_activity(&taking, &window->activities[i]);
	free(taking.work_keys);
	return err;
}

int stats_end_interval(struct stats *stats, uint32_t process)
{
	struct stat_process *of = &stats->processes[process];

	of->deliveries_before = of->deliveries;
	for (uint32_t i = 0; i < of->rows_count; i++) {
		struct stat_row *row = &of->rows[i];

		if (sketch_merge(&row->total, &row->interval) < 0)
			return -ENOMEM;
		sketch_release(&row->interval);
		row->untimed_total += row->untimed;
		row->untimed = 0;
	}
	return 0;
}
