/* Statistics of windows, outliers, and files: what is written is read again, and nothing that is
 * read does harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "stats/prometheus.h"
#include "stats/stats_file.h"
#include "wire/utf8.h"

#define MUTATIONS 3000

/* A window of a kernel "gemm", a node of graph 7, a copy to the device, and a collective kernel. */
struct scene {
	struct stats stats;
	uint32_t process;
	struct trace window;
	struct trace_activity activities[4];
	uint64_t outliers; /* that were given out */
	struct stat_outlier last;
};

static const char *strings[] = {
	"", "gemm", "ncclDevKernel_AllReduce", "ncclAllReduce", "\"odd\\\n", "caf\xc3\xa9 caf\xc3"};
static struct trace_work works[] = {
	{.kind = TRACE_KERNEL, .name = 1}, {.kind = TRACE_COPY, .direction = TRACE_H2D},
	{.kind = TRACE_KERNEL, .name = 2}, {.kind = TRACE_KERNEL, .name = 4},
	{.kind = TRACE_KERNEL, .name = 5},
};
static struct trace_graph graphs[] = {{.id = 7}};
static struct trace_node nodes[] = {{.graph = 0, .index = 3}};
static struct trace_api apis[] = {{.name = 3, .domain = RECORD_DOMAIN_RCCL}};
static struct trace_call calls[] = {{.api = 0, .parent = TRACE_NONE}};

static int scene_begin(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	assert_int_equal(stats_init(&scene->stats), 0);
	assert_int_equal(
		stats_add_process(&scene->stats, 42, 0, "/bin/train", 1000, &scene->process), 0);
	for (uint32_t i = 0; i < 4; i++)
		scene->activities[i] = (struct trace_activity){
			.work = i, .call = TRACE_NONE, .node = i ? TRACE_NONE : 0};
	scene->activities[2].call = 0;
	scene->window = (struct trace){
		.strings = strings,
		.works = works,
		.works_count = 5,
		.graphs = graphs,
		.nodes = nodes,
		.apis = apis,
		.calls = calls,
		.activities = scene->activities,
		.activities_count = 4,
	};
	*state = scene;
	return 0;
}

static int scene_end(void **state)
{
	struct scene *scene = *state;

	stats_release(&scene->stats);
	free(scene);
	return 0;
}

static void take_outlier(void *context, const struct stat_outlier *outlier)
{
	struct scene *scene = context;

	scene->outliers++;
	scene->last = *outlier;
}

/* Counts a window in which each activity takes DURATION_NS. */
static void put(struct scene *scene, int64_t duration_ns)
{
	for (uint32_t i = 0; i < 4; i++)
		scene->activities[i].end_ns = duration_ns;
	assert_int_equal(
		stats_take(&scene->stats, scene->process, &scene->window, take_outlier, scene), 0);
}

static const struct stat_row *row_of(struct stats *stats, enum stat_kind kind, const char *name,
				     uint64_t graph, uint32_t node)
{
	return stats_get_row(stats, 0, stats_get_key(stats, kind, name, graph, node));
}

static void activities_count_under_their_keys(void **state)
{
	struct scene *scene = *state;
	const struct stat_row *row;

	put(scene, 100);
	put(scene, 300);
	scene->activities[1].untimed = RECORD_UNTIMED_NO + 1;
	put(scene, 500);
	assert_int_equal(scene->stats.keys_count, 6);
	row = row_of(&scene->stats, STAT_KERNEL, "gemm", 0, 0);
	assert_int_equal(row->interval.count, 3);
	assert_int_equal(row->interval.sum, 900);
	row = row_of(&scene->stats, STAT_NODE, "gemm", 7, 3);
	assert_int_equal(row->interval.sum, 900);
	row = row_of(&scene->stats, STAT_COPY, "copy H2D", 0, 0);
	assert_int_equal(row->interval.sum, 400);
	assert_int_equal(row->untimed, 1);
	row = row_of(&scene->stats, STAT_COLLECTIVE, "ncclAllReduce", 0, 0);
	assert_int_equal(row->interval.count, 3);
	row = row_of(&scene->stats, STAT_KERNEL, "ncclDevKernel_AllReduce", 0, 0);
	assert_int_equal(row->interval.count, 3);
	assert_int_equal(stats_end_interval(&scene->stats, 0), 0);
	row = row_of(&scene->stats, STAT_KERNEL, "gemm", 0, 0);
	assert_int_equal(row->interval.count, 0);
	assert_int_equal(row->total.sum, 900);
}

