/*
 * Measures what the queue interceptor costs an application. Runs two programs (intercept_driver.c,
 * intercept_hip.c) on the software GPU in turn: untraced, with dagtap's injected library (in two
 * modes), and with a tool that creates a signal for every dispatch (intercept_signals.c). The
 * programs print one "name value" line for each figure. The spools are read afterwards, because a
 * dispatch that was not recorded or not timed costs less.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "child.h"
#include "record/spool_reader.h"

#define RUNS_MOST   30
#define PATH_MOST   4096
#define CLOCK_READS 100000

#define COMMAND_WORDS_MOST 12

enum tool { BARE, TRACED, BORROWED, SIGNALS, TOOL_COUNT };

#define ALL_TOOLS ((1u << TOOL_COUNT) - 1)

#define FIGURES(X)                                                                                 \
	X(batch)                                                                                   \
	X(single)                                                                                  \
	X(idle)                                                                                    \
	X(wait)                                                                                    \
	X(wait_p99)                                                                                \
	X(dependency)                                                                              \
	X(dependency_p99)                                                                          \
	X(graph_call)                                                                              \
	X(graph_cpu)                                                                               \
	X(elapsed)                                                                                 \
	X(ext_launch)

enum figure {
#define X(name) FIGURE_##name,
	FIGURES(X)
#undef X
		FIGURE_COUNT
};

static const char *const figure_names[] = {
#define X(name) #name,
	FIGURES(X)
#undef X
};

static const struct experiment {
	const char *program, *argument;
	const char *softgpu; /* creating an interrupt signal costs as much as on hardware */
	unsigned runs;
	unsigned tools; /* bit mask */
} experiments[] = {
	{"intercept-driver", "submit", "kernel_ns=1000,signal_ns=44000", 15, ALL_TOOLS},
	{"intercept-driver", "waits", "kernel_ns=20000,signal_ns=44000", 15, ALL_TOOLS},
	{"intercept-hip", NULL, "kernel_ns=5000,kernel:mix=0,kernel:branch=1000000,signal_ns=44000",
	 30, 1u << BARE | 1u << TRACED},
};

#define EXPERIMENT_COUNT (sizeof(experiments) / sizeof(*experiments))

/* A command line in env's syntax, so that a failed run can be repeated by hand. */
struct command {
	char text[(PATH_MOST + 64) * COMMAND_WORDS_MOST];
	size_t bytes; /* of the text, without the final zero byte */
	char *words[COMMAND_WORDS_MOST + 1];
	size_t count;
};

struct intercept_bench {
	struct command command; /* of the current run */
	char build[PATH_MOST];	/* the folder above this program's */
	char folder[64];	/* folder of a traced program's spools */
	double values[FIGURE_COUNT][TOOL_COUNT][RUNS_MOST];
	size_t counts[FIGURE_COUNT][TOOL_COUNT];
	uint64_t attempted, recorded, timed; /* numbers of dispatches */
};

/* ---- one run ---- */

__attribute__((format(printf, 2, 3))) static void add_word(struct command *c, const char *format,
							   ...)
{
	va_list arguments;
	int length;

	c->words[c->count++] = c->text + c->bytes;
	va_start(arguments, format);
	length = vsnprintf(c->text + c->bytes, PATH_MOST + 64, format, arguments);
	va_end(arguments);
	c->bytes += (size_t)(length < PATH_MOST + 64 ? length : PATH_MOST + 63) + 1;
}

static void make_command(const struct intercept_bench *b, const struct experiment *e,
			 enum tool tool, struct command *ret_command)
{
	struct command *c = ret_command;

	c->bytes = c->count = 0;
	add_word(c, "env");
	add_word(c, "--unset=HSA_TOOLS_LIB");
	add_word(c, "DAGTAP_SOFTGPU=%s", e->softgpu);
	add_word(c, "LD_LIBRARY_PATH=%s/lib/dagtap/softgpu", b->build);
	if (tool == TRACED || tool == BORROWED) {
		add_word(c, "DAGTAP_HSA_MODE=%s", tool == TRACED ? "harvest" : "borrow");
		add_word(c, "DAGTAP_SPOOL=%s", b->folder);
		add_word(c, "HSA_TOOLS_LIB=%s/lib/dagtap/libdagtap-inject.so", b->build);
		add_word(c, "LD_PRELOAD=%s/lib/dagtap/libdagtap-inject.so", b->build);
	} else if (tool == SIGNALS) {
		add_word(c, "HSA_TOOLS_LIB=%s/bench/intercept-signals.so", b->build);
	}
	add_word(c, "%s/bench/%s", b->build, e->program);
	if (e->argument)
		add_word(c, "%s", e->argument);
	c->words[c->count] = NULL;
}

/* Joins the words with spaces. */
static const char *join_words(struct command *c)
{
	for (size_t i = 1; i < c->count; i++)
		c->words[i][-1] = ' ';
	return c->text;
}

