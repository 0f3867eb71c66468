/* dagtap path: finds the critical path of one or more windows of time, and why streams were idle.
 * path_text.c and path_json.c print the result. */
#include "cli/cmd_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer_frame.h"
#include "cli/answers.h"
#include "cli/filter_options.h"
#include "cli/help.h"
#include "cli/step_options.h"

#define TEXT_ROWS 20

struct path_options {
	struct answer_options answer; /* without a filter */
	struct path_query query;
	struct filter_time from, to;
	char steps[STEP_PATTERN_CHARS]; /* the pattern, where --step-of gives it */
};

/* ---- options ---- */

static bool read_replay(const char *text, struct path_query *query)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	query->graph = strtoull(text, &end, 10);
	return *end == ':' && cli_is_number(end + 1, &query->number);
}

/* Handlers of the options that choose the windows. */

static int choose_window(const struct cli_command *self, enum path_window_by by,
			 struct path_options *options)
{
	struct path_query *query = &options->query;

	if (query->by != PATH_WINDOW_ALL && query->by != by)
		return cli_usage(self, "one of --scope, --step, --replay and --from with --to");
	query->by = by;
	return CLI_OK;
}

static int take_scope(const struct cli_command *self, const char *value, void *values)
{
	struct path_options *options = values;

	options->query.text = value;
	return choose_window(self, PATH_WINDOW_SCOPE, options);
}

static int take_step(const struct cli_command *self, const char *value, void *values)
{
	struct path_options *options = values;
	int err = options_take_u64(self, "step", value, &options->query.number);

	return err == CLI_OK ? choose_window(self, PATH_WINDOW_STEP, options) : err;
}

static int take_replay(const struct cli_command *self, const char *value, void *values)
{
	struct path_options *options = values;

	if (!read_replay(value, &options->query))
		return cli_usage(self, "--replay takes GRAPH:N, not \"%s\"", value);
	return choose_window(self, PATH_WINDOW_REPLAY, options);
}

static int take_from(const struct cli_command *self, const char *value, void *values)
{
	struct path_options *options = values;
	int err = filter_options_read_time(self, "from", value, &options->from);

	return err == CLI_OK ? choose_window(self, PATH_WINDOW_RANGE, options) : err;
}

static int take_to(const struct cli_command *self, const char *value, void *values)
{
	struct path_options *options = values;
	int err = filter_options_read_time(self, "to", value, &options->to);

	return err == CLI_OK ? choose_window(self, PATH_WINDOW_RANGE, options) : err;
}

static const struct cli_option options_of_path[] = {
	{"scope", .argument = "TEXT",
	 .help = "of each instance of this scope, or pattern, as in 'token *'",
	 .kind = OPTION_HANDLER, .take = take_scope},
	{"nth", .argument = "N", .help = "with --scope or --step: of one instance, from 0",
	 .kind = OPTION_NUMBER, OPTION_IN(path_options, query.nth)},
	{"step", .argument = "N",
	 .help = "of scopes like \"step N\", \"ProfilerStep#N\", \"train N\"",
	 .kind = OPTION_HANDLER, .take = take_step},
	STEP_OPTION(path_options, answer.step_of),
	{"replay", .argument = "GRAPH:N", .help = "of the graph's Nth replay, from 0",
	 .kind = OPTION_HANDLER, .take = take_replay},
	{"from", .argument = "TIME",
	 .help = "of the time from here on: ns as the recording has them, or since its begin with "
		 "a unit, as in 1.5s",
	 .kind = OPTION_HANDLER, .take = take_from},
	{"to", .argument = "TIME", .help = "of the time up to here", .kind = OPTION_HANDLER,
	 .take = take_to},
	ANSWER_LIMIT(path_options, answer,
		     "rows to show, 0 = all (default 20; JSON has all unless given)"),
	ANSWER_OUTPUTS(path_options, answer),
	{0},
};

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct path_options *options)
{
	int err = options_parse_file(self, argc, argv, options, &options->answer.path);

	if (err == CLI_OK && options->answer.step_of && options->query.by == PATH_WINDOW_ALL) {
		options->query.by = PATH_WINDOW_SCOPE;
		options->query.text = step_query_pattern(options->answer.step_of, options->steps);
	}
	if (err == CLI_OK && options->query.nth != PATH_WINDOW_EACH &&
	    options->query.by != PATH_WINDOW_SCOPE && options->query.by != PATH_WINDOW_STEP)
		err = cli_usage(self, "--nth needs --scope, --step or --step-of");
	return err;
}

/* ---- analysis ---- */

/* The query of OPTIONS, with the times that count from the begin of TRACE in host ns. */
static struct path_query query_of(const struct path_options *options, const struct trace *trace)
{
	struct path_query query = options->query;
	int64_t begin_ns = 0, end_ns;