/* The limit is a multiple of the 99th percentile of what came before. */
static void what_takes_much_longer_is_an_outlier(void **state)
{
	struct scene *scene = *state;

	scene->stats.outlier_factor = 4;
	for (int i = 0; i < STAT_OUTLIER_LEAST - 1; i++)
		put(scene, 1000);
	put(scene, 1000000); /* the first of which there are enough; no limit yet */
	assert_int_equal(scene->outliers, 0);
	put(scene, 4000 * 0.98);
	assert_int_equal(scene->outliers, 0);
	put(scene, 4000 * 1.02);
	/* The activities, not their keys: the kernel is a node, too. */
	assert_int_equal(scene->outliers, 4);
	assert_int_equal(scene->last.duration_ns, 4080);
	assert_int_equal(scene->stats.processes[0].outliers, 4);
	assert_int_equal(stats_end_interval(&scene->stats, 0), 0);
	put(scene, 5000);
	assert_int_equal(scene->outliers, 8);
}

/* ---- files ---- */

struct text {
	char *bytes;
	size_t size;
};

/* Two intervals, an outlier and an end. */
static struct text write_file(struct scene *scene)
{
	const struct stat_outlier outlier = {0, 0, 5000, 4000, 77};
	struct stats_writer writer;
	struct text text = {0};
	FILE *out = open_memstream(&text.bytes, &text.size);

	assert_non_null(out);
	assert_int_equal(stats_write_head(&writer, out, "host", "train --fast", 500), 0);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 50; k++)
			put(scene, 1000 + 37 * k * k);
		put(scene, 0);
		assert_int_equal(stats_write_interval(&writer, &scene->stats, 0, 500 + (uint64_t)i,
						      501 + (uint64_t)i),
				 0);
		assert_int_equal(stats_end_interval(&scene->stats, 0), 0);
	}
	assert_int_equal(stats_write_outlier(&writer, &scene->stats, &outlier, "x.dagtap"), 0);
	scene->stats.processes[0].lost = 9;
	assert_int_equal(stats_write_end(&writer, &scene->stats, 0), 0);
	fclose(out);
	return text;
}

/* A stream to a device that is full for one write. */
struct device {
	char bytes[65536];
	size_t size;
	bool is_full;
};

static ssize_t device_write(void *context, const char *bytes, size_t size)
{
	struct device *device = context;

	if (device->is_full) {
		device->is_full = false;
		errno = ENOSPC;
		return 0;
	}
	assert_true(device->size + size <= sizeof(device->bytes));
	memcpy(device->bytes + device->size, bytes, size);
	device->size += size;
	return (ssize_t)size;
}

static void nothing_is_written_after_a_write_that_failed(void **state)
{
	struct scene *scene = *state;
	struct device device = {0};
	FILE *out = fopencookie(&device, "w", (cookie_io_functions_t){.write = device_write});
	struct stats_writer writer;
	size_t size;

	assert_non_null(out);
	put(scene, 100);
	assert_int_equal(stats_write_head(&writer, out, "node7", "train", 1), 0);
	size = device.size;
	assert_true(size);
	device.is_full = true;
	assert_int_equal(stats_write_interval(&writer, &scene->stats, 0, 1, 2), -ENOSPC);
	assert_int_equal(stats_write_interval(&writer, &scene->stats, 0, 2, 3), -ENOSPC);
	assert_int_equal(stats_write_outlier(&writer, &scene->stats, &scene->last, NULL), -ENOSPC);
	assert_int_equal(stats_write_end(&writer, &scene->stats, 0), -ENOSPC);
	fclose(out);
	assert_int_equal(device.size, size);
}

static int read_text(const char *bytes, size_t size, struct stats *stats,
		     struct stats_reading *reading, struct dagtap_error *error)
{
	/* fmemopen refuses an empty buffer. */
	FILE *in = size ? fmemopen((void *)bytes, size, "r") : fopen("/dev/null", "r");
	uint32_t process;
	int err;

