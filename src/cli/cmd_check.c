/* dagtap check: shows the ledger, and sets the exit status by it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/cli_columns.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/human.h"
#include "cli/rank_output.h"
#include "cli/terminal.h"
#include "format/ledger_json.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"
#include "wire/json.h"

static uint32_t source_pid(const struct trace *trace, const struct trace_source *source)
{
	return trace->processes[source->process].pid;
}

/* Counts all activities by the cause for which they are untimed. */
static void count_untimed(const struct trace *trace, uint64_t counts[RECORD_UNTIMED_COUNT])
{
	for (uint32_t i = 0; i < trace->activities_count; i++)
		counts[trace->activities[i].untimed]++;
}

static const char *const untimed_texts[] = {
#define X(name, text) [RECORD_UNTIMED_##name] = text,
	RECORD_UNTIMED(X)
#undef X
};

static void json_untimed(struct json *json, const struct trace *trace)
{
	uint64_t counts[RECORD_UNTIMED_COUNT] = {0};

	count_untimed(trace, counts);
	json_key(json, "untimed");
	json_object_begin(json);
	for (int cause = RECORD_UNTIMED_NO + 1; cause < RECORD_UNTIMED_COUNT; cause++) {
		if (counts[cause])
			json_put_u64(json, untimed_texts[cause], counts[cause]);
	}
	json_object_end(json);
}

/* Whether any source has a count to compare its rows with. Another tool's file may have none. */
static bool has_witness(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (trace->sources[i].has_expected)
			return true;
	}
	return false;
}

static int write_json(const struct trace *trace, const char *path, bool ok, FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", path);
	json_put_bool(&json, "ok", ok);
	json_put_bool(&json, "witnessed", has_witness(trace));
	json_put_text(&json, "state", ledger_state_text(trace));
	json_put_u64(&json, "lost", ledger_lost(trace));
	json_key(&json, "sources");
	json_array_begin(&json);
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		json_object_begin(&json);
		ledger_json_source(&json, trace, &trace->sources[i]);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_untimed(&json, trace);
	rank_output_put_json(&json, trace);
	ledger_json_messages(&json, trace);
	json_object_end(&json);
	return json_finish(&json);
}

int check_write_json(const struct trace *trace, const char *path, FILE *out)
{
	return write_json(trace, path, ledger_is_closed(trace), out);
}

static void put_count(struct columns *columns, uint64_t count)
{
	if (count || columns->is_csv)
		columns_put_count(columns, count);
	else
		columns_put_none(columns, COLUMN_PLAIN);
}

static void put_source(struct columns *columns, const struct trace *trace,
		       const struct trace_source *source)
{
	columns_put(columns, "%s", trace_text(trace, source->name));
	columns_put(columns, "%u", source_pid(trace, source));
	if (source->has_expected)
		columns_put_count(columns, source->expected);
	else
		columns_put_none(columns, COLUMN_PLAIN);
	columns_put_count(columns, source->received);
	put_count(columns, ledger_dropped(trace, source));
	put_count(columns, source->joined);
	put_count(columns, source->orphan_calls + source->orphan_activities);
	put_count(columns, source->untimed);
	put_count(columns, source->unexplained);
	columns_put(columns, "%s", trace_text(trace, source->witness));
}

static void print_details(const struct trace *trace)
{
	uint64_t untimed[RECORD_UNTIMED_COUNT] = {0};
	char text[HUMAN_CHARS];

	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *source = &trace->sources[i];

		for (uint32_t d = 0; d < source->drop_count; d++) {
			const struct trace_drop *drop = &trace->drops[source->drop_first + d];

			human_print("%s: %s missing: %s", trace_text(trace, source->name),
				    human_count(drop->count, text), trace_text(trace, drop->cause));
		}
		if (source->text)
			human_print("%s: %s: %s", trace_text(trace, source->name),
				    trace_text(trace, source->state),
				    trace_text(trace, source->text));
	}
	count_untimed(trace, untimed);
	for (int cause = RECORD_UNTIMED_NO + 1; cause < RECORD_UNTIMED_COUNT; cause++) {
		if (untimed[cause])
			printf("untimed: %s: %s\n", human_count(untimed[cause], text),
			       untimed_texts[cause]);
	}
	for (uint32_t i = 0; i < trace->messages_count; i++)
		human_print("%s: %s", trace->messages[i].damage ? "damage" : "note",
			    trace_text(trace, trace->messages[i].text));
}

static const char *verdict(const struct trace *trace, bool ok)
{
	if (!ok)
		return "NOT OK: something is not accounted for";
	return has_witness(trace)
		       ? "ok: everything is accounted for"
		       : "nothing to check against: no witness in the file says how much "
			 "there must be";
}

