/* dagtap control: starts, stops and describes the recording of a process that `dagtap record
 * --control` has started, and copies what its ring holds. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/timer.h"
#include "cli/cli.h"
#include "cli/command_options.h"
#include "cli/control_link.h"
#include "cli/dynolog_daemon.h"
#include "cli/gather.h"
#include "cli/help.h"
#include "cli/human.h"
#include "cli/output_file.h"
#include "wire/json.h"

struct control_options {
	const char *output;
	bool force;
	bool json;
	bool quiet;
};

static const struct cli_option options_of_control[] = {
	{"json", .help = "print the state as JSON", OPTION_IN(control_options, json)},
	{"output", 'o', "OUT", "what snapshot writes, by default dagtap-snapshot-PID.dagtap",
	 OPTION_TEXT, OPTION_IN(control_options, output)},
	{"force", 'f', NULL, "replace OUT if it exists", OPTION_IN(control_options, force)},
	{"quiet", 'q', NULL, "print nothing when it is done", OPTION_IN(control_options, quiet)},
	{0},
};

static const char *state_key(uint32_t state)
{
	static const char *const keys[CONTROL_STATE_COUNT] = {[CONTROL_DORMANT] = "dormant",
							      [CONTROL_RECORDING] = "recording",
							      [CONTROL_OVER] = "over"};

	return keys[state];
}

/* ---- the state ---- */

static int print_json(const struct control_link *link, const struct control_answer *answer)
{
	struct json json;

	json_init(&json, stdout);
	json_object_begin(&json);
	json_put_u64(&json, "pid", (uint64_t)link->pid);
	json_put_text(&json, "state", state_key(answer->state));
	json_put_u64(&json, "since_ns", answer->since_ns);
	json_put_u64(&json, "recordings", answer->recordings);
	json_put_u64(&json, "instances", answer->instances);
	json_put_u64(&json, "instances_selected", answer->selected);
	json_put_u64(&json, "records", answer->records);
	json_put_u64(&json, "lost", answer->lost);
	json_put_u64(&json, "overwritten", answer->overwritten);
	json_put_text(&json, "folder", link->folder);
	json_put_text(&json, "spool", *answer->spool ? answer->spool : NULL);
	json_object_end(&json);
	json_finish(&json);
	return cli_finish_stdout();
}

static void print_counts(const struct control_answer *answer)
{
	char recordings[HUMAN_CHARS], records[HUMAN_CHARS], lost[HUMAN_CHARS],
		overwritten[HUMAN_CHARS], instances[HUMAN_CHARS], selected[HUMAN_CHARS];

	if (answer->instances)
		human_print("instances of the scope: %s, %s of them selected",
			    human_count(answer->instances, instances),
			    human_count(answer->selected, selected));
	if (answer->recordings)
		human_print("recordings: %s; in the last one %s records, %s lost, %s dropped by "
			    "the ring",
			    human_count(answer->recordings, recordings),
			    human_count(answer->records, records), human_count(answer->lost, lost),
			    human_count(answer->overwritten, overwritten));
}

static int print_text(const struct control_link *link, const struct control_answer *answer)
{
	time_t since = (time_t)(answer->since_ns / 1000000000u);
	char text[64] = "";
	struct tm local;

	if (localtime_r(&since, &local))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	human_print("process %d: %s since %s", (int)link->pid, state_key(answer->state), text);
	print_counts(answer);
	return cli_finish_stdout();
}

static int print_state(const struct control_link *link, const struct control_answer *answer,
		       const struct control_options *options)
{
	if (options->quiet)
		return CLI_OK;
	return options->json ? print_json(link, answer) : print_text(link, answer);
}

static int check_result(const struct control_link *link, enum control_verb verb,
			const struct control_answer *answer)
{
	switch ((enum control_result)answer->result) {
	case CONTROL_OK:
		return CLI_OK;
	case CONTROL_NOT_DONE:
		return cli_fail(
			verb == CONTROL_START
				? "process %d: the recording does not start: the delay is not "
				  "over, the duration is, or no spool can be made"
				: "process %d: the recording does not stop",
			(int)link->pid);
	case CONTROL_BUSY:
		return cli_fail("process %d: the recording is being started or stopped, and that "
				"does not end",
				(int)link->pid);
	default:
		return cli_fail("process %d: its library does not know this request",
				(int)link->pid);
	}
}

/* ---- snapshot ---- */

static char *command_of(pid_t pid)
{
	char path[64], *text = calloc(1, 4096);
	FILE *in;
	size_t got = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	in = text ? fopen(path, "re") : NULL;
	if (in) {
		got = fread(text, 1, 4095, in);
		fclose(in);
	}
	for (size_t i = 0; i + 1 < got; i++)
		if (!text[i])
			text[i] = ' ';
	return text;
}

