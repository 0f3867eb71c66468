/* dagtap record: runs a program with the tracer in it, and packs its spools into one file. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timer.h"
#include "cli/cli.h"
#include "cli/command_options.h"
#include "cli/gather.h"
#include "cli/help.h"
#include "cli/human.h"
#include "cli/launcher.h"
#include "cli/loss_box.h"
#include "cli/machine_probe.h"
#include "cli/record_inputs.h"
#include "cli/record_options.h"
#include "cli/record_stats.h"
#include "cli/spool_folder.h"
#include "cli/spool_listing.h"

/* A file name made of the program's name, without control characters. NULL: out of memory. */
static char *default_output(const char *program, const char *suffix)
{
	const char *slash = strrchr(program, '/');
	char *name;

	if (asprintf(&name, "dagtap-%s-%d%s", slash ? slash + 1 : program, (int)getpid(), suffix) <
	    0)
		return NULL;
	human_make_plain(name);
	/* human_make_plain writes '?', which a shell would expand. */
	for (char *at = name; (at = strchr(at, '?'));)
		*at = '_';
	return name;
}

/* RET_MADE_NAME: the output's name if it was not given, which the caller frees. */
static int parse(const struct cli_command *self, int argc, char **argv,
		 struct record_options *options, char **ret_made_name)
{
	int first, err = options_parse(self, argc, argv, options, &first);

	if (err != CLI_OK)
		return err;
	options->program = argv + first;
	if (!*options->program)
		return cli_usage(self, "PROGRAM is missing");
	if ((options->skip || options->count) && !options->scope)
		return cli_usage(self, "--skip and --count need --capture-range");
	if (options->iterations && (!options->has_dynolog || options->scope))
		return cli_usage(self, "--iterations needs --dynolog, and cannot be combined with "
				       "--capture-range, whose scopes are the iterations then");
	if (options->softgpu && options->backend == LAUNCH_CUDA)
		return cli_usage(self, "--softgpu is a GPU for HIP and HSA, and --backend cuda "
				       "records none of that kind");
	if (options->sdk && options->ring)
		return cli_usage(self, "--sdk and --ring cannot be combined: a ring's records do "
				       "not wait for a profiler");
	err = record_stats_check(self, options);
	if (err != CLI_OK)
		return err;
	if (!options->output)
		options->output = *ret_made_name = default_output(
			*options->program, options->has_stats ? ".dagstats" : ".dagtap");
	return options->output ? CLI_OK : cli_fail("out of memory");
}

/* Checks the program, its arguments and the output's name before anything is removed and the
 * program runs: afterwards the user could not choose another one. Opens FOLDER. */
static int check_output(const struct cli_command *self, const struct record_options *options,
			struct spool_folder *folder)
{
	struct stat status;
	bool exists;
	int err;

	if (!*options->output || !strcmp(options->output, "-"))
		return cli_usage(self, "OUT must be a regular file");
	exists = stat(options->output, &status) == 0;
	if (!exists && errno != ENOENT)
		return cli_fail("%s: %s", options->output, strerror(errno));
	if (exists && !S_ISREG(status.st_mode))
		return cli_fail("%s: exists and is not a regular file", options->output);
	err = spool_folder_open(options->output, folder);
	if (err == CLI_OK)
		err = record_inputs_check(options, folder->path);
	if (err != CLI_OK || !exists || options->force)
		return err;
	err = spool_folder_check_unused(folder);
	return err == CLI_OK ? cli_fail("%s: exists already; --force replaces it", options->output)
			     : err;
}

static int prepare_environment(const struct cli_command *self, const struct record_options *options,
			       const char *folder)
{
	struct dagtap_error error;
	int err = 0;

	if (launch_use_tracer(folder, (enum launch_backend)options->backend, &error) < 0)
		return cli_fail_error(&error);
	if (options->sdk && launch_use_sdk(&error) < 0)
		return cli_fail_error(&error);
	if (options->softgpu)
		err = launch_use_softgpu(options->softgpu, &error);
	if (err < 0)
		return err == -EINVAL ? cli_usage(self, "%s; dagtap softgpu --help lists the keys",
						  error.message)
				      : cli_fail_error(&error);
	return record_options_export(options);
}

/* Makes the folder of spools, after all that may be refused: with --force that removes the spools
 * of an earlier recording. */
static int make_folder(const struct record_options *options, struct spool_folder *folder)
{
	const struct spool_folder_options wanted = {
		.force = options->force,
		.memory_bytes = options->ring && !options->keep_spool ? options->ring_bytes : 0,
	};

	return spool_folder_make(folder, &wanted);
}

static char *join_words(char **words)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (char **word = words; *word; word++)
		fprintf(out, "%s%s", word == words ? "" : " ", *word);
	fclose(out);
	return text;
}

