/* dagtap merge: the recordings of a job's ranks in one file, on one clock. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/table.h"
#include "cli/cli.h"
#include "cli/cli_columns.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/human.h"
#include "cli/merge_inputs.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "merge/rank_clocks.h"
#include "merge/rank_collectives.h"
#include "merge/rank_notes.h"
#include "merge/rank_recording.h"
#include "trace/pack/bundle.h"

/* Wall clocks that a time server keeps are better than that. */
#define WALL_ERROR_NS 1000000000ull

/* Processes on one machine read both clocks within this of each other. */
#define SAME_CLOCK_NS 1000000

#define COPY_BYTES (1 << 20)

struct merge_options {
	const char *output;
	bool force;
	uint64_t wall_error_ns;
};

/* The state of a merge. */
struct merge {
	const struct merge_options *options;
	char **paths;
	uint32_t path_count;
	struct ranks ranks;
	struct bundle_meta meta; /* of the output; start_ns and exit_status */
	struct collective *rows; /* of all files */
	size_t row_count, row_room;
	struct rank_process *processes; /* times as recorded, until the clocks are known */
	uint32_t process_count;
	struct rank_member *members;
	uint32_t member_count;
	struct clock_facts *facts; /* by clock */
	uint32_t fact_count;
	char **hosts; /* by clock: name of the machine */
	uint32_t host_count;
	struct rank_steady *steady; /* by clock */
	uint32_t steady_count;
	char *losses; /* of all files, one line each */
};

static int out_of_memory(void)
{
	return cli_fail("out of memory");
}

/* ---- reading ---- */

/* What is known of the clock of PROCESS, whose times are possible. */
static struct clock_facts facts_of(const struct trace_process *process)
{
	struct clock_facts facts = {.first_ns = INT64_MAX, .last_ns = INT64_MIN};

	if (process->start_realtime_ns && process->start_realtime_ns <= RANK_CLOCK_TIME_MOST) {
		facts.wall_ns = (int64_t)process->start_realtime_ns - process->start_ns;
		facts.has_wall = true;
	}
	return facts;
}

/* The clock of the machine that FIRST, a process of TRACE, ran on; a new one if no file before was
 * recorded there. Two machines of one name did not start within a ms. Returns a negative errno on
 * failure. */
static int64_t clock_of(struct merge *merge, const struct trace *trace,
			const struct trace_process *first)
{
	const char *host = trace_text(trace, first->host);
	const struct clock_facts known = facts_of(first);
	struct clock_facts *facts;
	char **place;

	for (uint32_t i = 0; i < merge->fact_count; i++) {
		int64_t apart_ns = merge->facts[i].wall_ns - known.wall_ns;

		if (known.has_wall && merge->facts[i].has_wall && !strcmp(merge->hosts[i], host) &&
		    apart_ns > -SAME_CLOCK_NS && apart_ns < SAME_CLOCK_NS)
			return i;
	}
	facts = table_add((void **)&merge->facts, &merge->fact_count, sizeof(*facts));
	place = facts ? table_add((void **)&merge->hosts, &merge->host_count, sizeof(*place))
		      : NULL;
	if (!place ||
	    !table_add((void **)&merge->steady, &merge->steady_count, sizeof(*merge->steady)))
		return -ENOMEM;
	*facts = known;
	*place = strdup(host);
	return *place ? (int64_t)merge->fact_count - 1 : -ENOMEM;
}

static int keep_processes(struct merge *merge, const struct trace *trace, uint32_t clock)
{
	struct clock_facts *facts = &merge->facts[clock];

	for (uint32_t i = 0; i < trace->processes_count; i++) {
		const struct trace_process *from = &trace->processes[i];
		struct rank_process *row =
			table_add((void **)&merge->processes, &merge->process_count, sizeof(*row));

		if (!row)
			return -ENOMEM;
		*row = (struct rank_process){
			merge->ranks.file_count,
			from->pid,
			from->session,
			from->state == TRACE_TRUNCATED,
			from->start_ns,
			from->end_ns > from->start_ns ? from->end_ns : from->start_ns};
		if (row->start_ns < facts->first_ns)
			facts->first_ns = row->start_ns;
		if (row->end_ns > facts->last_ns)
			facts->last_ns = row->end_ns;
	}
	return 0;
}

