/*
 * Measures what exporting the reference run costs, from the spool to a file of another format: CPU
 * seconds and memory of a process of its own on one core, with the spool in the page cache. The
 * floors in reference_floors.c are for the same bytes and the same number of events.
 */
#include "reference_floors.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "format/format.h"
#include "format/xspace/xspace_account.h"
#include "reference_spool.h"
#include "trace/load.h"

#define RUNS	  3
#define MIB	  1048576.0
#define PATH_MOST 4096

/* For each side, keeps the stats that take the most bytes. */
#define STATS_MOST 20

static struct {
	uint64_t seed;
	uint32_t steps;
	const char *file; /* the spool's path if given: it is kept, and read if it exists */
	bool generate_only;
	bool is_full; /* loads arguments, ticks and waits even if the format writes none */
	bool sweeps;
} options = {.seed = 1, .steps = REFERENCE_STEPS};

/* The result of a child that loads and exports. */
struct report {
	int error;
	struct cpu_seconds load, export;
	double loaded_anon, exported_anon, peak; /* MiB; the peak includes mapped files */
	double device_events, host_events;
	double output_bytes;
};

/* The results for one size. */
struct measured {
	struct report report; /* medians */
	double input_bytes;
	struct cpu_seconds copy, touch, write, encode;
	struct xspace_account account; /* of the output; empty if there is none */
};

/* ---- one run, in a process of its own ---- */

static double status_mib(const char *field)
{
	FILE *status = fopen("/proc/self/status", "r");
	size_t length = strlen(field);
	double kib = NAN;
	char line[256];

	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, field, length) && line[length] == ':')
			kib = strtod(line + length + 1, NULL);
	}
	if (status)
		fclose(status);
	return kib / 1024;
}

static const struct format *export_format(void)
{
	const struct format *format = format_find("xspace");

	return format ? format : format_find("perfetto");
}

static int export_to(const struct trace *trace, const char *path, double *ret_bytes)
{
	FILE *out = fopen(path, "wx");
	struct format_options none = {0};
	struct dagtap_error error;
	int code;

	if (!out)
		return -errno;
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	code = export_format()->write(trace, out, &none, &error);
	if (code >= 0 && fflush(out))
		code = -errno;
	*ret_bytes = (double)ftello(out);
	fclose(out);
	return code < 0 ? code : 0;
}

struct places {
	const char *spool;
	const char *output;
};

static void load_and_export(const void *context, void *ret_report)
{
	const struct places *places = context;
	struct report *report = ret_report;
	struct trace_options brief = {
		.is_brief = export_format()->is_brief && !options.is_full,
		.without_waits = export_format()->without_waits && !options.is_full,
	};
	struct cpu_seconds begin = cpu_now();
	struct dagtap_error error;
	struct trace *trace;

	report->error = trace_open(places->spool, &brief, &trace, &error);
	if (report->error < 0) {
		fprintf(stderr, "dagtap-bench: %s\n", error.message);
		return;
	}
	report->load = cpu_since(begin);
	report->loaded_anon = status_mib("RssAnon");
	begin = cpu_now();
	report->error = export_to(trace, places->output, &report->output_bytes);
	report->export = cpu_since(begin);
	report->exported_anon = status_mib("RssAnon");
	report->peak = status_mib("VmHWM");
	report->device_events = trace->activities_count;
	report->host_events = trace->calls_count;
	trace_close(trace);
}

/* ---- one size ---- */

static void take_medians(const struct report *reports, struct report *ret_report)
{
	*ret_report = reports[RUNS - 1];
	ret_report->load = cpu_median(&reports[0].load, RUNS, sizeof(*reports));
	ret_report->export = cpu_median(&reports[0].export, RUNS, sizeof(*reports));
}

static int measure_runs(const struct places *places, struct report *ret_report)
{
	struct report reports[RUNS];
	int error = 0;

	for (int i = 0; i < RUNS && !error; i++) {
		unlink(places->output);
		error = run_alone("load and export", load_and_export, places, &reports[i],
				  sizeof(reports[i]));
	}
	if (!error)
		take_medians(reports, ret_report);
	return error;
}

/* Counts the output's bytes by what they hold. */
static int account_output(const char *path, struct xspace_account *ret_account)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? -errno : 0;
	struct stat status;
	void *bytes;

	if (!error && fstat(fd, &status))
		error = -errno;
	if (!error) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		error = bytes == MAP_FAILED ? -errno : 0;
	}
	if (!error) {
		error = xspace_account(bytes, (size_t)status.st_size, ret_account);
		munmap(bytes, (size_t)status.st_size);
	}
	if (fd >= 0)
		close(fd);
	return error;
}

static int measure_floors(const struct places *places, struct measured *measured)
{
	uint64_t events = (uint64_t)(measured->report.device_events + measured->report.host_events);
	int error = floor_copy(places->spool, &measured->copy);

	if (!error)
		error = floor_touch((uint64_t)(measured->report.loaded_anon * MIB),
				    &measured->touch);
	unlink(places->output);
	if (!error)
		error = floor_write(places->output, (uint64_t)measured->report.output_bytes,
				    &measured->write);
	unlink(places->output);
	return error ? error : floor_encode(events, &measured->encode);
}