/* Prints a line on stderr, made plain, because it may contain names from outside. */
static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	human_print_to(stderr, "dagtap: ", format, args);
	va_end(args);
}

static const char *state_of(const struct gather_result *result)
{
	if (result->is_damaged)
		return "damaged";
	return result->is_truncated ? "truncated" : "complete";
}

static bool is_without_work(const struct gather_result *result)
{
	return !result->is_damaged && !result->lost && !result->dispatches;
}

/* The end of the last line: what the user should do; "" if nothing. */
static const char *advice_of(const struct gather_result *result, bool is_softgpu)
{
	if (result->is_damaged)
		return ": see dagtap check";
	if (result->lost)
		return " records lost: see dagtap check";
	return result->dispatches ? "" : machine_advise(is_softgpu);
}

static void tell_result(const struct record_options *options, const struct gather_result *result)
{
	char size[HUMAN_CHARS], dispatches[HUMAN_CHARS], calls[HUMAN_CHARS], lost[HUMAN_CHARS] = "";
	bool has_lost = result->lost && !result->is_damaged;

	if (*result->absence)
		tell("nothing was recorded through %s", result->absence);
	if (has_lost)
		human_count(result->lost, lost);
	tell("%s: %s, %s dispatches, %s calls, %s%s%s%s%s", options->output,
	     human_bytes(result->file_bytes, size), human_count(result->dispatches, dispatches),
	     human_count(result->calls, calls), state_of(result), has_lost ? ", " : "", lost,
	     is_without_work(result) ? "; " : "", advice_of(result, options->softgpu));
}

