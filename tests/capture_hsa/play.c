/* Runs HSA programs on the software GPU in child processes (play.h). */
#include "play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../launched.h"
#include "base/clock.h"

#define ARGUMENTS_MOST 24

static const char *build_dir(void)
{
	const char *dir = getenv("BUILD_DIR");

	return dir ? dir : ".";
}

/* The settings of one run. */
struct run {
	const char *tool;   /* file name in tests/; NULL: none */
	const char *behind; /* likewise, loaded after dagtap */
	bool is_traced;
	bool is_held; /* the clock stands still */
	const char *variable;
	const char *value;
	const char *timers; /* NULL: the test run's own DAGTAP_TIMERS */
	const char *config;
	const char *command_line;
};

bool play_is_through_sdk(void)
{
	const char *door = getenv("PLAY_DOOR");

	return door && !strcmp(door, "sdk");
}

static bool is_through_sdk(const struct run *run)
{
	return play_is_through_sdk() && run->is_traced && !run->tool && !run->behind;
}

static void set_tools(const struct run *run)
{
	char path[4 * PATH_MAX] = "";
	int first = 0;

	if (run->tool)
		first = snprintf(path, PATH_MAX, "%s/tests/%s ", build_dir(), run->tool);
	if (run->is_traced)
		snprintf(path + first, sizeof(path) - (size_t)first,
			 "%s/lib/dagtap/libdagtap-inject.so %s/tests/hsa_other_tool.so",
			 build_dir(), build_dir());
	if (run->behind)
		snprintf(path + strlen(path), PATH_MAX, " %s/tests/%s", build_dir(), run->behind);
	setenv("HSA_TOOLS_LIB", path, 1);
}

/* A profiler in the program loads dagtap, which is then not one of HSA's tools before. */
static void set_profiler(const struct play *play)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s %s/tests/sdk/libsdk-client.so",
		 getenv("SANITIZER_RUNTIME") ? getenv("SANITIZER_RUNTIME") : "", build_dir());
	setenv("LD_PRELOAD", path, 1);
	snprintf(path, sizeof(path), "%s/client", play->folder);
	setenv("CLIENT_OUT", path, 1);
	snprintf(path, sizeof(path), "%s/tests/hsa_other_tool.so", build_dir());
	setenv("HSA_TOOLS_LIB", path, 1);
}

/* Sets up one clock for the tool and the device, which the program can hold. */
static void set_clock(const struct play *play, bool is_held)
{
	const struct clock_page page = {.held_ns = is_held ? clock_now_ns() : 0};
	char path[2 * PATH_MAX];
	int file;

	snprintf(path, sizeof(path), "%s/clock", play->folder);
	file = open(path, O_WRONLY | O_CREAT, 0600);
	if (write(file, &page, sizeof(page)) != sizeof(page))
		_exit(126);
	close(file);
	setenv("DAGTAP_CLOCK", path, 1);
}

static void exec_program(const struct play *play, const struct run *run, char *const *arguments)
{
	char path[2 * PATH_MAX], config[2 * PATH_MAX];
	int out;

	snprintf(path, sizeof(path), "%s/stdout", play->folder);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(out, STDOUT_FILENO);
	snprintf(path, sizeof(path), "%s/lib/dagtap/softgpu", build_dir());
	setenv("LD_LIBRARY_PATH", path, 1);
	set_tools(run);
	if (is_through_sdk(run))
		set_profiler(play);
	snprintf(config, sizeof(config), "%s,report=%s/device", run->config, play->folder);
	setenv("DAGTAP_SOFTGPU", config, 1);
	setenv("DAGTAP_SPOOL", play->folder, 1);
	set_clock(play, run->is_held);
	if (run->timers)
		setenv("DAGTAP_TIMERS", run->timers, 1);
	if (run->variable)
		setenv(run->variable, run->value, 1);
	snprintf(path, sizeof(path), "%s/%s", build_dir(), arguments[0]);
	execv(path, arguments);
	_exit(127);
}