/* SPOOL exists. Reads it once before measuring, so that it is in the page cache. */
static int measure_spool(const char *spool, const char *folder, struct measured *ret_measured)
{
	char output[PATH_MOST];
	struct places places = {.spool = spool, .output = output};
	struct stat status;
	int error;

	snprintf(output, sizeof(output), "%s/output", folder);
	if (stat(spool, &status))
		return -errno;
	*ret_measured = (struct measured){.input_bytes = (double)status.st_size};
	error = floor_copy(spool, &ret_measured->copy);
	if (!error)
		error = measure_runs(&places, &ret_measured->report);
	if (!error && !strcmp(export_format()->name, "xspace"))
		error = account_output(output, &ret_measured->account);
	if (!error)
		error = measure_floors(&places, ret_measured);
	unlink(output);
	return error;
}

static int measure_steps(uint32_t steps, const char *folder, struct measured *ret_measured)
{
	char spool[PATH_MOST];
	int error;

	snprintf(spool, sizeof(spool), "%s/reference.spool", folder);
	error = reference_spool_write(spool, options.seed, steps);
	if (!error)
		error = measure_spool(spool, folder, ret_measured);
	unlink(spool);
	return error;
}

/* ---- output ---- */

static void add_cpu(struct bench_result *result, const char *const names[2],
		    const struct cpu_seconds *seconds, const char *help)
{
	bench_add(result, names[0], "s", seconds->user, help);
	bench_add(result, names[1], "s", seconds->system, "and in the kernel");
}

static void add_measured(struct bench_result *result, const struct measured *m)
{
	const struct report *report = &m->report;
	double events = report->device_events + report->host_events;

	bench_add(result, "device_events", "n", report->device_events, "kernels, copies, fills");
	bench_add(result, "host_events", "n", report->host_events, "calls");
	bench_add(result, "input", "MiB", m->input_bytes / MIB, "the spool");
	bench_add(result, "output", "MiB", report->output_bytes / MIB, export_format()->name);
	bench_add(result, "output_event", "B", report->output_bytes / events, "an event");
	add_cpu(result, (const char *const[]){"load_user", "load_system"}, &report->load,
		"load and join");
	add_cpu(result, (const char *const[]){"export_user", "export_system"}, &report->export,
		"export");
	bench_add(result, "total", "s", cpu_sum(&report->load) + cpu_sum(&report->export),
		  "all of that; at most 1.0 is the goal for 100 steps, 0.4 the aim");
	add_cpu(result, (const char *const[]){"copy_user", "copy_system"}, &m->copy,
		"floor: memcpy of the input, from the mapped file");
	add_cpu(result, (const char *const[]){"touch_user", "touch_system"}, &m->touch,
		"floor: first store to each page of as much memory as was loaded");
	add_cpu(result, (const char *const[]){"write_user", "write_system"}, &m->write,
		"floor: writing so many bytes as the output");
	add_cpu(result, (const char *const[]){"encode_user", "encode_system"}, &m->encode,
		"floor: so many protobuf events with three numbers each, no model");
	bench_add(result, "peak", "MiB", report->peak,
		  "resident at most, the mapped spool included; at most 1024 is the goal");
	bench_add(result, "loaded", "MiB", report->loaded_anon, "own memory, loaded");
	bench_add(result, "exported", "MiB", report->exported_anon, "own memory, exported");
	bench_add(result, "loaded_event", "B", report->loaded_anon * MIB / events, "an event");
}

/*
 * Prints bytes by stat, as for XLA's traces, which have 115 bytes a device event with 13 stats and
 * 39 bytes a host event in a trace of JAX.
 */
static void add_side(struct bench_result *result, const char *side,
		     const struct xspace_account_side *account)
{
	static char names[2 * STATS_MOST + 4][80];
	static size_t used;
	double events = account->events ? (double)account->events : 1;

	snprintf(names[used], sizeof(names[0]), "%s_event", side);
	bench_add(result, names[used++], "B", (double)account->bytes / events,
		  "all of it; an event");
	snprintf(names[used], sizeof(names[0]), "%s_times", side);
	bench_add(result, names[used++], "B", (double)account->time_bytes / events,
		  "its offset and duration");
	for (uint32_t i = 0; i < account->rows_count && i < STATS_MOST; i++) {
		snprintf(names[used], sizeof(names[0]), "%s_%s", side, account->rows[i].name);
		bench_add(result, names[used++], "B", (double)account->rows[i].bytes / events,
			  "stat; mean over all events");
	}
}

static void add_account(struct bench_result *result, const struct xspace_account *account)
{
	if (!account->device.events)
		return;
	add_side(result, "device", &account->device);
	add_side(result, "host", &account->host);
}

/* ---- the benchmark ---- */

