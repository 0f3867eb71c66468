/* Calls every analysis and every writer on a loaded model: ask_everything.h. */
#include "ask_everything.h"

#include <stdlib.h>

#include "analyze/advise.h"
#include "analyze/diff.h"
#include "analyze/graph_overlap.h"
#include "analyze/idle.h"
#include "analyze/path_report.h"
#include "format/format.h"
#include "trace/ledger/ledger.h"

/* Writes TRACE, or one table of it after the other. */
static void export_as(const struct trace *trace, const struct format *format, FILE *sink)
{
	const struct format_table *table = format->tables;
	struct format_options options = {0};
	struct dagtap_error error;

	do {
		options.table = table ? table->name : NULL;
		format->write(trace, sink, &options, &error);
	} while (table && (++table)->name);
}

/* Not as SQLite, which reads the same cells as CSV, nor as a folder: creating files takes most of
 * the time that an input has. */
static void export_it(const struct trace *trace)
{
	static FILE *sink;
	const struct format *format;

	if (!sink)
		sink = fopen("/dev/null", "w");
	for (size_t i = 0; sink && (format = format_at(i)); i++) {
		if (format != &format_sqlite && format != &format_rocpd && format->write)
			export_as(trace, format, sink);
	}
}

/* Finds the critical path of the whole trace, and the causes of its streams' idle time. */
static void find_path(const struct trace *trace)
{
	const struct path_query query = {.by = PATH_WINDOW_ALL};
	struct path_windows windows = {0};
	struct path_report report;
	struct dependencies deps;
	struct idle idle;
	struct path path;

	if (dependencies_make(trace, &deps) < 0)
		return;
	path_report_init(&report, &deps);
	if (path_windows_find(trace, &query, &windows) == 0 && windows.count &&
	    path_find(&deps, &windows.rows[0], &path) == 0) {
		(void)path_report_add(&report, &windows, 0, &path);
		path_report_finish(&report);
		path_release(&path);
	}
	if (idle_init(&idle, &deps) == 0 && windows.count)
		(void)idle_add(&idle, &windows, 0);
	idle_release(&idle);
	path_report_release(&report);
	path_windows_release(&windows);
	dependencies_release(&deps);
}

void ask_everything(const struct trace *trace)
{
	struct graph_analysis analysis;
	struct graph_overlap *overlaps;
	struct summary_table table;
	struct diff_table changes;
	struct advice advice;

	(void)ledger_is_closed(trace);
	(void)summary_count(trace);
	for (int by = SUMMARY_BY_KERNEL; by <= SUMMARY_BY_API; by++) {
		if (summary_make(trace, (enum summary_by)by, &table) == 0)
			summary_release(&table);
	}
	for (int is_by_replay = 0; is_by_replay <= 1; is_by_replay++) {
		const struct diff_query query = {.by = SUMMARY_BY_NODE,
						 .is_by_replay = is_by_replay};

		if (diff_make(trace, trace, &query, &changes) == 0)
			diff_release(&changes);
	}
	if (graph_analysis_make(trace, NULL, &analysis) == 0) {
		if (graph_overlap_make(trace, &analysis, &overlaps) == 0)
			free(overlaps);
		graph_analysis_release(&analysis);
	}
	if (advise(trace, &advice) == 0)
		advice_release(&advice);
	find_path(trace);
	export_it(trace);
}