static void take_line(struct intercept_bench *b, enum tool tool, const char *line)
{
	char name[32];
	double value;

	if (sscanf(line, "%31s %lf", name, &value) != 2)
		return;
	for (int figure = 0; figure < FIGURE_COUNT; figure++) {
		size_t *count = &b->counts[figure][tool];

		if (!strcmp(name, figure_names[figure]) && *count < RUNS_MOST)
			b->values[figure][tool][(*count)++] = value;
	}
}

static void count_spool(struct intercept_bench *b, const char *path)
{
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	struct dagtap_error error;

	if (spool_reader_open(path, &reader, &error))
		return;
	ledger = spool_reader_ledger(reader);
	b->attempted += ledger->attempted[RECORD_CLASS_DISPATCH];
	b->recorded += ledger->found[RECORD_CLASS_DISPATCH];
	b->timed += ledger->found[RECORD_CLASS_DONE];
	spool_reader_close(reader);
}

static void take_spools(struct intercept_bench *b)
{
	DIR *entries = opendir(b->folder);
	char path[PATH_MOST];

	if (!entries)
		return;
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", b->folder, entry->d_name);
		count_spool(b, path);
		unlink(path);
	}
	closedir(entries);
}

static int run_once(struct intercept_bench *b, const struct experiment *e, enum tool tool)
{
	char line[256];
	int pipe_ends[2], err;
	FILE *output;
	pid_t child;

	make_command(b, e, tool, &b->command);
	if (pipe(pipe_ends))
		return -errno;
	child = fork();
	if (!child) {
		dup2(pipe_ends[1], STDOUT_FILENO);
		close(pipe_ends[0]);
		close(pipe_ends[1]);
		execvp(b->command.words[0], b->command.words);
		_exit(127);
	}
	close(pipe_ends[1]);
	output = fdopen(pipe_ends[0], "r");
	while (output && fgets(line, sizeof(line), output))
		take_line(b, tool, line);
	if (output)
		fclose(output);
	err = child_wait(child, join_words(&b->command));
	take_spools(b);
	return err;
}

static unsigned count_runs(void)
{
	unsigned count = 0;

	for (size_t i = 0; i < EXPERIMENT_COUNT; i++)
		count += experiments[i].runs * (unsigned)__builtin_popcount(experiments[i].tools);
	return count;
}

static int run_all(struct intercept_bench *b)
{
	unsigned done = 0, total = count_runs();
	int err = 0;

	for (size_t i = 0; i < EXPERIMENT_COUNT; i++) {
		const struct experiment *e = &experiments[i];

		for (unsigned n = 0; !err && n < e->runs * TOOL_COUNT; n++) {
			if (!(e->tools >> n % TOOL_COUNT & 1))
				continue;
			bench_progress(done++, total);
			err = run_once(b, e, n % TOOL_COUNT);
		}
	}
	return err;
}

/* ---- statistics ---- */

static double median(struct intercept_bench *b, enum figure figure, enum tool tool)
{
	size_t count = b->counts[figure][tool];

	return count ? bench_median(b->values[figure][tool], count) : NAN;
}

/*
 * Returns the width of the interval that holds half of the runs. Call after median(), which sorts.
 */
static double spread(const struct intercept_bench *b, enum figure figure, enum tool tool)
{
	const double *values = b->values[figure][tool];
	size_t count = b->counts[figure][tool];

	return count ? values[count * 3 / 4] - values[count / 4] : NAN;
}

static void add_submit(struct intercept_bench *b, struct bench_result *result)
{
	double batch = median(b, FIGURE_batch, BARE), single = median(b, FIGURE_single, BARE);
	double idle = median(b, FIGURE_idle, BARE);

	bench_add(result, "batch", "ns", batch, "floor: a dispatch of 2,000 behind a doorbell");
	bench_add(result, "batch_spread", "ns", spread(b, FIGURE_batch, BARE), "half the runs");
	bench_add(result, "batch_added", "ns", median(b, FIGURE_batch, TRACED) - batch,
		  "by dagtap; at most 150 is the goal");
	bench_add(result, "batch_added_spread", "ns", spread(b, FIGURE_batch, TRACED), "");
	bench_add(result, "batch_signals", "ns", median(b, FIGURE_batch, SIGNALS) - batch,
		  "added by a signal for each dispatch");
	bench_add(result, "single", "ns", single, "floor: a launch with a doorbell of its own");
	bench_add(result, "single_spread", "ns", spread(b, FIGURE_single, BARE), "half the runs");
	bench_add(result, "single_added", "ns", median(b, FIGURE_single, TRACED) - single,
		  "by dagtap; at most 400 is the goal");
	bench_add(result, "single_added_spread", "ns", spread(b, FIGURE_single, TRACED), "");
	bench_add(result, "single_signals", "ns", median(b, FIGURE_single, SIGNALS) - single,
		  "added by a signal for each dispatch");
	bench_add(result, "idle", "ns", idle, "floor: a launch after 5 ms of rest");
	bench_add(result, "idle_added", "ns", median(b, FIGURE_idle, TRACED) - idle,
		  "by dagtap, which wakes its monitor");
}