	assert_non_null(in);
	assert_int_equal(stats_init(stats), 0);
	assert_int_equal(stats_add_process(stats, 0, 0, "", 0, &process), 0);
	*reading = (struct stats_reading){0};
	err = stats_read_stream(in, "text", stats, reading, error);
	fclose(in);
	return err;
}

static void what_is_written_is_read(void **state)
{
	struct scene *scene = *state;
	struct text text = write_file(scene);
	struct stats_reading reading;
	struct stats stats;

	assert_int_equal(read_text(text.bytes, text.size, &stats, &reading, NULL), 0);
	assert_int_equal(reading.processes, 1);
	assert_int_equal(reading.processes_ended, 1);
	assert_int_equal(reading.intervals, 2);
	assert_int_equal(reading.begin_ns, 500);
	assert_int_equal(reading.end_ns, 502);
	assert_int_equal(reading.snapshots, 1);
	assert_int_equal(reading.lost, 9);
	assert_int_equal(stats.keys_count, scene->stats.keys_count);
	for (uint32_t key = 0; key < stats.keys_count; key++) {
		const struct sketch *wrote = &scene->stats.processes[0].rows[key].total;
		const struct sketch *got = &stats.processes[0].rows[key].total;

		assert_string_equal(stats.names.strings[stats.keys[key].name],
				    scene->stats.names.strings[scene->stats.keys[key].name]);
		assert_int_equal(got->count, wrote->count);
		assert_int_equal(got->sum, wrote->sum);
		assert_int_equal(got->least, wrote->least);
		assert_int_equal(got->largest, wrote->largest);
		assert_int_equal(got->zeros, wrote->zeros);
		assert_int_equal(got->bucket_count, wrote->bucket_count);
		assert_memory_equal(got->buckets, wrote->buckets,
				    got->bucket_count * sizeof(*got->buckets));
	}
	stats_release(&stats);
	free(text.bytes);
}

/* The counts of deliveries are those since the begin, so of a process the last line counts.
 * They are written again only if one has changed since the last interval. */
static void the_last_deliveries_count(void **state)
{
	struct scene *scene = *state;
	struct stat_process *process = &scene->stats.processes[0];
	struct stats_reading reading;
	struct stats_writer writer;
	struct text text = {0};
	struct stats stats;
	size_t size;
	FILE *out = open_memstream(&text.bytes, &text.size);

	assert_non_null(out);
	assert_int_equal(stats_write_head(&writer, out, "host", "run", 1), 0);
	assert_int_equal(stats_write_deliveries(&writer, &scene->stats, 0), 0);
	process->deliveries = (struct stat_deliveries){
		.is_known = true, .launched_kernels = 10, .delivered_kernels = 4, .pending = 6};
	assert_int_equal(stats_write_deliveries(&writer, &scene->stats, 0), 0);
	assert_int_equal(stats_end_interval(&scene->stats, 0), 0);
	fflush(out);
	size = text.size;
	assert_int_equal(stats_write_deliveries(&writer, &scene->stats, 0), 0);
	fflush(out);
	assert_int_equal(text.size, size);
	process->deliveries = (struct stat_deliveries){.is_known = true,
						       .launched_kernels = 20,
						       .delivered_kernels = 17,
						       .not_read = 1,
						       .missing = 2};
	assert_int_equal(stats_write_deliveries(&writer, &scene->stats, 0), 0);
	assert_int_equal(prometheus_write(&scene->stats, out), 0);
	fclose(out);
	assert_non_null(strstr(text.bytes,
			       "dagtap_cuda_missing{process=\"0\",pid=\"42\",session=\"0\"} 2\n"));
	*strstr(text.bytes, "# HELP") = '\0';
	assert_int_equal(read_text(text.bytes, strlen(text.bytes), &stats, &reading, NULL), 0);
	assert_true(reading.deliveries.is_known);
	assert_int_equal(reading.deliveries.launched_kernels, 20);
	assert_int_equal(reading.deliveries.delivered_kernels, 17);
	assert_int_equal(reading.deliveries.not_read, 1);
	assert_int_equal(reading.deliveries.pending, 0);
	assert_int_equal(reading.deliveries.missing, 2);
	stats_release(&stats);
	free(text.bytes);
}

