/* dagtap info: shows what this machine can record, or what a recording holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/cli_columns.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/human.h"
#include "cli/machine_probe.h"
#include "cli/rank_output.h"
#include "cli/step_options.h"
#include "cli/terminal.h"
#include "format/words.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"
#include "wire/json.h"

static void print_machine_json(const struct machine_source *sources)
{
	struct json json;

	json_init(&json, stdout);
	json_object_begin(&json);
	json_put_text(&json, "version", DAGTAP_VERSION);
	json_key(&json, "sources");
	json_array_begin(&json);
	for (int i = 0; i < MACHINE_SOURCE_COUNT; i++) {
		json_row_begin(&json);
		json_put_text(&json, "name", sources[i].name);
		json_put_bool(&json, "available", sources[i].is_there);
		json_put_text(&json, "text", sources[i].text);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_finish(&json);
}

struct info_options {
	bool csv;
	bool json;
};

static int print_machine(const struct info_options *options)
{
	static const char *const heads[] = {"<source", "<here", "<what", "=where, or why not",
					    NULL};
	struct machine_source sources[MACHINE_SOURCE_COUNT];
	struct columns columns;
	int err = CLI_OK;

	machine_probe(sources);
	columns_init(&columns, heads);
	columns.is_csv = options->csv;
	if (!options->csv && !options->json)
		terminal_wrap_lines();
	for (int i = 0; i < MACHINE_SOURCE_COUNT && !options->json; i++) {
		columns_put(&columns, "%s", sources[i].name);
		columns_put(&columns, "%s", sources[i].is_there ? "yes" : "no");
		columns_put(&columns, "%s", sources[i].help);
		columns_put(&columns, "%s", sources[i].text ? sources[i].text : "");
	}
	if (options->json)
		print_machine_json(sources);
	else if (columns_print(&columns) < 0)
		err = cli_fail("out of memory");
	for (int i = 0; i < MACHINE_SOURCE_COUNT; i++)
		free(sources[i].text);
	return err == CLI_OK ? cli_finish_stdout() : err;
}

/* X(name): the tables of the model whose row counts are shown, in this order. */
#define CONTENTS(X)                                                                                \
	X(processes)                                                                               \
	X(threads)                                                                                 \
	X(agents)                                                                                  \
	X(queues)                                                                                  \
	X(streams)                                                                                 \
	X(scopes)                                                                                  \
	X(calls)                                                                                   \
	X(activities)                                                                              \
	X(barriers)                                                                                \
	X(events)                                                                                  \
	X(event_records)                                                                           \
	X(waits)                                                                                   \
	X(memory_operations)                                                                       \
	X(overheads)                                                                               \
	X(graphs)                                                                                  \
	X(nodes)                                                                                   \
	X(execs)                                                                                   \
	X(launches)

/* As ledger_state_text, of one process. */
static const char *process_state_text(const struct trace *trace, uint32_t process)
{
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (trace->messages[i].damage && trace->messages[i].process == process)
			return "damaged";
	}
	return trace->processes[process].state == TRACE_COMPLETE ? "complete" : "truncated";
}

static void json_processes(struct json *json, const struct trace *trace)
{
	json_key(json, "processes");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		const struct trace_process *row = &trace->processes[i];

		json_row_begin(json);
		json_put_u64(json, "pid", row->pid);
		json_put_u64(json, "parent_pid", row->parent_pid);
		json_put_text(json, "command", trace_text(trace, row->command));
		json_put_text(json, "exe", trace_text(trace, row->exe));
		json_put_i64(json, "start_ns", row->start_ns);
		json_put_i64(json, "end_ns", row->end_ns);
		json_put_u64(json, "start_realtime_ns", row->start_realtime_ns);
		json_put_text(json, "state", process_state_text(trace, i));
		json_object_end(json);
	}
	json_array_end(json);
}

