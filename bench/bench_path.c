/*
 * Measures what the critical path of a run costs, from the spool to the figures: CPU seconds and
 * memory of a process of its own on one core, with the spool in the page cache. The floors are one
 * pass over the rows that the path is computed from, and a copy of them.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyze/idle.h"
#include "analyze/path_report.h"
#include "bench.h"
#include "reference_floors.h"
#include "reference_input.h"
#include "reference_spool.h"
#include "trace/load.h"

#define RUNS  3
#define STEPS 10 /* a tenth of the reference run */

static struct reference_input input = {.steps = STEPS};

enum stage { LOAD, DEPENDENCIES, PATH, IDLE, PASS, COPY, STAGE_COUNT };

struct report {
	int error;
	double seconds[STAGE_COUNT];
	double device_events, host_events, edges, steps;
	double load_mib, peak_mib;
};

static double seconds_since(struct cpu_seconds *begin)
{
	struct cpu_seconds seconds = cpu_since(*begin);

	*begin = cpu_now();
	return cpu_sum(&seconds);
}

/* Reads every cache line of the rows once. */
static void pass(const struct trace *trace)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++)
		sum += trace->activities[i].end_ns + trace->activities[i].node;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		sum += trace->calls[i].end_ns + trace->calls[i].result;
	__asm__ volatile("" : : "r"(sum));
}

static int copy(const struct trace *trace)
{
	size_t bytes = trace->activities_count * sizeof(*trace->activities);
	size_t call_bytes = trace->calls_count * sizeof(*trace->calls);
	char *place = malloc(bytes + call_bytes + 1);

	if (!place)
		return -ENOMEM;
	memcpy(place, trace->activities, bytes);
	memcpy(place + bytes, trace->calls, call_bytes);
	__asm__ volatile("" : : "r"(place) : "memory");
	free(place);
	return 0;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static int find(const struct dependencies *deps, struct report *report, struct cpu_seconds *begin)
{
	const struct path_query query = {.by = PATH_WINDOW_ALL};
	struct path_windows windows = {0};
	struct path_report found;
	struct idle idle = {0};
	struct path path = {0};
	int result = path_windows_find(deps->trace, &query, &windows);

	path_report_init(&found, deps);
	if (result == 0 && windows.count == 0)
		result = -ENODATA;
	if (result == 0)
		result = path_find(deps, &windows.rows[0], &path);
	report->seconds[PATH] = seconds_since(begin);
	if (result == 0)
		result = idle_init(&idle, deps);
	if (result == 0)
		result = path_report_add(&found, &windows, 0, &path);
	if (result == 0)
		result = idle_add(&idle, &windows, 0);
	report->seconds[IDLE] = seconds_since(begin);
	report->steps = (double)path.count;
	path_release(&path);
	path_report_release(&found);
	idle_release(&idle);
	path_windows_release(&windows);
	return result;
}

static void measure(const void *context, void *ret_report)
{
	const struct trace_options brief = {.is_brief = true};
	struct report *report = ret_report;
	struct cpu_seconds begin = cpu_now();
	struct dependencies deps;
	struct dagtap_error error;
	struct trace *trace;

	report->error = trace_open(context, &brief, &trace, &error);
	if (report->error < 0) {
		fprintf(stderr, "dagtap-bench: %s\n", error.message);
		return;
	}
	report->seconds[LOAD] = seconds_since(&begin);
	report->load_mib = peak_mib();
	report->error = dependencies_make(trace, &deps);
	report->seconds[DEPENDENCIES] = seconds_since(&begin);
	if (report->error < 0)
		return;
	report->error = find(&deps, report, &begin);
	report->peak_mib = peak_mib();
	report->device_events = trace->activities_count;
	report->host_events = trace->calls_count;
	report->edges = deps.edges_count;
	dependencies_release(&deps);
	begin = cpu_now();
	pass(trace);
	report->seconds[PASS] = seconds_since(&begin);
	if (!report->error)
		report->error = copy(trace);
	report->seconds[COPY] = seconds_since(&begin);
	trace_close(trace);
}

static double median_of(const struct report *reports, enum stage stage)
{
	double seconds[RUNS];

	for (int i = 0; i < RUNS; i++)
		seconds[i] = reports[i].seconds[stage];
	return bench_median(seconds, RUNS);
}

static void tell(const struct report *reports, struct bench_result *result)
{
	const struct report *last = &reports[RUNS - 1];
	static const struct {
		const char *name, *help;
		enum stage stage;
	} stages[] = {
		{"load", "the spool into the model, without arguments of calls", LOAD},
		{"dependencies", "who has to wait for whom; the order of starts", DEPENDENCIES},
		{"path", "the critical path of everything", PATH},
		{"figures", "sums; why all streams and GPUs were idle", IDLE},
		{"pass", "floor: one pass over all activities and calls", PASS},
		{"copy", "floor: memcpy of them, into fresh memory", COPY},
	};
	double sum = 0;

	bench_add(result, "device_events", "n", last->device_events, "kernels, copies, fills");
	bench_add(result, "host_events", "n", last->host_events, "calls");
	bench_add(result, "edges", "n", last->edges, "beside launches and program order");
	bench_add(result, "path_steps", "n", last->steps, "");
	for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
		double seconds = median_of(reports, stages[i].stage);

		sum += stages[i].stage <= IDLE ? seconds : 0;
		bench_add(result, stages[i].name, "s", seconds, stages[i].help);
	}
	bench_add(result, "in_all", "s", sum, "load to figures");
	bench_add(result, "load_peak", "MiB", last->load_mib, "resident, until it was loaded");
	bench_add(result, "peak", "MiB", last->peak_mib, "resident, mapped files too");
}

static int measure_spool(const char *path, const char *folder, struct bench_result *ret_result)
{
	struct report reports[RUNS];
	int error = run_alone_times("load and find the path", measure, path, reports,
				    sizeof(*reports), RUNS);

	if (!error)
		tell(reports, ret_result);
	return error;
}

static int run(struct bench_result *ret_result)
{
	return reference_input_use(&input, measure_spool, ret_result);
}

static int take(int argc, char **argv)
{
	return reference_input_take(&input, argc, argv);
}

const struct bench bench_path = {
	.name = "path",
	.help = "the critical path of a run and why its streams were idle",
	.run = run,
	.options = REFERENCE_INPUT_HELP,
	.take = take,
};
