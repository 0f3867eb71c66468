/* Prints the result of `dagtap scopes` as text. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli_columns.h"
#include "cli/cmd_scopes.h"
#include "cli/human.h"
#include "cli/kernel_names.h"
#include "cli/path_names.h"
#include "cli/step_options.h"

/* Rows of each comparison, if --limit gives no smaller number. */
#define COMPARISON_ROWS 8

/* Puts a difference with its sign. */
static void put_difference(struct columns *columns, int64_t ns)
{
	char text[HUMAN_CHARS];

	columns_put(columns, "%s%s",
		    ns > 0   ? "+"
		    : ns < 0 ? "-"
			     : "",
		    human_ns(ns < 0 ? -(double)ns : (double)ns, text));
}

static int print_columns(struct columns *columns, uint32_t shown, uint32_t count)
{
	if (columns_print(columns) < 0)
		return cli_fail("out of memory");
	if (shown < count && !columns->is_csv)
		printf("... %u more (--limit 0 shows all)\n", count - shown);
	return CLI_OK;
}

/* ---- all scopes ---- */

static int print_groups(const struct scopes_result *result)
{
	static const char *const heads[] = {"count",   "?host p50", "GPU total", "?GPU mean",
					    "?stddev", "?GPU p50",  "?GPU p99",	 "?activities",
					    "<scope",  NULL};
	uint32_t shown = scopes_rows_shown(result, result->groups.count);
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = result->is_csv;
	for (uint32_t i = 0; i < shown; i++) {
		const struct scope_group *row = &result->groups.rows[i];

		columns_put_count(&columns, row->scopes);
		columns_put_ns(&columns, row->host.p50);
		columns_put_ns(&columns, (double)row->projection.total);
		columns_put_ns(&columns, row->projection.mean);
		columns_put_ns(&columns, row->projection.stddev);
		columns_put_ns(&columns, row->projection.p50);
		columns_put_ns(&columns, row->projection.p99);
		columns_put_count(&columns, row->activities);
		columns_put(&columns, "%s", row->name);
	}
	return print_columns(&columns, shown, result->groups.count);
}

/* ---- the instances of a scope ---- */

static int print_figures(const struct scopes_result *result)
{
	static const char *const heads[] = {"<figure", "?count", "mean", "?stddev", "?min",
					    "p50",     "?p90",	 "?p99", "?max",    NULL};
	struct columns columns;

	columns_init(&columns, heads);
	for (int figure = 0; figure < SCOPE_FIGURE_COUNT; figure++) {
		const struct distribution *row = &result->stats.figures[figure];

		columns_put(&columns, "%s", scopes_figure_text((enum scope_figure)figure));
		columns_put_count(&columns, row->count);
		columns_put_ns(&columns, row->mean);
		columns_put_ns(&columns, row->stddev);
		columns_put_ns(&columns, (double)row->min);
		columns_put_ns(&columns, row->p50);
		columns_put_ns(&columns, row->p90);
		columns_put_ns(&columns, row->p99);
		columns_put_ns(&columns, (double)row->max);
	}
	return print_columns(&columns, 0, 0);
}

static int print_causes(const struct scopes_result *result)
{
	static const char *const heads[] = {"mean", "?%", "<GPUs were idle for", NULL};
	const struct scope_stats *stats = &result->stats;
	const struct distribution *idle = &stats->figures[SCOPE_IDLE];
	struct columns columns;

	if (idle->total == 0)
		return CLI_OK;
	putchar('\n');
	columns_init(&columns, heads);
	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		if (stats->cause_ns[cause] == 0)
			continue;
		columns_put_ns(&columns, (double)stats->cause_ns[cause] / idle->count);
		columns_put(&columns, "%.1f",
			    100.0 * (double)stats->cause_ns[cause] / (double)idle->total);
		columns_put(&columns, "%s", idle_cause_text((enum idle_cause)cause));
	}
	return print_columns(&columns, 0, 0);
}

static const char *mark_of(const struct scope_stats *stats, uint32_t instance)
{
	if (stats->rows[instance].is_outlier)
		return "outlier";
	return instance == stats->median ? "median" : "";
}