/* Adds what was found in a file whose processes begin at FIRST. */
static int keep_collectives(struct merge *merge, const struct rank_collectives *found,
			    uint32_t clock, uint32_t first)
{
	struct rank_member *members;

	if (table_reserve((void **)&merge->rows, &merge->row_room, merge->row_count + found->count,
			  sizeof(*merge->rows)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < found->count; i++) {
		merge->rows[merge->row_count] = found->rows[i];
		merge->rows[merge->row_count++].clock = clock;
	}
	members = table_extend((void **)&merge->members, &merge->member_count, found->member_count,
			       sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (uint32_t i = 0; i < found->member_count; i++) {
		members[i] = found->members[i];
		members[i].process += first;
	}
	return 0;
}

static int keep_trace(struct merge *merge, const struct trace *trace, uint32_t clock)
{
	uint32_t first = merge->process_count;
	struct rank_collectives found;
	int err = rank_collectives_find(trace, &found);

	if (err < 0)
		return err;
	err = keep_processes(merge, trace, clock);
	if (err == 0)
		err = keep_collectives(merge, &found, clock, first);
	rank_collectives_release(&found);
	return err;
}

/* Adds the lines of a file's processes that were not recorded, with the file's name. */
static int keep_losses(struct merge *merge, const char *path, const char *losses)
{
	while (losses && *losses) {
		size_t bytes = strcspn(losses, "\n");
		char *text = NULL;

		if (asprintf(&text, "%s%s: %.*s\n", merge->losses ? merge->losses : "", path,
			     (int)bytes, losses) < 0)
			return -ENOMEM;
		free(merge->losses);
		merge->losses = text;
		losses += bytes + (losses[bytes] == '\n');
	}
	return 0;
}

static int keep_meta(struct merge *merge, const char *path, const struct bundle_meta *meta)
{
	if (merge->ranks.file_count == 0) {
		merge->meta = *meta;
		merge->meta.command = strdup(meta->command ? meta->command : "");
		if (!merge->meta.command)
			return -ENOMEM;
	}
	if (meta->start_ns < merge->meta.start_ns)
		merge->meta.start_ns = meta->start_ns;
	if (merge->meta.exit_status == 0)
		merge->meta.exit_status = meta->exit_status;
	return keep_losses(merge, path, meta->losses);
}

static bool is_copied(const struct bundle_section *section)
{
	return section->type == BUNDLE_SPOOL || section->type == BUNDLE_PACKED;
}

static uint32_t count_sections(const struct bundle *bundle)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < bundle->section_count; i++)
		count += is_copied(&bundle->sections[i]);
	return count;
}

/* Takes what is needed of the file of a rank, which is open as BUNDLE and RECORDING. Returns a
 * cli_exit. */
static int keep_rank(struct merge *merge, const char *path, const struct bundle *bundle,
		     const struct rank_recording *recording)
{
	const struct trace *first = recording->traces[0];
	int64_t clock;
	int err;

	if (first->processes_count == 0)
		return cli_fail("%s: no process is recorded in it", path);
	err = merge_inputs_check_times(path, recording);
	if (err != CLI_OK)
		return err;
	clock = clock_of(merge, first, &first->processes[0]);
	if (clock < 0 || keep_meta(merge, path, &bundle->meta) < 0 ||
	    rank_steady_join(&merge->steady[clock], &recording->steady) < 0)
		return out_of_memory();
	for (uint32_t i = 0; i < recording->count; i++) {
		if (keep_trace(merge, recording->traces[i], (uint32_t)clock) < 0)
			return out_of_memory();
	}
	return ranks_add_file(&merge->ranks, path, (uint32_t)clock, count_sections(bundle)) < 0
		       ? out_of_memory()
		       : CLI_OK;
}

static int read_rank(struct merge *merge, const char *path)
{
	struct rank_recording recording;
	struct dagtap_error error;
	struct bundle bundle;
	int err;

	if (bundle_open(path, &bundle, &error) < 0)
		return cli_fail_error(&error);
	if (bundle.ranks.file_count)
		err = cli_fail("%s: is merged already; merge the files of its ranks", path);
	else if (rank_recording_open(path, &bundle, &recording, &error) < 0)
		err = cli_fail_error(&error);
	else {
		err = keep_rank(merge, path, &bundle, &recording);
		rank_recording_close(&recording);
	}
	bundle_close(&bundle);
	return err;
}