static int write_snapshot(const struct control_link *link, const struct control_answer *answer,
			  const struct control_options *options, const char *output)
{
	struct bundle_meta meta = {.version = (char *)DAGTAP_VERSION,
				   .command = command_of(link->pid),
				   .start_ns = answer->since_ns,
				   .exit_status = -1};
	const struct gather_request request = {.folder = link->folder,
					       .folder_fd = link->folder_fd,
					       .output = output,
					       .force = options->force,
					       .keep = true,
					       .meta = &meta};
	char dispatches[HUMAN_CHARS], calls[HUMAN_CHARS];
	struct gather_result result = {0};
	struct dagtap_error error;
	int err = meta.command ? gather_one(&request, answer->spool, &result, &error)
			       : dagtap_error_set(&error, -ENOMEM, "out of memory");

	free(meta.command);
	if (err < 0)
		return output_file_fail(&error);
	if (!options->quiet)
		human_print("%s: %s dispatches, %s calls", output,
			    human_count(result.dispatches, dispatches),
			    human_count(result.calls, calls));
	return result.is_damaged ? CLI_FAILED : cli_finish_stdout();
}

static int take_snapshot(const struct control_link *link, const struct control_answer *answer,
			 const struct control_options *options)
{
	const char *const folder = link->folder;
	const char *output = options->output;
	char name[64];
	int err;

	if (answer->state != CONTROL_RECORDING)
		return cli_fail("process %d is %s: there is no recording to copy", (int)link->pid,
				state_key(answer->state));
	snprintf(name, sizeof(name), "dagtap-snapshot-%d.dagtap", (int)link->pid);
	if (!output)
		output = name;
	err = output_file_check(output, &folder, 1);
	return err == CLI_OK ? write_snapshot(link, answer, options, output) : err;
}

/* ---- request ---- */

/* Returns the lines of a request, which the caller frees; NULL: memory is short. */
static char *join_lines(char **lines)
{
	size_t bytes = 1;
	char *text;

	for (char **line = lines; *line; line++)
		bytes += strlen(*line) + 1;
	text = calloc(1, bytes);
	for (char **line = lines; text && *line; line++) {
		strcat(text, *line);
		strcat(text, "\n");
	}
	return text;
}

static int give_request(const struct cli_command *self, const struct control_options *options,
			pid_t pid, char **lines)
{
	struct dagtap_error error;
	char *text;
	int err;

	for (char **line = lines; *line; line++) {
		if (!strchr(*line, '=') || strchr(*line, '\n'))
			return cli_usage(self, "\"%s\" is no line KEY=VALUE", *line);
	}
	if (!*lines)
		return cli_usage(self, "request: lines KEY=VALUE are needed");
	text = join_lines(lines);
	err = text ? dynolog_daemon_give(pid, text, &error)
		   : dagtap_error_set(&error, -ENOMEM, "out of memory");
	free(text);
	if (err < 0)
		return cli_fail_error(&error);
	if (!options->quiet)
		human_print("process %d has the request", (int)pid);
	return cli_finish_stdout();
}

/* ---- the command ---- */

static const struct {
	const char *name;
	enum control_verb verb;
	bool is_snapshot;
} verbs[] = {
	{"start", CONTROL_START, false},
	{"stop", CONTROL_STOP, false},
	{"status", CONTROL_STATUS, false},
	{"snapshot", CONTROL_STATUS, true},
};

static int control_process(const struct control_options *options, pid_t pid, size_t verb)
{
	struct control_answer answer;
	struct control_link link;
	struct dagtap_error error;
	int err;

	if (control_link_open(pid, &link, &error) < 0)
		return cli_fail_error(&error);
	if (control_link_ask(&link, verbs[verb].verb, &answer, &error) < 0)
		err = cli_fail_error(&error);
	else
		err = check_result(&link, verbs[verb].verb, &answer);
	if (err == CLI_OK)
		err = verbs[verb].is_snapshot ? take_snapshot(&link, &answer, options)
					      : print_state(&link, &answer, options);
	control_link_close(&link);
	return err;
}

static int control(const struct cli_command *self, int argc, char **argv)
{
	struct control_options options = {0};
	const char *timers = getenv("DAGTAP_TIMERS");
	size_t verb = 0;
	uint64_t pid;
	int first, err = options_parse(self, argc, argv, &options, &first);

	if (err != CLI_OK)
		return err;
	if (timers)
		timer_configure(timers);
	if (argc - first < 2)
		return cli_usage(self, "PID and what to do are needed");
	if (!cli_is_number(argv[first], &pid) || !pid || pid > INT32_MAX)
		return cli_usage(self, "%s: not the number of a process", argv[first]);
	if (!strcmp(argv[first + 1], "request"))
		return give_request(self, &options, (pid_t)pid, argv + first + 2);
	if (argc - first > 2)
		return cli_usage(self, "%s: one thing is done at a time", argv[first + 2]);
	while (verb < sizeof(verbs) / sizeof(*verbs) &&
	       strcmp(argv[first + 1], verbs[verb].name) != 0)
		verb++;
	if (verb == sizeof(verbs) / sizeof(*verbs))
		return cli_usage(self, "no request \"%s\"", argv[first + 1]);
	return control_process(&options, (pid_t)pid, verb);
}

const struct cli_command cmd_control = {
	.name = "control",
	.operands = "PID start|stop|status|snapshot|request KEY=VALUE...",
	.help = "start, stop or copy the recording of a running process",
	.options = options_of_control,
	.notes = "The process was started by dagtap record --control, and has used a GPU. A "
		 "request\n"
		 "of dynolog's protocol goes to one that asks for them: dagtap record --dynolog,\n"
		 "or PyTorch with KINETO_USE_DAEMON=1.\n",
	.run = control,
};
