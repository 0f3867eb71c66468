/*
 * Measures what writing the reference run as Kineto's JSON costs: CPU time of a process of its own
 * on one core, with the trace loaded, into a sink that discards the bytes. The floors are a memcpy
 * of as many bytes, and writing them to a file, which is the kernel's part of any export.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "format/format.h"
#include "reference_floors.h"
#include "reference_input.h"
#include "reference_spool.h"
#include "trace/load.h"

#define RUNS	    3
#define PIECE_BYTES ((size_t)1 << 20)
#define FOLDER_MOST 256
#define PATH_MOST   512

static struct reference_input input = {.steps = REFERENCE_STEPS};

struct report {
	int error;
	double rows, bytes;
	double seconds[RUNS], memcpy_seconds[RUNS];
};

static double cpu_seconds_since(struct cpu_seconds begin)
{
	struct cpu_seconds seconds = cpu_since(begin);

	return cpu_sum(&seconds);
}

static ssize_t count_and_drop(void *context, const char *bytes, size_t size)
{
	(void)bytes;
	*(uint64_t *)context += size;
	return (ssize_t)size;
}

static int write_to_sink(const struct trace *trace, uint64_t *ret_bytes)
{
	const cookie_io_functions_t functions = {.write = count_and_drop};
	struct format_options none = {0};
	struct dagtap_error error;
	FILE *sink = fopencookie(ret_bytes, "w", functions);
	int code;

	if (!sink)
		return -errno;
	code = format_find("kineto")->write(trace, sink, &none, &error);
	fclose(sink);
	return code < 0 ? code : 0;
}

/* Copies in pieces that fit the cache, as the writer hands over its rows. */
static int copy_bytes(uint64_t bytes)
{
	char *from = malloc(PIECE_BYTES);
	char *to = malloc(PIECE_BYTES);

	if (!from || !to) {
		free(from);
		free(to);
		return -ENOMEM;
	}
	memset(from, 1, PIECE_BYTES);
	memset(to, 1, PIECE_BYTES);
	for (uint64_t at = 0; at < bytes; at += PIECE_BYTES) {
		memcpy(to, from, PIECE_BYTES);
		/* keeps the compiler from dropping all copies but the last */
		__asm__ volatile("" ::"r"(to) : "memory");
	}
	free(from);
	free(to);
	return 0;
}

static void measure(const void *context, void *ret_report)
{
	const char *path = context;
	struct report *report = ret_report;
	struct trace_options brief = {.is_brief = true};
	struct dagtap_error error;
	struct trace *trace;

	report->error = trace_open(path, &brief, &trace, &error);
	if (report->error < 0) {
		fprintf(stderr, "dagtap-bench: %s\n", error.message);
		return;
	}
	report->rows = (double)trace->activities_count + trace->calls_count;
	for (int i = 0; i < RUNS && report->error >= 0; i++) {
		struct cpu_seconds begin = cpu_now();
		uint64_t bytes = 0;

		report->error = write_to_sink(trace, &bytes);
		report->seconds[i] = cpu_seconds_since(begin);
		report->bytes = (double)bytes;
		begin = cpu_now();
		if (report->error >= 0)
			report->error = copy_bytes(bytes);
		report->memcpy_seconds[i] = cpu_seconds_since(begin);
	}
	trace_close(trace);
}

static void add(struct bench_result *result, struct report *report,
		const struct cpu_seconds *write_floor)
{
	double seconds = bench_median(report->seconds, RUNS);
	double copied = bench_median(report->memcpy_seconds, RUNS);

	bench_add(result, "events", "n", report->rows, "activities and calls");
	bench_add(result, "output", "MB", report->bytes / 1e6, "plain JSON");
	bench_add(result, "event", "B", report->bytes / report->rows, "an activity or call");
	bench_add(result, "write", "s", seconds, "CPU, the trace loaded");
	bench_add(result, "write_event", "ns", seconds * 1e9 / report->rows, "the same");
	bench_add(result, "write_byte", "ns", seconds * 1e9 / report->bytes,
		  "the same; at most 0.4 is the goal");
	bench_add(result, "memcpy_byte", "ns", copied * 1e9 / report->bytes,
		  "floor: memcpy of as many bytes");
	bench_add(result, "file_byte", "ns", cpu_sum(write_floor) * 1e9 / report->bytes,
		  "floor: writing them to a file, which comes on top");
}

static int measure_spool(const char *spool, const char *folder, struct bench_result *result)
{
	struct cpu_seconds write_floor;
	struct report report = {0};
	char output[PATH_MOST];
	int error = run_alone("load and write", measure, spool, &report, sizeof(report));

	snprintf(output, sizeof(output), "%s/output", folder);
	if (!error)
		error = floor_write(output, (uint64_t)report.bytes, &write_floor);
	unlink(output);
	if (!error)
		add(result, &report, &write_floor);
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

const struct bench bench_kineto = {
	.name = "kineto",
	.help = "writing a run of 8.5 million events as Kineto's JSON",
	.options = REFERENCE_INPUT_HELP,
	.run = run,
	.take = take,
};