/* ---- the clocks ---- */

static int fit_clocks(struct merge *merge)
{
	struct ranks *ranks = &merge->ranks;
	uint32_t reference = 0;

	if (!merge->facts)
		return out_of_memory();
	for (uint32_t i = 0; i < merge->fact_count; i++)
		merge->facts[i].steady = rank_steady_sort(&merge->steady[i]);
	ranks->clocks = table_zeroed(merge->fact_count, sizeof(*ranks->clocks));
	if (!ranks->clocks ||
	    rank_clocks_fit(merge->rows, merge->row_count, merge->facts, merge->fact_count,
			    merge->options->wall_error_ns, ranks->clocks) < 0)
		return out_of_memory();
	ranks->clock_count = merge->fact_count;
	while (ranks->clocks[reference].source != RANK_CLOCK_REFERENCE)
		reference++;
	ranks->wall_ns = merge->facts[reference].has_wall ? merge->facts[reference].wall_ns : 0;
	for (uint32_t i = 0; i < merge->process_count; i++) {
		struct rank_process *row = &merge->processes[i];
		const struct rank_clock *clock = &ranks->clocks[ranks->files[row->file].clock];

		row->start_ns = rank_clock_map(clock, row->start_ns);
		row->end_ns = rank_clock_map(clock, row->end_ns);
	}
	return rank_notes_add(merge->processes, merge->process_count, merge->members,
			      merge->member_count, ranks) < 0
		       ? out_of_memory()
		       : CLI_OK;
}

/* ---- writing ---- */

static int copy_section(struct bundle_writer *writer, const struct bundle_section *section,
			struct dagtap_error *error)
{
	int err =
		bundle_begin_section(writer, (enum bundle_type)section->type, section->pid, error);

	for (uint64_t at = 0; at < section->size && err == 0; at += COPY_BYTES) {
		uint64_t rest = section->size - at;

		err = bundle_append(writer, section->bytes + at,
				    rest < COPY_BYTES ? rest : COPY_BYTES, error);
	}
	return err == 0 ? bundle_end_section(writer, error) : err;
}

static int copy_rank(struct bundle_writer *writer, const char *path, uint32_t section_count,
		     struct dagtap_error *error)
{
	struct bundle bundle;
	int err = bundle_open(path, &bundle, error);

	if (err < 0)
		return err;
	if (count_sections(&bundle) != section_count)
		err = dagtap_error_set(error, -ESTALE, "%s: it changed while it was read", path);
	for (uint32_t i = 0; i < bundle.section_count && err == 0; i++) {
		if (is_copied(&bundle.sections[i]))
			err = copy_section(writer, &bundle.sections[i], error);
	}
	bundle_close(&bundle);
	return err;
}

static int write_output(struct merge *merge)
{
	struct bundle_writer *writer;
	struct dagtap_error error;
	int err = bundle_create(merge->options->output, merge->options->force, &writer, &error);

	if (err < 0)
		return output_file_fail(&error);
	merge->meta.version = (char *)DAGTAP_VERSION;
	merge->meta.losses = merge->losses;
	err = bundle_put_meta(writer, &merge->meta, &error);
	if (err == 0)
		err = bundle_put_ranks(writer, &merge->ranks, &error);
	for (uint32_t i = 0; i < merge->path_count && err == 0; i++)
		err = copy_rank(writer, merge->paths[i], merge->ranks.files[i].section_count,
				&error);
	if (err < 0) {
		bundle_abandon(writer);
		return cli_fail_error(&error);
	}
	return bundle_finish(writer, &error) < 0 ? output_file_fail(&error) : CLI_OK;
}

/* ---- the report ---- */

static int print_clocks(const struct ranks *ranks)
{
	static const char *const heads[] = {">rank",	  "<clock",	  "uncertainty",
					    "?drift ppm", "?collectives", NULL};
	struct columns columns;

	columns_init(&columns, heads);
	for (uint32_t i = 0; i < ranks->file_count; i++) {
		const struct rank_clock *clock = &ranks->clocks[ranks->files[i].clock];

		columns_put(&columns, "%s", ranks->files[i].name);
		columns_put(&columns, "%s", rank_clock_source_text(clock->source));
		if (rank_clock_worst(clock) >= INT64_MAX)
			columns_put(&columns, "unknown");
		else
			columns_put_ns(&columns, (double)rank_clock_worst(clock));
		columns_put(&columns, "%.3f", (double)clock->drift * 1e6 / RANK_CLOCK_PARTS);
		columns_put_count(&columns, clock->matched);
	}
	return columns_print(&columns) < 0 ? out_of_memory() : CLI_OK;
}