/* After the program has ended, these signals interrupt gather_spools. A second one ends dagtap. */
static void catch_interrupts(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {
		.sa_handler = gather_interrupt,
		.sa_flags = (int)SA_RESETHAND,
	};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/* Waits for processes that the program left running, until TIMER_SURVIVORS is over or none of
 * them has a spool. Returns whether any is still running. */
static bool wait_for_survivors(int folder_fd)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	struct timer_limit limit = timer_start(TIMER_SURVIVORS);

	while (launch_has_survivors()) {
		if (timer_is_over(limit) || gather_is_interrupted() ||
		    listing_count_processes(folder_fd) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void tell_survivors(const struct record_options *options, const char *folder,
			   uint32_t live_count)
{
	tell("%s left processes running (%u recording): what they record stays in %s; every "
	     "command reads it",
	     options->program[0], live_count, folder);
}

/* Prints one line on stderr for each process that could not be recorded, and returns these lines;
 * the caller frees them. NULL: out of memory. */
static char *collect_losses(const struct spool_folder *folder, struct loss_box *box,
			    uint32_t *ret_count)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	uint32_t count;

	if (!out)
		return NULL;
	loss_box_shut(box);
	count = gather_tell_lost(folder->fd, out);
	count += loss_box_tell(box, out);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	*ret_count = count;
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		tell("%.*s", (int)strcspn(line, "\n"), line);
	return text;
}

/* What hears the traced processes while they run. */
struct ears {
	struct deliveries *deliveries;
	struct loss_box *box;
};

/* Without the box, processes that cannot be recorded are not reported, and without deliveries no
 * file but the output is written. The recording itself works. */
static void listen_to_processes(const struct record_options *options,
				const struct spool_folder *folder, struct ears *ret_ears)
{
	if (!options->has_dynolog || deliveries_open(folder->path, &ret_ears->deliveries) < 0)
		ret_ears->deliveries = NULL;
	if (loss_box_open(folder->path, ret_ears->deliveries, &ret_ears->box) < 0)
		ret_ears->box = NULL;
}

static bool is_dormant_at_first(const struct record_options *options)
{
	return options->scope || options->waits || options->delay || options->has_dynolog;
}

static void tell_nothing_recorded(const struct record_options *options)
{
	if (is_dormant_at_first(options))
		tell("%s: nothing recorded: %s, or it used no GPU", options->program[0],
		     options->scope ? "no scope of --capture-range was recorded"
		     : options->waits || options->has_dynolog ? "nobody started the recording"
							      : "it ended within the delay");
	else
		tell("%s used no GPU: nothing recorded; %s", options->program[0],
		     machine_advise(options->softgpu));
}

static int gather(const struct record_options *options, const struct spool_folder *folder,
		  struct ears *ears, struct bundle_meta *meta)
{
	bool has_survivors = wait_for_survivors(folder->fd);
	const char *name = spool_folder_name(folder);
	const struct gather_request request = {.folder = name,
					       .folder_fd = folder->fd,
					       .output = options->output,
					       .force = options->force,
					       .leave_live = has_survivors,
					       .keep = options->keep_spool,
					       .meta = meta};
	struct gather_result result = {0};
	struct dagtap_error error;
	uint32_t lost_count = 0;
	int status;

	meta->losses = collect_losses(folder, ears->box, &lost_count);
	deliveries_finish(ears->deliveries);
	if (!meta->losses)
		return cli_fail("out of memory; the spools stay in %s", name);
	if (!spool_folder_is_there(folder))
		return cli_fail("%s was removed while the program ran: nothing was recorded", name);
	if (gather_spools(&request, &result, &error) < 0) {
		cli_fail_error(&error);
		return cli_fail("the spools stay in %s; every command reads them", name);
	}
	if (!has_survivors && (!options->keep_spool || result.spool_count == 0))
		spool_folder_remove(folder);
	status = lost_count || result.foreign_count || result.is_damaged ? CLI_FAILED : CLI_OK;
	if (options->quiet)
		return status;
	if (has_survivors)
		tell_survivors(options, name, result.live_count);
	if (result.spool_count > 0)
		tell_result(options, &result);
	else if (result.live_count == 0 && status == CLI_OK)
		tell_nothing_recorded(options);
	return status;
}

/* As gather, with --stats: ends the statistics instead of packing spools, which stay if the
 * statistics are not complete. */
static int end_stats(const struct record_options *options, const struct spool_folder *folder,
		     struct ears *ears, struct stats_follow *follow)
{
	bool has_survivors = wait_for_survivors(folder->fd);
	bool is_complete;
	uint32_t lost_count = 0;
	int err = record_stats_end(options, follow, has_survivors, &is_complete);
	char *losses = collect_losses(folder, ears->box, &lost_count);

	if (!is_complete)
		cli_fail("the spools stay in %s; every command reads them",
			 spool_folder_name(folder));
	else if (!has_survivors && !options->keep_spool)
		spool_folder_remove(folder);
	if (!losses)
		return cli_fail("out of memory");
	free(losses);
	return lost_count ? CLI_FAILED : err;
}

/* Ends statistics of a program that was not run. FOLLOW may be NULL. */
static void abandon_stats(struct stats_follow *follow)
{
	struct stats_follow_result unused;

	if (follow)
		stats_follow_finish(follow, &unused);
}

/* Runs the program. FOLLOW keeps statistics, or is NULL. */
static int run_program(const struct record_options *options, const struct spool_folder *folder,
		       struct ears *ears, struct bundle_meta *meta, struct stats_follow *follow)
{
	struct dagtap_error error;
	int status = 0, err = follow ? record_stats_begin(options, folder, follow) : CLI_OK;

	if (err == CLI_OK && launch_run(options->program, &status, &error) < 0)
		err = cli_fail_error(&error);
	if (err != CLI_OK) {
		abandon_stats(follow);
		spool_folder_remove(folder);
		return err;
	}
	meta->exit_status = status;
	catch_interrupts();
	err = follow ? end_stats(options, folder, ears, follow)
		     : gather(options, folder, ears, meta);
	/* The program's own exit status, unless it is 0: then dagtap's. */
	return status ? status : err;
}

static int record(const struct record_options *options, struct spool_folder *folder,
		  struct ears *ears)
{
	struct bundle_meta meta = {
		.version = (char *)DAGTAP_VERSION,
		.command = join_words(options->program),
		.start_ns = clock_read_ns(CLOCK_REALTIME),
	};
	struct stats_follow *follow = NULL;
	int err = meta.command ? CLI_OK : cli_fail("out of memory");

	if (err == CLI_OK && options->has_stats)
		err = record_stats_open(options, folder, meta.command, &follow);
	if (err == CLI_OK)
		err = make_folder(options, folder);
	if (err == CLI_OK) {
		listen_to_processes(options, folder, ears);
		err = run_program(options, folder, ears, &meta, follow);
	} else {
		abandon_stats(follow);
	}
	free(meta.losses);
	free(meta.command);
	return err;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
	struct record_options options = {0};
	struct spool_folder folder = {.parent_fd = -1, .fd = -1};
	struct ears ears = {0};
	const char *timers = getenv("DAGTAP_TIMERS");
	char *made_name = NULL;
	int err = parse(self, argc, argv, &options, &made_name);

	if (timers)
		timer_configure(timers);
	if (err == CLI_OK)
		err = check_output(self, &options, &folder);
	if (err == CLI_OK)
		err = prepare_environment(self, &options, folder.path);
	if (err == CLI_OK)
		err = record(&options, &folder, &ears);
	loss_box_close(ears.box);
	deliveries_close(ears.deliveries);
	spool_folder_close(&folder);
	free(made_name);
	return err;
}

const struct cli_command cmd_record = {
	.name = "record",
	.operands = "-- PROGRAM ARGS...",
	.help = "run a program and record what it did on the GPU",
	.options = options_of_record,
	.starts_program = true,
	.run = run,
};
