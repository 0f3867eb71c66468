/*
 * Records HIP calls about events, and compares the models of several kinds of load: event_scene.h.
 */
#include "event_scene.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "pack_memory.h"
#include "trace/load.h"
#include "trace/pack/bundle.h"

void event_scene_init(struct scene *scene)
{
	static const char *const texts[] = {
#define X(name, text) text,
		EVENT_FUNCTIONS(X)
#undef X
	};

	scene_init(scene, 1);
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct {
			struct record_api_name fixed;
			char text[128];
		} record = {.fixed = {.domain = RECORD_DOMAIN_HIP, .text_bytes = strlen(texts[i])}};

		memcpy(record.text, texts[i], strlen(texts[i]));
		scene_put(scene, 0, RECORD_API_NAME, EVENT_FUNCTION_BEFORE_FIRST + 1 + i, &record,
			  sizeof(record.fixed) + strlen(texts[i]));
	}
}

int event_scene_setup(void **state)
{
	static struct scene scene;

	event_scene_init(&scene);
	*state = &scene;
	return 0;
}

uint64_t event_scene_call(struct scene *scene, const struct event_call *call)
{
	struct {
		struct record_api fixed;
		uint64_t args[4];
	} record = {
		.fixed =
			{
				.cid = call->cid ? call->cid : scene_reserve_cid(scene),
				.begin_ns = call->begin ? call->begin : scene->ns,
				.end_ns = call->end ? call->end : scene->ns + 100,
				.result = call->result,
				.activities = call->activities,
			},
	};

	if (record.fixed.cid >= scene->next_cid)
		scene->next_cid = record.fixed.cid + 1;
	memcpy(record.args, call->args, sizeof(record.args));
	scene_put(scene, call->writer, RECORD_API, call->function, &record, sizeof(record));
	scene->ns += 200;
	return record.fixed.cid;
}

static void put_packed(struct bundle_writer *writer, const struct scene *scene)
{
	char none[] = "";
	struct bundle_meta meta = {.version = none, .command = none};
	struct dagtap_error error;
	struct spool_reader *spool;
	struct pack_memory memory;

	assert_int_equal(
		spool_reader_open_memory(scene->image, scene_bytes(scene), "scene", &spool, &error),
		0);
	memory = pack_memory_make(spool);
	spool_reader_close(spool);
	assert_int_equal(bundle_put_meta(writer, &meta, &error), 0);
	assert_int_equal(bundle_begin_section(writer, BUNDLE_PACKED, scene->pid, &error), 0);
	assert_int_equal(bundle_append(writer, memory.bytes, memory.size, &error), 0);
	assert_int_equal(bundle_end_section(writer, &error), 0);
	free(memory.bytes);
}

static struct trace *load_packed(const struct scene *scene)
{
	char path[TEST_PATH_BYTES];
	struct bundle_writer *writer;
	struct dagtap_error error;
	struct trace *trace;
	int fd = mkstemp(test_path(path, "event-scene"));

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(bundle_create(path, true, &writer, &error), 0);
	put_packed(writer, scene);
	assert_int_equal(bundle_finish(writer, &error), 0);
	if (trace_open(path, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	unlink(path);
	return trace;
}

static void describe_waits(const struct trace *trace, FILE *out)
{
	for (uint32_t i = 0; i < trace->waits_count; i++) {
		const struct trace_wait *row = &trace->waits[i];

		fprintf(out, "wait %u %llu %lld-%lld type %d known %d stream %u event %u for %u\n",
			row->call, (unsigned long long)row->cid, (long long)row->begin_ns,
			(long long)row->end_ns, row->type, row->known, row->stream, row->event,
			row->producer);
	}
}

/* Returns a text of all rows about events and streams; the caller frees it. */
static char *describe(const struct trace *trace)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (uint32_t i = 0; i < trace->streams_count; i++)
		fprintf(out, "stream %llx kind %d\n", (unsigned long long)trace->streams[i].handle,
			trace->streams[i].kind);
	for (uint32_t i = 0; i < trace->events_count; i++)
		fprintf(out, "event %llx generation %u%s\n",
			(unsigned long long)trace->events[i].handle, trace->events[i].generation,
			trace->events[i].is_foreign ? " foreign" : "");
	for (uint32_t i = 0; i < trace->event_records_count; i++) {
		const struct trace_event_record *row = &trace->event_records[i];

		fprintf(out, "record %u %llu stream %u event %u at %lld\n", row->call,
			(unsigned long long)row->cid, row->stream, row->event,
			(long long)row->device_ns);
	}
	describe_waits(trace, out);
	fclose(out);
	return text;
}

static void expect_same(const struct trace *trace, struct trace *other)
{
	char *text = describe(trace), *other_text = describe(other);

	assert_string_equal(text, other_text);
	free(text);
	free(other_text);
	trace_close(other);
}

/* Asserts that everything else is the same. */
static void expect_without_waits(const struct trace *trace, struct trace *other)
{
	assert_int_equal(other->events_count, 0);
	assert_int_equal(other->event_records_count, 0);
	assert_int_equal(other->waits_count, 0);
	assert_int_equal(other->streams_count, trace->streams_count);
	assert_int_equal(other->activities_count, trace->activities_count);
	assert_int_equal(other->calls_count, trace->calls_count);
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		assert_int_equal(other->calls[i].cid, trace->calls[i].cid);
		assert_int_equal(other->calls[i].stream, trace->calls[i].stream);
	}
	trace_close(other);
}

struct trace *event_scene_load(struct scene *scene)
{
	const struct trace_options brief = {.is_brief = true};
	const struct trace_options without_waits = {.is_brief = true, .without_waits = true};
	struct trace *trace;

	scene_close(scene);
	trace = scene_load(scene);
	expect_same(trace, scene_load_with(scene, &brief));
	expect_without_waits(trace, scene_load_with(scene, &without_waits));
	expect_same(trace, load_packed(scene));
	scene_release(scene);
	scene->trace = trace;
	return trace;
}

uint64_t event_scene_producer(const struct trace *trace, uint32_t wait)
{
	uint32_t producer;

	assert_true(wait < trace->waits_count);
	producer = trace->waits[wait].producer;
	if (producer == TRACE_NONE)
		return 0;
	assert_true(producer < trace->event_records_count);
	return trace->event_records[producer].cid;
}