static int print_instances(const struct scopes_result *result)
{
	static const char *const heads[] = {"nth",	   "host",  "projection", "?busy", "?idle",
					    "?activities", "~mark", "<scope",	  NULL};
	const struct scope_stats *stats = &result->stats;
	uint32_t shown = scopes_rows_shown(result, stats->instances.count);
	struct columns columns;

	if (!result->is_csv)
		putchar('\n');
	columns_init(&columns, heads);
	columns.is_csv = result->is_csv;
	for (uint32_t i = 0; i < shown; i++) {
		const struct scope_instance *row = &stats->rows[i];

		columns_put(&columns, "%u", i);
		for (int figure = 0; figure < SCOPE_FIGURE_COUNT; figure++) {
			if (figure != SCOPE_HOST && row->work.timed == 0)
				columns_put_none(&columns, COLUMN_NS);
			else
				columns_put_ns(&columns,
					       (double)scope_figure(result->trace, row,
								    (enum scope_figure)figure));
		}
		columns_put_count(&columns, row->work.timed + row->work.untimed);
		columns_put(&columns, "%s", mark_of(stats, i));
		columns_put(&columns, "%s", path_scope_text(result->trace, row->scope));
	}
	return print_columns(&columns, shown, stats->instances.count);
}

/* ---- what differs ---- */

static int print_parts(const struct scopes_result *result, const struct scope_parts *parts,
		       bool is_node)
{
	static const char *const heads[] = {"difference", "this", "?median", "?count",
					    "?of median", NULL,	  NULL};
	const char *all[7];
	uint32_t shown = scopes_rows_shown(result, parts->count);
	struct columns columns;

	if (result->limit && shown > COMPARISON_ROWS)
		shown = COMPARISON_ROWS;
	for (int i = 0; i < 5; i++)
		all[i] = heads[i];
	all[5] = is_node ? "<node" : "<what";
	all[6] = NULL;
	columns_init(&columns, all);
	for (uint32_t i = 0; i < shown; i++) {
		const struct scope_part *part = &parts->rows[i];
		bool is_idle = part->kind == SCOPE_PART_IDLE;

		put_difference(&columns, scope_part_difference(part));
		columns_put_ns(&columns, (double)part->ns[1]);
		columns_put_ns(&columns, (double)part->ns[0]);
		columns_put(&columns, is_idle ? "" : "%" PRIu64, part->count[1]);
		columns_put(&columns, is_idle ? "" : "%" PRIu64, part->count[0]);
		columns_put(&columns, "%s%s", is_idle ? "idle: " : "",
			    kernel_names_text(scopes_part_name(result->trace, part, is_node)));
	}
	return print_columns(&columns, shown, parts->count);
}

static int print_comparison(const struct scopes_result *result,
			    const struct scopes_comparison *comparison)
{
	const struct scope_stats *stats = &result->stats;
	const struct scope_instance *row = &stats->rows[comparison->instance];
	const struct scope_instance *median = &stats->rows[stats->median];
	char text[HUMAN_CHARS], median_text[HUMAN_CHARS];
	int err = CLI_OK;

	putchar('\n');
	human_print("instance %u, \"%s\": %s, against %s of the median instance %u, \"%s\"",
		    comparison->instance, path_scope_text(result->trace, row->scope),
		    human_ns((double)scope_figure(result->trace, row, SCOPE_PROJECTION), text),
		    human_ns((double)scope_figure(result->trace, median, SCOPE_PROJECTION),
			     median_text),
		    stats->median, path_scope_text(result->trace, median->scope));
	if (comparison->works.count == 0)
		puts("nothing differs in count or time");
	else
		err = print_parts(result, &comparison->works, false);
	if (err == CLI_OK && comparison->nodes.count)
		err = print_parts(result, &comparison->nodes, true);
	return err;
}

static int print_comparisons(const struct scopes_result *result)
{
	uint32_t shown = scopes_rows_shown(result, result->comparisons_count);

	for (uint32_t i = 0; i < shown; i++) {
		int err = print_comparison(result, &result->comparisons[i]);

		if (err != CLI_OK)
			return err;
	}
	if (shown < result->comparisons_count)
		printf("\n... %u more outliers (--limit 0 shows all)\n",
		       result->comparisons_count - shown);
	return CLI_OK;
}

int scopes_print_text(const struct scopes_result *result)
{
	const struct scope_stats *stats = &result->stats;
	char count[HUMAN_CHARS], worked[HUMAN_CHARS];
	int err;

	if (!result->pattern) {
		err = print_groups(result);
		if (err == CLI_OK && !result->is_csv)
			step_option_offer(result->trace,
					  "\nNo scope is a step; --step-of can take ", stdout);
		return err;
	}
	if (result->is_csv)
		return print_instances(result);
	human_print("scope \"%s\": %s instance%s, %s with timed work on a GPU", result->pattern,
		    human_count(stats->instances.count, count),
		    human_ending(stats->instances.count),
		    human_count(stats->figures[SCOPE_PROJECTION].count, worked));
	err = print_figures(result);
	if (err == CLI_OK)
		err = print_causes(result);
	if (err == CLI_OK)
		err = print_instances(result);
	return err == CLI_OK ? print_comparisons(result) : err;
}
