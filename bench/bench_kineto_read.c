/*
 * Measures what reading Kineto's JSON costs, plain and gzipped: CPU time of a process of its own on
 * one core, from the file to the model. The floors for the same bytes are a memcpy, the tokenizer
 * alone, the same tokens by a reader in C, and inflating. The file is a part of the reference run
 * as our writer writes it, or a given one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <zlib.h>

#include "bench.h"
#include "format/format.h"
#include "format/kineto/kineto_reader.h"
#include "format/read.h"
#include "json_c_floor.h"
#include "reference_floors.h"
#include "reference_spool.h"
#include "trace/load.h"
#include "wire/json_reader.h"

#define RUNS	      5
#define STEPS_DEFAULT 10
#define PIECE_BYTES   ((size_t)128 << 10)
#define FOLDER_MOST   256
#define PATH_MOST     512

static struct {
	const char *file;
	uint32_t steps;
} options = {.steps = STEPS_DEFAULT};

struct paths {
	char plain[PATH_MOST], gzip[PATH_MOST];
};

struct report {
	int error;
	double events, bytes, memory_bytes;
	double plain[RUNS], gzip[RUNS], copy[RUNS], tokens[RUNS], inflate[RUNS];
	bool has_c_tokens; /* libyajl.so.2 is installed */
	double c_tokens[RUNS];
};

static double cpu_seconds_since(struct cpu_seconds begin)
{
	struct cpu_seconds seconds = cpu_since(begin);

	return cpu_sum(&seconds);
}

/* ---- the files ---- */

static int write_plain(const char *spool, const char *path)
{
	struct trace_options brief = {.is_brief = true};
	struct format_options none = {0};
	struct dagtap_error error;
	struct trace *trace;
	int result = trace_open(spool, &brief, &trace, &error);
	FILE *out;

	if (result < 0)
		return result;
	out = fopen(path, "w");
	result = out ? format_find("kineto")->write(trace, out, &none, &error) : -errno;
	if (out && fclose(out) && result >= 0)
		result = -errno;
	trace_close(trace);
	return result < 0 ? result : 0;
}

static int write_gzip(const char *plain, const char *path)
{
	char *piece = malloc(PIECE_BYTES);
	FILE *in = fopen(plain, "r");
	gzFile out = gzopen(path, "wb1");
	int result = piece && in && out ? 0 : -EIO;
	size_t bytes;

	while (result == 0 && (bytes = fread(piece, 1, PIECE_BYTES, in)) > 0) {
		if (gzwrite(out, piece, (unsigned)bytes) != (int)bytes)
			result = -EIO;
	}
	if (out && gzclose(out) != Z_OK)
		result = -EIO;
	if (in)
		fclose(in);
	free(piece);
	return result;
}

/* ---- the floors ---- */

struct text {
	char *bytes;
	size_t size, used;
};

static int read_text(const char *path, struct text *ret_text)
{
	FILE *file = fopen(path, "r");
	long size = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	*ret_text = (struct text){.bytes = malloc(size > 0 ? (size_t)size : 1)};
	if (size > 0 && ret_text->bytes) {
		rewind(file);
		ret_text->size = fread(ret_text->bytes, 1, (size_t)size, file);
	}
	if (file)
		fclose(file);
	return ret_text->size ? 0 : -EIO;
}

static size_t next_piece(void *context, const char **ret_piece)
{
	struct text *text = context;
	size_t left = text->size - text->used, bytes = left < PIECE_BYTES ? left : PIECE_BYTES;

	*ret_piece = text->bytes + text->used;
	text->used += bytes;
	return bytes;
}

static bool drop_edge(void *context, bool is_object)
{
	return true;
}

static bool drop_text(void *context, const char *bytes, size_t size)
{
	return true;
}

static bool drop_literal(void *context, const char *literal)
{
	return true;
}

static int read_tokens(struct text *text)
{
	static const struct json_handler nobody = {drop_edge, drop_edge,    drop_text, drop_text,
						   drop_text, drop_literal, next_piece};
	struct json_stop stop;

	text->used = 0;
	return json_read(&nobody, text, &stop);
}

/* Copies in pieces that fit the cache. */
static void copy_text(struct text *text, char *to)
{
	const char *piece;
	size_t bytes;

	text->used = 0;
	while ((bytes = next_piece(text, &piece)) > 0) {
		memcpy(to, piece, bytes);
		/* keeps the compiler from dropping all copies but the last */
		__asm__ volatile("" ::"r"(to) : "memory");
	}
}

static int inflate_file(const char *path, char *to)
{
	gzFile in = gzopen(path, "rb");
	int got = in ? 1 : -1;

	while (got > 0)
		got = gzread(in, to, PIECE_BYTES);
	if (in)
		gzclose(in);
	return got < 0 ? -EIO : 0;
}

static void measure_floors(const void *context, void *ret_report)
{
	const struct paths *paths = context;
	struct report *report = ret_report;
	char *to = malloc(PIECE_BYTES);
	struct text text = {0};

	report->error = to ? read_text(paths->plain, &text) : -ENOMEM;
	for (int i = 0; i < RUNS && report->error == 0; i++) {
		struct cpu_seconds begin = cpu_now();

		copy_text(&text, to);
		report->copy[i] = cpu_seconds_since(begin);
		begin = cpu_now();
		report->error = read_tokens(&text);
		report->tokens[i] = cpu_seconds_since(begin);
		begin = cpu_now();
		report->has_c_tokens = json_c_tokens(text.bytes, text.size, PIECE_BYTES) == 0;
		report->c_tokens[i] = cpu_seconds_since(begin);
		begin = cpu_now();
		if (report->error == 0)
			report->error = inflate_file(paths->gzip, to);
		report->inflate[i] = cpu_seconds_since(begin);
	}
	report->bytes = (double)text.size;
	free(text.bytes);
	free(to);
}