static int print_report(const struct ranks *ranks)
{
	int err;

	terminal_wrap_lines();
	err = print_clocks(ranks);
	for (uint32_t i = 0; i < ranks->clock_count && err == CLI_OK; i++) {
		if (rank_clock_is_assumed(&ranks->clocks[i]))
			human_print("note: the clocks of some ranks do not run evenly; the "
				    "uncertainty includes an assumption (docs/merge.md)");
		if (rank_clock_is_assumed(&ranks->clocks[i]))
			break;
	}
	for (uint32_t i = 0; i < ranks->note_count && err == CLI_OK; i++)
		human_print("note: %s", ranks->notes[i]);
	return err == CLI_OK ? cli_finish_stdout() : err;
}

/* ---- the command ---- */

static void merge_release(struct merge *merge)
{
	ranks_release(&merge->ranks);
	free(merge->meta.command);
	free(merge->rows);
	free(merge->processes);
	free(merge->members);
	free(merge->facts);
	for (uint32_t i = 0; i < merge->host_count; i++)
		free(merge->hosts[i]);
	free(merge->hosts);
	for (uint32_t i = 0; i < merge->steady_count; i++)
		rank_steady_release(&merge->steady[i]);
	free(merge->steady);
	free(merge->losses);
}

static int take_wall_error(const struct cli_command *self, const char *value, void *values)
{
	if (amount_seconds(value, &((struct merge_options *)values)->wall_error_ns))
		return CLI_OK;
	return cli_usage(self, "--wall-error %s: not a number of seconds (1, 0.001)", value);
}

static const struct cli_option options_of_merge[] = {
	{"output", 'o', "OUT", "the merged recording", .kind = OPTION_TEXT,
	 OPTION_IN(merge_options, output), .is_required = true},
	{"force", 'f', NULL, "replace OUT if it exists", OPTION_IN(merge_options, force)},
	{"wall-error", .argument = "SECONDS",
	 .help = "for ranks that share no collective: how wrong the wall clock of a machine may be "
		 "(default 1)",
	 .kind = OPTION_HANDLER, .take = take_wall_error},
	THREADS_OPTION,
	{0},
};

static int merge(const struct cli_command *self, int argc, char **argv)
{
	struct merge_options options = {.wall_error_ns = WALL_ERROR_NS};
	struct merge merge = {.options = &options};
	int first, err = options_parse(self, argc, argv, &options, &first);

	if (err != CLI_OK)
		return err;
	if (!options.output)
		return cli_usage(self, "-o OUT is missing");
	merge.paths = argv + first;
	merge.path_count = (uint32_t)(argc - first);
	err = merge_inputs_check_folders(merge.paths, merge.path_count);
	if (err != CLI_OK)
		return err;
	if (merge.path_count < 2)
		return cli_usage(self, "give the recordings of two ranks or more");
	err = merge_inputs_check_files(options.output, merge.paths, merge.path_count);
	for (uint32_t i = 0; i < merge.path_count && err == CLI_OK; i++)
		err = read_rank(&merge, merge.paths[i]);
	if (err == CLI_OK)
		err = merge_inputs_check_processes(&merge.ranks, merge.processes,
						   merge.process_count);
	if (err == CLI_OK)
		err = fit_clocks(&merge);
	if (err == CLI_OK)
		err = write_output(&merge);
	if (err == CLI_OK)
		err = print_report(&merge.ranks);
	merge_release(&merge);
	return err;
}

const struct cli_command cmd_merge = {
	.name = "merge",
	.operands = "RANK...",
	.help = "the recordings of a job's ranks in one file, on one clock",
	.options = options_of_merge,
	.notes = "Each RANK is a .dagtap file. How the clocks are compared, and what the "
		 "uncertainty\n"
		 "means: docs/merge.md.\n",
	.run = merge,
};