static void add_waits(struct intercept_bench *b, struct bench_result *result)
{
	double wait = median(b, FIGURE_wait, BARE), late = median(b, FIGURE_wait_p99, BARE);

	bench_add(result, "wait", "ns", wait,
		  "floor: doorbell to the end of the wait, 20 us kernel");
	bench_add(result, "wait_added", "ns", median(b, FIGURE_wait, TRACED) - wait, "by dagtap");
	bench_add(result, "wait_borrowed", "ns", median(b, FIGURE_wait, BORROWED) - wait,
		  "added by dagtap when it must borrow signals");
	bench_add(result, "wait_signals", "ns", median(b, FIGURE_wait, SIGNALS) - wait,
		  "added by a signal for each dispatch");
	bench_add(result, "wait_p99", "ns", late, "floor: the same, 99 of 100");
	bench_add(result, "wait_p99_added", "ns", median(b, FIGURE_wait_p99, TRACED) - late,
		  "by dagtap");
	bench_add(result, "wait_p99_borrowed", "ns", median(b, FIGURE_wait_p99, BORROWED) - late,
		  "when it must borrow signals");
	bench_add(result, "dependency", "ns", median(b, FIGURE_dependency, BARE),
		  "floor: one queue's kernel to the other's");
	bench_add(result, "dependency_traced", "ns", median(b, FIGURE_dependency, TRACED),
		  "the same, traced");
	bench_add(result, "dependency_p99", "ns", median(b, FIGURE_dependency_p99, BARE),
		  "floor: the same, 99 of 100");
	bench_add(result, "dependency_p99_traced", "ns", median(b, FIGURE_dependency_p99, TRACED),
		  "the same, traced");
	bench_add(result, "dependency_signals", "ns", median(b, FIGURE_dependency, SIGNALS),
		  "with a signal for each dispatch");
}

static void add_hip(struct intercept_bench *b, struct bench_result *result)
{
	double call = median(b, FIGURE_graph_call, BARE);
	double elapsed = median(b, FIGURE_elapsed, BARE), ext = median(b, FIGURE_ext_launch, BARE);
	double ratio = median(b, FIGURE_graph_call, TRACED) / call;

	bench_add(result, "graph_call", "us", call / 1000, "floor: hipGraphLaunch, 4,096 nodes");
	bench_add(result, "graph_call_spread", "us", spread(b, FIGURE_graph_call, BARE) / 1000,
		  "half the runs");
	bench_add(result, "graph_call_traced", "x", ratio, "at most 1.5 is the goal");
	bench_add(result, "graph_cpu_traced", "x",
		  median(b, FIGURE_graph_cpu, TRACED) / median(b, FIGURE_graph_cpu, BARE),
		  "the same, by the calling thread's CPU time");
	bench_add(result, "elapsed", "us", elapsed / 1000,
		  "floor: hipEventElapsedTime, 400 x 5 us");
	bench_add(result, "elapsed_traced", "pct",
		  100 * (median(b, FIGURE_elapsed, TRACED) / elapsed - 1),
		  "longer; within 3 is the goal");
	bench_add(result, "ext_launch", "us", ext / 1000, "floor: hipExtLaunchKernel's, 1 ms");
	bench_add(result, "ext_launch_traced", "pct",
		  100 * (median(b, FIGURE_ext_launch, TRACED) / ext - 1),
		  "longer; within 3 is the goal");
}

static double time_clock(void)
{
	uint64_t since = clock_now_ns();

	for (int i = 0; i < CLOCK_READS; i++)
		clock_now_ns();
	return (double)(clock_now_ns() - since) / CLOCK_READS;
}

static int find_build(char *ret_path)
{
	ssize_t length = readlink("/proc/self/exe", ret_path, PATH_MOST - 1);
	char *slash;

	if (length < 0)
		return -errno;
	ret_path[length] = '\0';
	for (int i = 0; i < 2 && (slash = strrchr(ret_path, '/')); i++)
		*slash = '\0';
	return 0;
}

static int run(struct bench_result *ret_result)
{
	struct intercept_bench *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	strcpy(b->folder, "/tmp/dagtap-bench-XXXXXX");
	err = find_build(b->build);
	if (!err && !mkdtemp(b->folder))
		err = -errno;
	if (!err) {
		err = run_all(b);
		rmdir(b->folder);
	}
	if (!err) {
		add_submit(b, ret_result);
		add_waits(b, ret_result);
		add_hip(b, ret_result);
		bench_add(ret_result, "clock", "ns", time_clock(), "a clock read alone");
		bench_add(ret_result, "recorded", "pct",
			  100 * (double)b->recorded / (double)b->attempted, "of the dispatches");
		bench_add(ret_result, "timed", "pct", 100 * (double)b->timed / (double)b->attempted,
			  "of the dispatches");
	}
	free(b);
	return err;
}

const struct bench bench_intercept = {
	.name = "intercept",
	.help = "what the queue interceptor costs an application",
	.run = run,
};
