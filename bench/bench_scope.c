/*
 * Measures what scopes cost a program: pushes and pops through libdagtap with the injected library
 * recording, with it loaded but not recording, and without it. The floors are the same calls
 * through a table of functions that do nothing, and a clock read. 10 million pairs of each. The
 * recording is stopped and restarted now and then and its spools are read and removed, because a
 * scope whose record was dropped costs less.
 */
#include <dagtap/annotate.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/inject.h"
#include "bench.h"
#include "own_tool.h"

#define RECORDINGS	    20
#define BATCHES		    (RECORDINGS * 500) /* of each kind */
/* short enough to end within the scheduler's time slice */
#define BATCH_PAIRS	    1000
#define RECORDS_A_BATCH	    (2 * BATCH_PAIRS)
#define BATCHES_UNTIL_PAUSE 20
#define PAUSE_US	    2000 /* time for the housekeeping thread to prepare chunks */

struct scope_bench {
	char folder[64];
	const struct inject_table *tool;
	attach_function *attach;
	uint64_t (*push)(const char *text);
	void (*pop)(void);
	uint64_t (*push_with)(const char *text, const struct dagtap_attribute *attributes,
			      size_t count);
	uint64_t (*step_begin)(const char *name, int64_t number);
	void (*step_end)(void);
};

enum kind { SCOPE, ATTRIBUTES, STEP, IDLE, UNTRACED, EMPTY, CLOCK, KIND_COUNT };

static const struct {
	const char *name, *help;
} kinds[KIND_COUNT] = {
	[SCOPE] = {"scope", "push and pop, recorded"},
	[ATTRIBUTES] = {"attributes", "with a number and a text of 8 bytes, recorded"},
	[STEP] = {"step", "begin and end, recorded"},
	[IDLE] = {"idle", "push and pop between two recordings"},
	[UNTRACED] = {"untraced", "push and pop without the injected library"},
	[EMPTY] = {"empty", "the same calls through a table of empty functions"},
	[CLOCK] = {"clock", "two reads of the clock, as each pair has"},
};

static double values[KIND_COUNT][BATCHES];

/* ---- the floor ---- */

static uint64_t push_nothing(const char *text)
{
	return 0;
}

static void pop_nothing(void)
{
}

static const struct inject_table empty_table = {
	.bytes = sizeof(empty_table),
	.scope_push = push_nothing,
	.scope_pop = pop_nothing,
};

/* ---- measuring ---- */

static void run_pairs(const struct scope_bench *b, enum kind kind)
{
	const struct dagtap_attribute attributes[] = {
		dagtap_attribute_int64("layer", 7),
		dagtap_attribute_text("hlo_op", "fusion.1"),
	};

	for (int i = 0; i < BATCH_PAIRS; i++) {
		switch (kind) {
		case ATTRIBUTES:
			b->push_with("decode step", attributes, 2);
			b->pop();
			break;
		case STEP:
			b->step_begin("decode step", i);
			b->step_end();
			break;
		case CLOCK:
			clock_now_ns();
			clock_now_ns();
			break;
		default:
			b->push("decode step");
			b->pop();
		}
	}
}

static void measure(const struct scope_bench *b, enum kind kind, int batch)
{
	uint64_t since = clock_now_ns();

	run_pairs(b, kind);
	values[kind][batch] = (double)(clock_now_ns() - since) / BATCH_PAIRS;
}

static int open_program(struct scope_bench *b)
{
	void *library = tool_open_built("libdagtap.so");

	if (!library)
		return -ENOENT;
	b->attach = (attach_function *)dlsym(library, ATTACH_SYMBOL);
	b->push = (uint64_t(*)(const char *))dlsym(library, "dagtap_scope_push");
	b->pop = (void (*)(void))dlsym(library, "dagtap_scope_pop");
	b->push_with = (uint64_t(*)(const char *, const struct dagtap_attribute *, size_t))dlsym(
		library, "dagtap_scope_push_with");
	b->step_begin = (uint64_t(*)(const char *, int64_t))dlsym(library, "dagtap_step_begin");
	b->step_end = (void (*)(void))dlsym(library, "dagtap_step_end");
	return b->attach && b->push && b->pop && b->push_with && b->step_begin && b->step_end
		       ? 0
		       : -ENOENT;
}

/* Loads libdagtap first: without the injected library in the process its functions call nothing. */
static int open_tool(struct scope_bench *b)
{
	void *injected;

	if (!mkdtemp(b->folder) || setenv("DAGTAP_SPOOL", b->folder, 1))
		return -errno;
	injected = tool_open_built("dagtap/libdagtap-inject.so");
	b->tool = injected ? dlsym(injected, INJECT_SYMBOL) : NULL;
	return b->tool ? 0 : -ENOENT;
}

/* Returns the number of records in the spools. */
static uint64_t measure_recorded(const struct scope_bench *b, int first, int end)
{
	b->tool->start();
	for (int i = first; i < end; i++) {
		for (enum kind kind = SCOPE; kind <= STEP; kind++)
			measure(b, kind, i);
		if (i % BATCHES_UNTIL_PAUSE == 0)
			usleep(PAUSE_US);
	}
	b->tool->stop();
	return tool_take_spools(b->folder, RECORD_CLASS_SCOPE);
}

static int run(struct bench_result *ret_result)
{
	struct scope_bench b = {.folder = "/tmp/dagtap-bench-XXXXXX"};
	int err = open_program(&b);
	double kept = 0;

	for (int i = 0; !err && i < BATCHES; i++)
		measure(&b, UNTRACED, i);
	if (!err)
		err = open_tool(&b);
	for (int i = 0; !err && i < BATCHES; i += BATCHES / RECORDINGS) {
		int end = i + BATCHES / RECORDINGS;

		kept += (double)measure_recorded(&b, i, end);
		for (int batch = i; batch < end; batch++) {
			measure(&b, IDLE, batch);
			b.attach(&empty_table);
			measure(&b, EMPTY, batch);
			b.attach(b.tool);
			measure(&b, CLOCK, batch);
		}
	}
	rmdir(b.folder);
	if (err)
		return err;
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		bench_add(ret_result, kinds[kind].name, "ns", bench_median(values[kind], BATCHES),
			  kinds[kind].help);
	bench_add(ret_result, "recorded", "pct", 100 * kept / (3.0 * BATCHES * RECORDS_A_BATCH),
		  "of their records");
	return 0;
}

const struct bench bench_scope = {
	.name = "scope",
	.help = "10 million pushes and pops each: recorded, idle, untraced",
	.run = run,
};