static void print_verdict(const struct trace *trace, bool ok)
{
	uint64_t lost = ledger_lost(trace);
	char text[HUMAN_CHARS];

	fputs(verdict(trace, ok), stdout);
	if (lost)
		printf(", but %s record%s lost", human_count(lost, text),
		       lost == 1 ? " was" : "s were");
	printf(" (recording %s)\n", ledger_state_text(trace));
}

static int print_sources(const struct trace *trace, bool is_csv)
{
	static const char *const heads[] = {"<source",	   "?pid",	   "?expected", "?received",
					    "?dropped",	   "?joined",	   "?orphans",	"?untimed",
					    "unexplained", "~expected by", NULL};
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = is_csv;
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *source = &trace->sources[i];

		/* A source that only reports its state has no counts. */
		if (source->has_expected || source->unexplained || source->drop_count ||
		    source->orphan_calls)
			put_source(&columns, trace, source);
	}
	return columns_print(&columns) < 0 ? cli_fail("out of memory") : CLI_OK;
}

static int print_text(const struct trace *trace, bool ok)
{
	terminal_wrap_lines();
	if (has_witness(trace)) {
		if (print_sources(trace, false) != CLI_OK)
			return CLI_FAILED;
		putchar('\n');
	}
	print_details(trace);
	print_verdict(trace, ok);
	return CLI_OK;
}

/* For tests, with DAGTAP_CHECK_WITNESS=ledger: a loss that only the software GPU's counters show
 * is a hole in the ledger. */
static int tell_hole(const struct trace *trace, const char *path)
{
	const char *wanted = getenv("DAGTAP_CHECK_WITNESS");

	if (!wanted || strcmp(wanted, "ledger") != 0 || !ledger_is_device_alone(trace))
		return CLI_OK;
	return cli_fail("%s: only the software GPU's counters show it: on a device without "
			"counters this would be ok",
			path);
}

/* Prints the one line on stderr that explains exit status 3. Returns CLI_LOSS, or CLI_OK without
 * a loss. */
static int tell_loss(const struct trace *trace, const char *path)
{
	if (cli_tell_damage(trace, path) != CLI_OK)
		return CLI_LOSS;
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *source = &trace->sources[i];

		if (source->unexplained == 0)
			continue;
		cli_fail("%s: %s: %" PRIu64 " unexplained%s%s", path,
			 trace_text(trace, source->name), source->unexplained,
			 source->text ? ": " : "", trace_text(trace, source->text));
		return CLI_LOSS;
	}
	return CLI_OK;
}

static int tell_lost(const struct trace *trace, const char *path)
{
	uint64_t lost = ledger_lost(trace);

	if (!lost)
		return CLI_OK;
	cli_fail("%s: %" PRIu64 " record%s lost, all of them counted (--strict)", path, lost,
		 human_ending(lost));
	return CLI_LOSS;
}

struct check_options {
	bool csv;
	bool json;
	bool strict;
};

static const struct cli_option options_of_check[] = {
	{"csv", .help = "print the table as CSV", OPTION_IN(check_options, csv)},
	{"json", .help = "print JSON (docs/json.md)", OPTION_IN(check_options, json)},
	{"strict", .help = "also fail if records were dropped and counted",
	 OPTION_IN(check_options, strict)},
	THREADS_OPTION,
	{0},
};

static int check(const struct cli_command *self, int argc, char **argv)
{
	struct check_options options = {0};
	struct trace *trace;
	const char *path;
	bool ok;
	int err = options_parse_file(self, argc, argv, &options, &path);

	if (err != CLI_OK)
		return err;
	if (options.csv && options.json)
		return cli_usage(self, "--json or --csv, not both");
	if (cli_open_trace(path, CLI_LEDGER | CLI_SCOPES, &trace) < 0)
		return CLI_FAILED;
	ok = ledger_is_closed(trace);
	if (options.json)
		write_json(trace, path, ok, stdout);
	else if (options.csv)
		err = print_sources(trace, true);
	else
		err = print_text(trace, ok);
	if (err == CLI_OK)
		err = cli_finish_stdout();
	if (err == CLI_OK)
		err = tell_hole(trace, path);
	if (err == CLI_OK)
		err = tell_loss(trace, path);
	if (err == CLI_OK && options.strict)
		err = tell_lost(trace, path);
	trace_close(trace);
	return err;
}

const struct cli_command cmd_check = {
	.name = "check",
	.operands = "FILE",
	.help = "the ledger: is everything accounted for?",
	.options = options_of_check,
	.notes = "Exit status 0: all accounted for; 3: something is not.\n",
	.run = check,
};