static void expect_refused(const char *file, int code, const char *message)
{
	struct stats_reading reading;
	struct dagtap_error error;
	struct stats stats;

	assert_int_equal(read_text(file, strlen(file), &stats, &reading, &error), code);
	if (!strstr(error.message, message))
		fail_msg("\"%s\" instead of \"%s\"", error.message, message);
	stats_release(&stats);
}

#define HEAD "{\"dagstats\": 1, \"error\": 0.01}\n"
#define KEY  "{\"key\": 0, \"kind\": \"kernel\", \"name\": \"k\"}\n"
#define ROWS(row)                                                                                  \
	HEAD KEY "{\"interval\": 0, \"begin_ns\": 1, \"end_ns\": 2, \"rows\": [" row "]}\n"

static void files_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	expect_refused("", -EBADMSG, "not a file of dagtap's statistics");
	expect_refused("{\"a\": 1}\n", -EBADMSG, "line 1: not a file of dagtap's statistics");
	expect_refused("PK\n", -EBADMSG, "line 1: not a file of dagtap's statistics");
	expect_refused("{\"dagstats\": 2, \"error\": 0.01}\n", -EPROTONOSUPPORT, "version 2");
	expect_refused("{\"dagstats\": 1, \"error\": 0.02}\n", -EBADMSG, "another error bound");
	expect_refused("{\"dagstats\": 1}\n", -EBADMSG, "error bound is missing");
	expect_refused(HEAD "{\"key\": 1, \"kind\": \"kernel\", \"name\": \"k\"}\n", -EBADMSG,
		       "line 2: a key without");
	expect_refused(HEAD "{\"key\": 0, \"kind\": \"x\", \"name\": \"k\"}\n", -EBADMSG, "kind");
	expect_refused(ROWS("{\"key\": 1, \"count\": 0}"), -EBADMSG, "line 3: a row has no key");
	expect_refused(ROWS("{\"key\": 0, \"count\": 2, \"buckets\": [5, 1]}"), -EBADMSG, "add up");
	expect_refused(ROWS("{\"key\": 0, \"count\": 1, \"buckets\": [5]}"), -EBADMSG, "no count");
	expect_refused(ROWS("{\"key\": 0, \"count\": 1, \"buckets\": [2220, 1]}"), -EBADMSG,
		       "index");
	expect_refused(ROWS("{\"key\": 0, \"count\": 2, \"buckets\": [2000, 1, 2000, 1]}"),
		       -EBADMSG, "index");
	expect_refused(ROWS("{\"key\": 0, \"count\": -1}"), -EBADMSG, "a number");
	expect_refused(HEAD "{\"deliveries\": 0, \"missing\": 1}\n", -EBADMSG,
		       "line 2: deliveries of a process");
	expect_refused(ROWS("{\"key\": 0, \"count\": 1, \"min_ns\": 2, \"max_ns\": 1, "
			    "\"buckets\": [5, 1]}"),
		       -EBADMSG, "contradicts");
	expect_refused(ROWS("{\"key\": 0, \"count\": 1, \"collapsed\": 2, \"buckets\": [5, 1]}"),
		       -EBADMSG, "contradicts");
}

static void lines_and_members_of_later_versions_are_skipped(void **state)
{
	static const char file[] = HEAD KEY
		"{\"later\": [{\"rows\": [1]}]}\n"
		"{\"later\": 1, \"process\": 0, \"key\": 7, \"count\": -1, \"error\": 0.5}\n"
		"{\"later\": 1, \"end\": 0, \"lost\": 5, \"rows\": [{\"key\": 9}]}\n"
		"{\"interval\": 0, \"new\": {\"rows\": [{\"key\": 9}]}, \"rows\": "
		"[{\"key\": 0, \"new\": [[1]], \"count\": 1, \"sum_ns\": 7, \"min_ns\": 7, "
		"\"max_ns\": 7, \"buckets\": [98, 1]}, 5]}\n";
	struct stats_reading reading;
	struct stats stats;

	(void)state;
	assert_int_equal(read_text(file, strlen(file), &stats, &reading, NULL), 0);
	assert_int_equal(stats.processes[0].rows[0].total.sum, 7);
	assert_int_equal(reading.processes, 0);
	assert_int_equal(reading.processes_ended, 0);
	assert_int_equal(reading.lost, 0);
	stats_release(&stats);
}

static uint64_t random_state;

static uint32_t draw(uint32_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % limit;
}