static int sweep(const char *folder, struct bench_result *result)
{
	static const struct {
		uint32_t steps;
		const char *names[4];
	} sizes[] = {
		{REFERENCE_STEPS / 10, {"total_10", "event_10", "peak_10", "loaded_event_10"}},
		{REFERENCE_STEPS, {"total_100", "event_100", "peak_100", "loaded_event_100"}},
		{REFERENCE_STEPS * 4, {"total_400", "event_400", "peak_400", "loaded_event_400"}},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const char *const *names = sizes[i].names;
		struct measured m = {0};
		double seconds, events;
		int error = measure_steps(sizes[i].steps, folder, &m);

		xspace_account_release(&m.account);
		if (error)
			return error;
		seconds = cpu_sum(&m.report.load) + cpu_sum(&m.report.export);
		events = m.report.device_events + m.report.host_events;
		bench_add(result, names[0], "s", seconds, "load, join and export of so many steps");
		bench_add(result, names[1], "ns", seconds * 1e9 / events, "an event");
		bench_add(result, names[2], "MiB", m.report.peak, "resident at most");
		bench_add(result, names[3], "B", m.report.loaded_anon * MIB / events,
			  "own memory, loaded, an event");
	}
	return 0;
}

static int generate(struct bench_result *result)
{
	struct reference_counts counts = reference_spool_counts(options.steps);
	uint64_t begin_ns = clock_now_ns();
	struct stat status;
	int error = reference_spool_write(options.file, options.seed, options.steps);

	if (error) {
		fprintf(stderr, "dagtap-bench: %s: %s\n", options.file, strerror(-error));
		return error;
	}
	if (stat(options.file, &status))
		return -errno;
	bench_add(result, "device_events", "n", (double)counts.device_events,
		  "kernels, copies, fills");
	bench_add(result, "host_events", "n", (double)counts.host_events, "calls");
	bench_add(result, "spool", "MiB", (double)status.st_size / MIB, "written");
	bench_add(result, "elapsed", "s", (double)(clock_now_ns() - begin_ns) / 1e9, "for that");
	return 0;
}

static int measure_file(const char *spool, const char *folder, struct measured *ret_measured)
{
	int error = 0;

	if (access(spool, F_OK))
		error = reference_spool_write(spool, options.seed, options.steps);
	return error ? error : measure_spool(spool, folder, ret_measured);
}

static int measure_one(const char *folder, struct bench_result *result)
{
	struct measured measured = {0};
	int error = options.file ? measure_file(options.file, folder, &measured)
				 : measure_steps(options.steps, folder, &measured);

	if (!error) {
		add_measured(result, &measured);
		add_account(result, &measured.account);
	}
	xspace_account_release(&measured.account);
	return error;
}

static int run(struct bench_result *ret_result)
{
	const char *base = getenv("TMPDIR");
	char folder[256];
	int error;

	if (options.generate_only)
		return generate(ret_result);
	snprintf(folder, sizeof(folder), "%s/dagtap-bench-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder))
		return -errno;
	error = options.sweeps ? sweep(folder, ret_result) : measure_one(folder, ret_result);
	rmdir(folder);
	return error;
}

static int take_seed(const char *text)
{
	char *end;

	options.seed = strtoull(text, &end, 0);
	return end == text || *end ? -EINVAL : 0;
}

/* Rounds to whole steps: a scale of 0.01 is one step. */
static int take_scale(const char *text)
{
	char *end;
	double steps = round(strtod(text, &end) * REFERENCE_STEPS);

	if (end == text || *end || !(steps >= 1) || steps > REFERENCE_STEPS_MOST)
		return -EINVAL;
	options.steps = (uint32_t)steps;
	return 0;
}

static int take(int argc, char **argv)
{
	static const struct option known[] = {
		{"seed", required_argument, NULL, 's'},
		{"scale", required_argument, NULL, 'x'},
		{"keep", required_argument, NULL, 'k'},
		{"generate-only", no_argument, NULL, 'g'},
		{"sweep", no_argument, NULL, 'w'},
		{"full", no_argument, NULL, 'f'},
		{0},
	};
	int option;

	/* getopt_long() takes the argument before the first one for the program's name. */
	while ((option = getopt_long(argc + 1, argv - 1, "", known, NULL)) != -1) {
		int error = 0;

		if (option == 's')
			error = take_seed(optarg);
		else if (option == 'x')
			error = take_scale(optarg);
		else if (option == 'k')
			options.file = optarg;
		else if (option == 'g')
			options.generate_only = true;
		else if (option == 'f')
			options.is_full = true;
		else if (option == 'w')
			options.sweeps = true;
		else
			error = -EINVAL;
		if (error)
			return error;
	}
	if (optind != argc + 1 || (options.generate_only && !options.file))
		return -EINVAL;
	return 0;
}

const struct bench bench_reference = {
	.name = "reference",
	.help = "loading, joining and exporting a run of 8.5 million events",
	.run = run,
	.options =
		"[--seed N] [--scale 0.01..10] [--full] [--sweep] [--keep FILE [--generate-only]]",
	.take = take,
};