/* The PCI address ("0000:c1:00.0"), and the card's partition. */
static void json_place(struct json *json, const struct trace_agent *row)
{
	uint32_t place = row->pci_location;
	char text[32];

	if (!row->has_location)
		return;
	snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", row->pci_domain, place >> 8 & 0xff,
		 place >> 3 & 0x1f, place & 7);
	json_put_text(json, "pci", text);
	json_put_u64(json, "partition", place >> 28);
}

static void json_agents(struct json *json, const struct trace *trace)
{
	json_key(json, "agents");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->agents_count; i++) {
		const struct trace_agent *row = &trace->agents[i];

		json_row_begin(json);
		json_put_u64(json, "pid", trace->processes[row->process].pid);
		json_put_u64(json, "index", row->index);
		json_put_bool(json, "gpu", row->is_gpu);
		json_put_text(json, "name", trace_text(trace, row->name));
		json_put_text(json, "product", trace_text(trace, row->product));
		json_put_text(json, "uuid", trace_text(trace, row->uuid));
		json_place(json, row);
		json_put_u64(json, "memory_bytes", row->memory_bytes);
		json_put_u64(json, "compute_units", row->compute_units);
		json_put_u64(json, "anchors", row->anchor_count);
		json_put_double(json, "clock_residual_ns", row->fit_error_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_queues(struct json *json, const struct trace *trace)
{
	json_key(json, "queues");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->queues_count; i++) {
		const struct trace_queue *row = &trace->queues[i];

		json_row_begin(json);
		json_put_u64(json, "pid", trace->processes[row->process].pid);
		json_put_u64(json, "id", row->id);
		json_put_u64(json, "size", row->size);
		json_put_text(json, "mode", words_queue_mode(row->mode));
		json_object_end(json);
	}
	json_array_end(json);
}

/* The states of the capture sources. Their counts belong to the ledger (dagtap check). */
static void json_sources(struct json *json, const struct trace *trace)
{
	json_key(json, "sources");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *row = &trace->sources[i];

		if (!row->text)
			continue;
		json_row_begin(json);
		json_put_u64(json, "pid", trace->processes[row->process].pid);
		json_put_text(json, "name", trace_text(trace, row->name));
		json_put_text(json, "state", trace_text(trace, row->state));
		json_put_text(json, "text", trace_text(trace, row->text));
		json_object_end(json);
	}
	json_array_end(json);
}

int info_write_json(const struct trace *trace, const char *path, FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", path);
	json_put_text(&json, "command", trace_text(trace, trace->command));
	json_put_i64(&json, "exit_status", trace->exit_status);
	json_put_text(&json, "state", ledger_state_text(trace));
	json_key(&json, "counts");
	json_object_begin(&json);
#define X(name) json_put_u64(&json, #name, trace->name##_count);
	CONTENTS(X)
#undef X
	json_object_end(&json);
	step_option_put_json(&json, trace);
	json_processes(&json, trace);
	json_agents(&json, trace);
	json_queues(&json, trace);
	json_sources(&json, trace);
	rank_output_put_json(&json, trace);
	json_key(&json, "messages");
	json_array_begin(&json);
	for (uint32_t i = 0; i < trace->messages_count; i++)
		json_text(&json, trace_text(trace, trace->messages[i].text));
	json_array_end(&json);
	json_object_end(&json);
	return json_finish(&json);
}

static void print_agents(const struct trace *trace)
{
	char memory[HUMAN_CHARS], residual[HUMAN_CHARS];

	for (uint32_t i = 0; i < trace->agents_count; i++) {
		const struct trace_agent *row = &trace->agents[i];
		char clock[96] = "";

		if (!row->is_gpu)
			continue;
		/* Files of other tools have no anchors: their times are host times. */
		if (row->anchor_count)
			snprintf(clock, sizeof(clock), ", clock fitted through %u anchor%s to %s",
				 row->anchor_count, human_ending(row->anchor_count),
				 human_ns(row->fit_error_ns, residual));
		human_print("process %u GPU %u: %s%s%s, %u compute units, %s%s",
			    trace->processes[row->process].pid, row->gpu_ordinal,
			    trace_text(trace, row->name), row->product ? " " : "",
			    trace_text(trace, row->product), row->compute_units,
			    human_bytes(row->memory_bytes, memory), clock);
	}
}