/* Changes bytes, removes and repeats parts. */
static size_t mutate(char *bytes, size_t size)
{
	uint32_t at = draw((uint32_t)size), length = 1 + draw(40);

	if (length > size - at)
		length = (uint32_t)(size - at);
	switch (draw(4)) {
	case 0:
		bytes[at] = (char)draw(256);
		return size;
	case 1:
		bytes[at] = "0123456789[]{}\",:\n"[draw(18)];
		return size;
	case 2:
		memmove(bytes + at, bytes + at + length, size - at - length);
		return size - length;
	default:
		memmove(bytes + draw((uint32_t)(size - length + 1)), bytes + at, length);
		return size;
	}
}

static void damaged_files_do_no_harm(void **state)
{
	struct scene *scene = *state;
	struct text text = write_file(scene);
	char *copy = malloc(text.size);
	FILE *sink = fopen("/dev/null", "w");

	assert_non_null(copy);
	assert_non_null(sink);
	for (int i = 0; i < MUTATIONS; i++) {
		struct stats_reading reading;
		struct stats stats;
		size_t size = text.size;

		memcpy(copy, text.bytes, size);
		for (uint32_t k = draw(4) + 1; k && size > 1; k--)
			size = mutate(copy, size);
		if (read_text(copy, size, &stats, &reading, NULL) == 0)
			assert_int_equal(prometheus_write(&stats, sink), 0);
		stats_release(&stats);
	}
	fclose(sink);
	free(copy);
	free(text.bytes);
}

static void metrics_escape_what_names_hold(void **state)
{
	struct scene *scene = *state;
	struct text text = {0};
	FILE *out = open_memstream(&text.bytes, &text.size);

	put(scene, 1000);
	assert_non_null(out);
	assert_int_equal(prometheus_write(&scene->stats, out), 0);
	fclose(out);
	assert_non_null(strstr(text.bytes, "name=\"\\\"odd\\\\\\n\""));
	assert_non_null(strstr(
		text.bytes, "dagtap_activity_duration_seconds_sum{process=\"0\",pid=\"42\",session="
			    "\"0\",kind=\"node\",name=\"gemm\",graph=\"7\",node=\"3\"} "
			    "0.000001000\n"));
	free(text.bytes);
}

/* The format is UTF-8: a scraper refuses all of an answer with another byte. */
static void metrics_are_utf_8(void **state)
{
	struct scene *scene = *state;
	struct text text = {0};
	FILE *out = open_memstream(&text.bytes, &text.size);

	scene->activities[0].work = 4;
	put(scene, 1000);
	assert_non_null(out);
	assert_int_equal(prometheus_write(&scene->stats, out), 0);
	fclose(out);
	assert_non_null(strstr(text.bytes, "name=\"caf\xc3\xa9 caf\xef\xbf\xbd\""));
	assert_true(utf8_valid(text.bytes, text.size));
	free(text.bytes);
}

/* exec keeps the pid, and a pid comes again. */
static void recordings_with_one_pid_have_metrics_of_their_own(void **state)
{
	struct scene *scene = *state;
	struct text text = {0};
	FILE *out = open_memstream(&text.bytes, &text.size);
	char *first, *second;
	uint32_t other;

	assert_int_equal(stats_add_process(&scene->stats, 42, 0, "/bin/train", 2000, &other), 0);
	assert_non_null(out);
	assert_int_equal(prometheus_write(&scene->stats, out), 0);
	fclose(out);
	first = strstr(text.bytes, "\ndagtap_lost_total{");
	assert_non_null(first);
	second = strstr(first + 1, "\ndagtap_lost_total{");
	assert_non_null(second);
	assert_memory_not_equal(first, second, strcspn(first, "}"));
	free(text.bytes);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(activities_count_under_their_keys),
		CASE(what_takes_much_longer_is_an_outlier),
		CASE(what_is_written_is_read),
		CASE(the_last_deliveries_count),
		CASE(nothing_is_written_after_a_write_that_failed),
		CASE(files_that_contradict_themselves_are_refused),
		CASE(lines_and_members_of_later_versions_are_skipped),
		CASE(damaged_files_do_no_harm),
		CASE(metrics_escape_what_names_hold),
		CASE(metrics_are_utf_8),
		CASE(recordings_with_one_pid_have_metrics_of_their_own),
	};

	random_state = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