/* ---- reading ---- */

static int read_once(const char *path, double *ret_seconds, double *ret_events)
{
	struct cpu_seconds begin = cpu_now();
	struct dagtap_error error;
	struct trace *trace;
	int result = read_open(path, NULL, &trace, &error);

	if (result < 0) {
		fprintf(stderr, "dagtap-bench: %s\n", error.message);
		return result;
	}
	*ret_seconds = cpu_seconds_since(begin);
	*ret_events = (double)trace->activities_count + trace->calls_count + trace->scopes_count +
		      trace->waits_count;
	trace_close(trace);
	return 0;
}

static void measure_gzip(const void *context, void *ret_report)
{
	const struct paths *paths = context;
	struct report *report = ret_report;
	struct rusage usage;

	for (int i = 0; i < RUNS && report->error == 0; i++)
		report->error = read_once(paths->gzip, &report->gzip[i], &report->events);
	getrusage(RUSAGE_SELF, &usage);
	report->memory_bytes = (double)usage.ru_maxrss * 1024;
}

static void measure_plain(const void *context, void *ret_report)
{
	const struct paths *paths = context;
	struct report *report = ret_report;

	for (int i = 0; i < RUNS && report->error == 0; i++)
		report->error = read_once(paths->plain, &report->plain[i], &report->events);
}

static void add(struct bench_result *result, struct report *plain, struct report *gzip,
		struct report *floors)
{
	double bytes = floors->bytes, seconds = bench_median(plain->plain, RUNS);

	bench_add(result, "input", "MB", bytes / 1e6, "plain JSON");
	bench_add(result, "events", "n", plain->events, "activities, calls, scopes and waits");
	bench_add(result, "read", "s", seconds, "CPU, plain, from the file to the model");
	bench_add(result, "read_rate", "MB/s", bytes / seconds / 1e6,
		  "the same; 300 or more is the goal");
	bench_add(result, "read_event", "ns", seconds * 1e9 / plain->events, "the same");
	bench_add(result, "gzip_rate", "MB/s", bytes / bench_median(gzip->gzip, RUNS) / 1e6,
		  "gzipped, by bytes of JSON");
	bench_add(result, "gzip_memory", "MB", gzip->memory_bytes / 1e6,
		  "peak, the model in it: what is inflated is not kept");
	bench_add(result, "copy_rate", "MB/s", bytes / bench_median(floors->copy, RUNS) / 1e6,
		  "floor: memcpy of the JSON");
	bench_add(result, "token_rate", "MB/s", bytes / bench_median(floors->tokens, RUNS) / 1e6,
		  "floor: its tokens, and nothing done with them");
	if (floors->has_c_tokens)
		bench_add(result, "c_token_rate", "MB/s",
			  bytes / bench_median(floors->c_tokens, RUNS) / 1e6,
			  "floor: the same by yajl, a JSON reader in C");
	bench_add(result, "inflate_rate", "MB/s", bytes / bench_median(floors->inflate, RUNS) / 1e6,
		  "floor: inflating it");
}

static int measure(const struct paths *paths, struct bench_result *result)
{
	struct report plain = {0}, gzip = {0}, floors = {0};
	int error = run_alone("read plain JSON", measure_plain, paths, &plain, sizeof(plain));

	if (!error)
		error = run_alone("read gzipped JSON", measure_gzip, paths, &gzip, sizeof(gzip));
	if (!error)
		error = run_alone("floors", measure_floors, paths, &floors, sizeof(floors));
	if (!error)
		add(result, &plain, &gzip, &floors);
	return error;
}

static int make_plain(const char *folder, const char *path)
{
	char spool[PATH_MOST];
	int error;

	snprintf(spool, sizeof(spool), "%s/reference.spool", folder);
	error = reference_spool_write(spool, 1, options.steps);
	if (!error)
		error = write_plain(spool, path);
	unlink(spool);
	return error;
}

static int run(struct bench_result *ret_result)
{
	const char *base = getenv("TMPDIR");
	char folder[FOLDER_MOST];
	struct paths paths;
	int error = 0;

	snprintf(folder, sizeof(folder), "%s/dagtap-bench-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder))
		return -errno;
	snprintf(paths.gzip, sizeof(paths.gzip), "%s/trace.json.gz", folder);
	snprintf(paths.plain, sizeof(paths.plain), "%s/trace.json", folder);
	if (!options.file)
		error = make_plain(folder, paths.plain);
	else
		snprintf(paths.plain, sizeof(paths.plain), "%s", options.file);
	if (!error)
		error = write_gzip(paths.plain, paths.gzip);
	if (!error)
		error = measure(&paths, ret_result);
	if (!options.file)
		unlink(paths.plain);
	unlink(paths.gzip);
	rmdir(folder);
	return error;
}

static int take(int argc, char **argv)
{
	char *end;

	if (argc != 2)
		return -EINVAL;
	if (!strcmp(argv[0], "--file")) {
		options.file = argv[1];
		return 0;
	}
	if (strcmp(argv[0], "--steps") != 0)
		return -EINVAL;
	options.steps = (uint32_t)strtoul(argv[1], &end, 10);
	return *end || options.steps < 1 || options.steps > REFERENCE_STEPS_MOST ? -EINVAL : 0;
}

const struct bench bench_kineto_read = {
	.name = "kineto-read",
	.help = "reading Kineto's JSON, plain and gzipped",
	.options = "[--steps N of the reference run's 100 | --file FILE.json]",
	.run = run,
	.take = take,
};