	if (options->from.is_relative || options->to.is_relative)
		path_bounds(trace, &begin_ns, &end_ns);
	query.begin_ns = filter_moment(&options->from, begin_ns, INT64_MIN);
	query.end_ns = filter_moment(&options->to, begin_ns, INT64_MAX);
	return query;
}

/* Computes all of RESULT but its dependencies. Returns 0 or a negative errno; the caller calls
 * release in any case. */
static int find(struct path_result *result)
{
	int code = path_windows_find(result->trace, &result->query, &result->windows);

	path_report_init(&result->report, result->deps);
	if (code == 0)
		code = path_jumps_find(result->deps, &result->jumps);
	if (code == 0)
		code = idle_init(&result->idle, result->deps);
	for (uint32_t i = 0; i < result->windows.count && code == 0; i++) {
		struct path path;

		code = path_find_across(result->deps, &result->jumps, &result->windows.rows[i],
					&path);
		if (code < 0)
			break;
		code = path_report_add(&result->report, &result->windows, i, &path);
		path_release(&path);
		if (code == 0)
			code = idle_add(&result->idle, &result->windows, i);
	}
	if (code == 0) {
		path_report_finish(&result->report);
		idle_finish(&result->idle);
	}
	return code;
}

static void release(struct path_result *result)
{
	path_report_release(&result->report);
	idle_release(&result->idle);
	path_windows_release(&result->windows);
	path_jumps_release(&result->jumps);
}

static int tell_no_range(const struct path_result *result)
{
	int64_t first_ns, last_ns;

	path_bounds(result->trace, &first_ns, &last_ns);
	if (first_ns >= last_ns)
		return cli_fail("%s: no activity in it has times", result->file);
	if (result->query.begin_ns >= result->query.end_ns)
		return cli_fail("%s: --to is not after --from", result->file);
	return cli_fail("%s: it lasts from %" PRId64 " to %" PRId64
			" ns: nothing of that is between --from and --to",
			result->file, first_ns, last_ns);
}

static int tell_nothing(const struct path_result *result)
{
	const struct path_query *query = &result->query;

	switch (query->by) {
	case PATH_WINDOW_SCOPE:
		return cli_fail("%s: no scope \"%s\"%s", result->file, query->text,
				query->nth == PATH_WINDOW_EACH ? "" : " with that number");
	case PATH_WINDOW_STEP:
		return cli_fail("%s: no scope says that it is step %" PRIu64, result->file,
				query->number);
	case PATH_WINDOW_REPLAY:
		return cli_fail("%s: graph %" PRIu64 " has no timed replay %" PRIu64
				"; `dagtap graph` lists the graphs",
				result->file, query->graph, query->number);
	case PATH_WINDOW_RANGE:
		return tell_no_range(result);
	case PATH_WINDOW_ALL:
		break;
	}
	return cli_fail("%s: no activity in it has times", result->file);
}

static int print(struct trace *trace, const void *path_options)
{
	const struct path_options *options = path_options;
	struct dependencies deps = {0};
	struct path_result result = {
		.file = options->answer.path,
		.query = query_of(options, trace),
		.limit = options->answer.limit,
		.is_csv = options->answer.csv,
		.trace = trace,
		.deps = &deps,
	};
	int code = dependencies_make(trace, &deps), exit_code = CLI_OK;

	if (code == 0)
		code = find(&result);
	if (code < 0)
		exit_code = cli_fail("%s: %s", result.file,
				     code == -E2BIG ? "too large: more waits than can be counted"
						    : "out of memory");
	else if (result.windows.count == 0)
		exit_code = tell_nothing(&result);
	else if (options->answer.json)
		path_put_json(&result, stdout);
	else
		exit_code = path_print_text(&result);
	release(&result);
	dependencies_release(&deps);
	return exit_code;
}

int path_write_json(const struct dependencies *deps, const char *path, uint32_t limit, FILE *out)
{
	struct path_result result = {
		.file = path,
		.query = {.nth = PATH_WINDOW_EACH, .begin_ns = INT64_MIN, .end_ns = INT64_MAX},
		.limit = limit,
		.trace = deps->trace,
		.deps = deps,
	};
	int err = find(&result);

	if (err == 0)
		err = result.windows.count ? path_put_json(&result, out) : -ENODATA;
	release(&result);
	return err;
}

static int path(const struct cli_command *self, int argc, char **argv)
{
	struct path_options options = {
		.answer = {.limit = ROWS_DEFAULT, .parts = CLI_WAITS | CLI_SCOPES},
		.query = {.nth = PATH_WINDOW_EACH},
	};
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	return answer_run(self, &options.answer, (struct answer_rows){.text = TEXT_ROWS}, print,
			  &options);
}

const struct cli_command cmd_path = {
	.name = "path",
	.operands = "FILE",
	.help = "the critical path: which work waited for which, and why streams were idle",
	.options = options_of_path,
	.run = path,
};
