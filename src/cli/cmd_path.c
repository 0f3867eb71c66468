/* dagtap path: finds the critical path of one or more windows of time, and why streams were idle.
 * path_text.c and path_json.c print the result. */
#include "cli/cmd_path.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/load.h"

#define TEXT_ROWS 20

struct path_options {
	const char *path;
	struct path_query query;
	uint32_t limit;
	bool has_limit;
	bool json;
	bool help;
};

/* ---- options ---- */

static bool take_replay(const char *text, struct path_query *query)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	query->graph = strtoull(text, &end, 10);
	return *end == ':' && cli_is_number(end + 1, &query->number);
}

static bool take_ns(const char *text, int64_t *ret_ns)
{
	char *end;

	*ret_ns = strtoll(text, &end, 10);
	return end != text && *end == '\0';
}

/* Handles the options that choose the windows. */
static int take_window(const struct cli_command *self, int option, struct path_query *query)
{
	enum path_window_by by = PATH_WINDOW_RANGE;

	if (option == 's') {
		by = PATH_WINDOW_SCOPE;
		query->text = optarg;
	} else if (option == 't') {
		by = PATH_WINDOW_STEP;
		if (cli_take_number(self, "--step", &query->number) != CLI_OK)
			return CLI_USAGE;
	} else if (option == 'r') {
		by = PATH_WINDOW_REPLAY;
		if (!take_replay(optarg, query))
			return cli_usage(self, "--replay takes GRAPH:N, not \"%s\"", optarg);
	} else if (!take_ns(optarg, option == 'f' ? &query->begin_ns : &query->end_ns)) {
		return cli_usage(self, "--from and --to take ns, not \"%s\"", optarg);
	}
	if (query->by != PATH_WINDOW_ALL && query->by != by)
		return cli_usage(self, "one of --scope, --step, --replay and --from with --to");
	query->by = by;
	return CLI_OK;
}

static int parse(const struct cli_command *self, int argc, char **argv,
		 struct path_options *options)
{
	static const struct option long_options[] = {
		{"scope", required_argument, NULL, 's'}, {"nth", required_argument, NULL, 'n'},
		{"step", required_argument, NULL, 't'},	 {"replay", required_argument, NULL, 'r'},
		{"from", required_argument, NULL, 'f'},	 {"to", required_argument, NULL, 'e'},
		{"limit", required_argument, NULL, 'l'}, {"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},	 {0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (option == 'j') {
			options->json = true;
		} else if (option == 'h') {
			options->help = true;
		} else if (option == 'n') {
			if (cli_take_number(self, "--nth", &options->query.nth) != CLI_OK)
				return CLI_USAGE;
		} else if (option == 'l') {
			if (cli_take_limit(self, &options->limit) != CLI_OK)
				return CLI_USAGE;
			options->has_limit = true;
		} else if (option == '?') {
			return cli_usage(self, "see dagtap path --help");
		} else if (take_window(self, option, &options->query) != CLI_OK) {
			return CLI_USAGE;
		}
	}
	if (!options->help && optind + 1 != argc)
		return cli_usage(self, optind < argc ? "one file at a time" : "which file?");
	if (options->query.nth != PATH_WINDOW_EACH && options->query.by != PATH_WINDOW_SCOPE &&
	    options->query.by != PATH_WINDOW_STEP)
		return cli_usage(self, "--nth goes with --scope or --step");
	options->path = argv[optind];
	return CLI_OK;
}

/* ---- analysis ---- */

/* Computes all of RESULT. Returns 0 or a negative errno; the caller calls release in any case. */
static int find(const struct trace *trace, struct path_result *result)
{
	int code = dependencies_make(trace, &result->deps);

	if (code == 0)
		code = path_windows_find(trace, &result->query, &result->windows);
	path_report_init(&result->report, &result->deps);
	if (code == 0)
		code = idle_init(&result->idle, &result->deps);
	for (uint32_t i = 0; i < result->windows.count && code == 0; i++) {
		struct path path;

		code = path_find(&result->deps, &result->windows.rows[i], &path);
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
	dependencies_release(&result->deps);
}

static int tell_no_range(const struct path_result *result)
{
	int64_t first_ns, last_ns;

	path_bounds(result->trace, &first_ns, &last_ns);
	if (first_ns >= last_ns)
		return cli_fail("%s: nothing in it has times", result->file);
	if (result->query.begin_ns >= result->query.end_ns)
		return cli_fail("%s: --to is not after --from", result->file);
	return cli_fail("%s: it goes from %" PRId64 " to %" PRId64
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
	return cli_fail("%s: nothing in it has times", result->file);
}

static int print(const struct trace *trace, const struct path_options *options)
{
	struct path_result result = {
		.file = options->path,
		.query = options->query,
		.limit = options->limit,
		.trace = trace,
	};
	int code = find(trace, &result), exit_code;

	if (code < 0)
		exit_code =
			cli_fail("%s: %s", options->path,
				 code == -E2BIG ? "too large: more waits meet than can be counted"
						: "out of memory");
	else if (result.windows.count == 0)
		exit_code = tell_nothing(&result);
	else if (options->json)
		exit_code = path_print_json(&result);
	else
		exit_code = path_print_text(&result);
	release(&result);
	return exit_code == CLI_OK ? cli_finish_stdout() : exit_code;
}

int cli_path(const struct cli_command *self, int argc, char **argv)
{
	struct path_options options = {
		.query = {.nth = PATH_WINDOW_EACH, .begin_ns = INT64_MIN, .end_ns = INT64_MAX},
	};
	struct trace *trace;
	int err = parse(self, argc, argv, &options);

	if (err != CLI_OK)
		return err;
	if (options.help)
		return cli_help(self);
	if (!options.has_limit)
		options.limit = options.json ? 0 : TEXT_ROWS;
	if (cli_open_trace(options.path, true, &trace) < 0)
		return CLI_FAILED;
	err = print(trace, &options);
	if (err == CLI_OK)
		err = cli_tell_damage(trace, options.path);
	trace_close(trace);
	return err;
}