/* Lines of the file at PATH that begin with WORD. */
static uint64_t lines_with(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	uint64_t count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += !strncmp(line, word, strlen(word));
	if (file)
		fclose(file);
	return count;
}

/* The profiler got each timed dispatch once, and its finalize was called: no program that is played
 * with it ends without exit's handlers. */
static void check_profiler(const struct play *play)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/client", play->folder);
	assert_true(lines_with(path, "process ") > 0);
	assert_int_equal(lines_with(path, "finished"), 1);
	if (play->rows)
		assert_int_equal(lines_with(path, "dispatch "),
				 play->rows->untimed[RECORD_UNTIMED_NO]);
}

static struct play play_run(const struct run *run)
{
	char words[512], *arguments[ARGUMENTS_MOST] = {0}, *rest = words;
	struct play play = {0};
	int count = 0;
	pid_t child;

	assert_non_null(mkdtemp(test_path(play.folder, "hsa")));
	snprintf(words, sizeof(words), "%s", run->command_line);
	while (count < ARGUMENTS_MOST - 1 && (arguments[count] = strtok_r(rest, " ", &rest)))
		count++;
	child = fork();
	assert_true(child >= 0);
	if (!child)
		exec_program(&play, run, arguments);
	assert_int_equal(waitpid(child, &play.exit_status, 0), child);
	if (play.exit_status)
		print_error("%s: status 0x%x, see %s\n", run->command_line,
			    (unsigned)play.exit_status, play.folder);
	assert_int_equal(play.exit_status, 0);
	if (rows_spool_count(play.folder))
		play.rows = rows_read(play.folder);
	if (is_through_sdk(run))
		check_profiler(&play);
	return play;
}

struct play play_with(const char *variable, const char *value, const char *config,
		      const char *command_line)
{
	return play_run(&(struct run){.is_traced = true,
				      .variable = variable,
				      .value = value,
				      .config = config,
				      .command_line = command_line});
}

struct play play_held(const char *config, const char *command_line)
{
	return play_run(&(struct run){.is_traced = true,
				      .is_held = true,
				      .config = config,
				      .command_line = command_line});
}

struct play play_giving_up(const char *timers, const char *mode, const char *config,
			   const char *command_line)
{
	char all[256];

	snprintf(all, sizeof(all), "limits=never,%s", timers);
	return play_run(&(struct run){.is_traced = true,
				      .variable = mode ? "DAGTAP_HSA_MODE" : NULL,
				      .value = mode,
				      .timers = all,
				      .config = config,
				      .command_line = command_line});
}

struct play play(const char *config, const char *command_line)
{
	return play_with(NULL, NULL, config, command_line);
}

struct play play_behind(const char *tool, const char *config, const char *command_line)
{
	return play_run(&(struct run){
		.tool = tool, .is_traced = true, .config = config, .command_line = command_line});
}

struct play play_beside(const struct beside *beside, const char *config, const char *command_line)
{
	if (beside->is_serial)
		setenv("DAGTAP_HSA_SERIALIZE", "1", 1);
	else
		unsetenv("DAGTAP_HSA_SERIALIZE");
	return play_run(&(struct run){.tool = beside->is_before ? beside->tool : NULL,
				      .behind = beside->is_before ? NULL : beside->tool,
				      .is_traced = true,
				      .variable = "DAGTAP_HSA_MODE",
				      .value = beside->mode,
				      .config = config,
				      .command_line = command_line});
}

struct play play_bare(const char *tool, const char *config, const char *command_line)
{
	return play_run(
		&(struct run){.tool = tool, .config = config, .command_line = command_line});
}

struct play play_hazard(const char *design, const char *config, const char *command_line)
{
	return play_run(&(struct run){.tool = "hsa_hazard_tool.so",
				      .variable = "HAZARD",
				      .value = design,
				      .config = config,
				      .command_line = command_line});
}