/* Prints, for each process, how many of its queues were traced in which mode. */
static void print_queue_modes(const struct trace *trace)
{
	for (uint32_t p = 0; p < trace->processes_count; p++) {
		for (int mode = 1; mode < RECORD_QUEUE_MODE_COUNT; mode++) {
			uint32_t count = 0;

			for (uint32_t i = 0; i < trace->queues_count; i++)
				count += trace->queues[i].process == p &&
					 (int)trace->queues[i].mode == mode;
			if (count)
				printf("process %u: %u HSA queue%s in mode %s\n",
				       trace->processes[p].pid, count, human_ending(count),
				       words_queue_mode((enum record_queue_mode)mode));
		}
	}
}

static void print_sources(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *row = &trace->sources[i];

		if (row->text)
			human_print("process %u %s: %s, %s", trace->processes[row->process].pid,
				    trace_text(trace, row->name), trace_text(trace, row->state),
				    trace_text(trace, row->text));
	}
}

static void print_contents_text(const struct trace *trace)
{
	char text[HUMAN_CHARS];

	terminal_wrap_lines();
	if (trace->command)
		human_print("command: %s (exit status %d)", trace_text(trace, trace->command),
			    trace->exit_status);
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		const struct trace_process *row = &trace->processes[i];

		human_print("process %u: %s%s%s, %s", row->pid, trace_text(trace, row->command),
			    row->command ? ", " : "",
			    human_ns((double)(row->end_ns - row->start_ns), text),
			    process_state_text(trace, i));
	}
	print_agents(trace);
	print_queue_modes(trace);
	print_sources(trace);
#define X(name) printf("%-17s %s\n", #name, human_count(trace->name##_count, text));
	CONTENTS(X)
#undef X
	step_option_offer(trace, "no scope is a step; --step-of can take ", stdout);
	for (uint32_t i = 0; i < trace->messages_count; i++)
		human_print("%s: %s", trace->messages[i].damage ? "damage" : "note",
			    trace_text(trace, trace->messages[i].text));
}

/* How many rows each table of the model has. */
static int print_contents_csv(const struct trace *trace)
{
	static const char *const heads[] = {"<table", "rows", NULL};
	struct columns columns;

	columns_init(&columns, heads);
	columns.is_csv = true;
#define X(name)                                                                                    \
	columns_put(&columns, "%s", #name);                                                        \
	columns_put_count(&columns, trace->name##_count);
	CONTENTS(X)
#undef X
	return columns_print(&columns) < 0 ? cli_fail("out of memory") : CLI_OK;
}

static const struct cli_option options_of_info[] = {
	{"csv", .help = "print a table as CSV: what can be recorded, or of FILE the number of rows",
	 OPTION_IN(info_options, csv)},
	{"json", .help = "print JSON (docs/json.md)", OPTION_IN(info_options, json)},
	THREADS_OPTION,
	{0},
};

static int info(const struct cli_command *self, int argc, char **argv)
{
	struct info_options options = {0};
	struct trace *trace;
	int first, err = options_parse(self, argc, argv, &options, &first);

	if (err != CLI_OK)
		return err;
	if (options.csv && options.json)
		return cli_usage(self, "--json or --csv, not both");
	if (first == argc)
		return print_machine(&options);
	if (first + 1 != argc)
		return cli_usage(self, "one file at a time");
	if (cli_open_trace(argv[first], CLI_PARTS_ALL, &trace) < 0)
		return CLI_FAILED;
	if (options.json)
		info_write_json(trace, argv[first], stdout);
	else if (options.csv)
		err = print_contents_csv(trace);
	else
		print_contents_text(trace);
	if (err == CLI_OK)
		err = cli_finish_stdout();
	if (err == CLI_OK)
		err = cli_tell_damage(trace, argv[first]);
	trace_close(trace);
	return err;
}

const struct cli_command cmd_info = {
	.name = "info",
	.operands = "[FILE]",
	.help = "what can be recorded here, or what a recording holds",
	.options = options_of_info,
	.run = info,
};