uint64_t play_device(const struct play *play, const char *counter)
{
	char path[PATH_MAX + 16], wanted[64], line[256];
	uint64_t value = UINT64_MAX;
	FILE *report;

	snprintf(path, sizeof(path), "%s/device", play->folder);
	snprintf(wanted, sizeof(wanted), " \"%s\": ", counter);
	report = fopen(path, "r");
	assert_non_null(report);
	while (fgets(line, sizeof(line), report)) {
		const char *at = strstr(line, wanted);

		if (at)
			value = strtoull(at + strlen(wanted), NULL, 10);
	}
	fclose(report);
	return value;
}

uint64_t play_printed(const struct play *play, const char *key)
{
	char path[PATH_MAX + 16], line[256];
	uint64_t value = UINT64_MAX;
	size_t length = strlen(key);
	FILE *out;

	snprintf(path, sizeof(path), "%s/stdout", play->folder);
	out = fopen(path, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		if (!strncmp(line, key, length) && line[length] == ' ')
			value = strtoull(line + length, NULL, 10);
	}
	fclose(out);
	if (value == UINT64_MAX)
		print_error("%s: prints no %s\n", play->folder, key);
	assert_true(value != UINT64_MAX);
	return value;
}

void play_end(struct play *play)
{
	char command[PATH_MAX + 16];

	if (play->rows)
		rows_free(play->rows);
	snprintf(command, sizeof(command), "rm -r %s", play->folder);
	assert_int_equal(system(command), 0);
}

uint64_t play_drops(const struct rows *rows, enum record_class class)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		sum += rows->dropped_by[class][cause];
	return sum;
}

void play_check_ledger(const struct play *play)
{
	const struct rows *rows = play->rows;
	uint64_t dispatches = 0, barriers = 0, sent = 0, others = 0;
	uint64_t unrecorded = rows_witness(play->folder, "hsa", "packets_unrecorded");

	assert_true(rows->closed);
	assert_true(rows->without_done <= play_drops(rows, RECORD_CLASS_DONE));
	assert_true(rows->orphans <= play_drops(rows, RECORD_CLASS_DISPATCH));
	for (uint32_t i = 0; i < ROWS_QUEUES_MOST; i++) {
		const struct row_queue *queue = &rows->queues[i];

		if (!queue->exists)
			continue;
		assert_true(queue->is_counted);
		assert_true(queue->dispatches <= queue->count.dispatches);
		if (!unrecorded)
			assert_int_equal(queue->count.write_index, queue->count.dispatches +
									   queue->count.barriers +
									   queue->count.others);
		sent += queue->count.write_index;
		others += queue->count.others;
		dispatches += queue->count.dispatches;
		barriers += queue->count.barriers;
	}
	assert_int_equal(dispatches,
			 rows->dispatch_count + play_drops(rows, RECORD_CLASS_DISPATCH));
	assert_int_equal(barriers, rows->barriers + play_drops(rows, RECORD_CLASS_BARRIER));
	assert_int_equal(sent, dispatches + barriers + others + unrecorded);
	if (!unrecorded)
		assert_int_equal(play_device(play, "packets_kernel_dispatch"), dispatches);
	assert_int_equal(play_device(play, "signal_errors"), 0);
}

void play_print_untimed(const struct play *play)
{
	for (int i = 1; i < RECORD_UNTIMED_COUNT; i++) {
		if (play->rows->untimed[i])
			print_error("%s: %" PRIu64 " dispatches untimed, cause %d\n", play->folder,
				    play->rows->untimed[i], i);
		if (play->rows->copies_untimed[i])
			print_error("%s: %" PRIu64 " copies untimed, cause %d\n", play->folder,
				    play->rows->copies_untimed[i], i);
	}
}

void play_timed(const char *config, const char *command_line, uint64_t count)
{
	struct play p = play(config, command_line);

	play_print_untimed(&p);
	play_check_ledger(&p);
	assert_int_equal(p.rows->dropped, 0);
	assert_int_equal(p.rows->dispatch_count, count);
	assert_int_equal(p.rows->untimed[RECORD_UNTIMED_NO], count);
	play_end(&p);
}
