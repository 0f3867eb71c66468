/* What the writer puts out, read field by field; that perfetto's own reader agrees is in
 * tests/conformance. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode.h"
#include "format/format.h"
#include "format/perfetto_fields.h"
#include "sample.h"

struct file {
	char *text;
	struct message message;
};

static struct file write_form(const struct trace *trace, const struct format *format)
{
	struct file file;

	file.text = sample_write(trace, format, NULL, &file.message.size);
	file.message.bytes = (const uint8_t *)file.text;
	return file;
}

static struct file write_file(const struct trace *trace)
{
	return write_form(trace, &format_perfetto);
}

/* The INDEX-th packet that has FIELD. */
static bool find_packet(const struct file *file, uint32_t field, unsigned index,
			struct message *ret_packet)
{
	struct field packet;
	struct field found;
	size_t offset = 0;

	while (decode_next(&file->message, &offset, &packet)) {
		assert_int_equal(packet.number, TRACE_PACKET);
		if (decode_find(&packet.message, field, 0, &found) && index-- == 0) {
			*ret_packet = packet.message;
			return true;
		}
	}
	return false;
}

static unsigned count_packets(const struct file *file, uint32_t field)
{
	struct message packet;
	unsigned count = 0;

	while (find_packet(file, field, count, &packet))
		count++;
	return count;
}

/* The render stage event of the sample's activity: they come in its order. */
static struct message find_stage(const struct file *file, unsigned activity, uint64_t *ret_ns)
{
	struct message packet;

	assert_true(find_packet(file, PACKET_GPU_RENDER_STAGE_EVENT, activity, &packet));
	if (ret_ns)
		*ret_ns = decode_number(&packet, PACKET_TIMESTAMP);
	return decode_message(&packet, PACKET_GPU_RENDER_STAGE_EVENT);
}

static void expect_extra(const struct message *stage, const char *name, const char *value)
{
	struct field extra;

	for (unsigned i = 0; decode_find(stage, STAGE_EXTRA_DATA, i, &extra); i++) {
		struct message key = decode_message(&extra.message, EXTRA_NAME);
		struct message text = decode_message(&extra.message, EXTRA_VALUE);

		if (decode_is_text(&key, name)) {
			assert_non_null(value);
			assert_true(decode_is_text(&text, value));
			return;
		}
	}
	assert_null(value);
}

static void every_activity_is_one_render_stage(void **state)
{
	struct file file = write_file(sample_trace());

	assert_int_equal(count_packets(&file, PACKET_GPU_RENDER_STAGE_EVENT), SAMPLE_ACTIVITIES);
	free(file.text);
}

static void times_are_kept_to_the_nanosecond(void **state)
{
	struct file file = write_file(sample_trace());
	struct message stage;
	uint64_t ns;

	stage = find_stage(&file, 1, &ns);
	assert_int_equal(ns, 1001300);
	assert_int_equal(decode_number(&stage, STAGE_DURATION), 400);
	stage = find_stage(&file, 5, &ns);
	assert_int_equal(ns, 1001900);
	assert_int_equal(decode_number(&stage, STAGE_DURATION), 0);
	free(file.text);
}

static void graph_kernel_says_where_it_comes_from(void **state)
{
	struct file file = write_file(sample_trace());
	struct message stage = find_stage(&file, 4, NULL);
	struct message launch = decode_message(&stage, STAGE_LAUNCH);
	struct message grid = decode_message(&launch, LAUNCH_GRID);
	struct message workgroup = decode_message(&launch, LAUNCH_WORKGROUP);

	expect_extra(&stage, "graph", "7");
	expect_extra(&stage, "exec", "9");
	expect_extra(&stage, "node", "1");
	expect_extra(&stage, "replay", "1");
	expect_extra(&stage, "confidence", "exact");
	expect_extra(&stage, "cid", "2");
	expect_extra(&stage, "api", "hipGraphLaunch");
	expect_extra(&stage, "scope", "step \"1\"/layer");
	expect_extra(&stage, "queue", "1");
	expect_extra(&stage, "stream", "1");
	expect_extra(&stage, "untimed", NULL);
	/* 1000 work-items in groups of 256 are four groups. */
	assert_int_equal(decode_number(&grid, DIM_X), 4);
	assert_int_equal(decode_number(&workgroup, DIM_X), 256);
	free(file.text);
}

static void copies_and_memsets_say_what_they_moved(void **state)
{
	struct file file = write_file(sample_trace());
	struct message copy = find_stage(&file, 6, NULL);
	struct message memset = find_stage(&file, 7, NULL);

	expect_extra(&copy, "bytes", "4096");
	expect_extra(&copy, "graph", NULL);
	expect_extra(&copy, "blit_kernel", NULL);
	expect_extra(&memset, "blit_kernel", "__amd_rocclr_fillBufferAligned");
	free(file.text);
}

static void untimed_work_stands_where_it_was_submitted(void **state)
{
	struct file file = write_file(sample_trace());
	struct message orphan;
	uint64_t ns;

	orphan = find_stage(&file, 8, &ns);
	assert_int_equal(ns, 1005000);
	assert_int_equal(decode_number(&orphan, STAGE_DURATION), 0);
	expect_extra(&orphan, "untimed", "not finished when tracing ended");
	expect_extra(&orphan, "cid", NULL);
	free(file.text);
}

/* The number on the call that all its activities carry, and nobody else. */
static void calls_point_to_their_activities(void **state)
{
	struct file file = write_file(sample_trace());
	uint64_t launch = 0;
	unsigned correlated = 0;
	unsigned arrows = 0;
	struct message packet;

	for (unsigned i = 0; find_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
		struct message event = decode_message(&packet, PACKET_TRACK_EVENT);
		struct message link = decode_message(&event, EVENT_GPU_CORRELATION);

		if (link.size == 0)
			continue;
		assert_int_equal(decode_number(&event, EVENT_TYPE), EVENT_BEGIN);
		if (correlated++ == 0)
			launch = decode_number(&link, CORRELATION_SUBMISSIONS);
	}
	assert_int_equal(correlated, 4);
	for (unsigned i = 0; i < SAMPLE_ACTIVITIES; i++) {
		struct message stage = find_stage(&file, i, NULL);

		assert_true(decode_number(&stage, STAGE_EVENT_ID) > 0);
		arrows += decode_number(&stage, STAGE_EVENT_ID) == launch;
	}
	assert_int_equal(arrows, 3);
	free(file.text);
}

static void slices_begin_and_end_equally_often(void **state)
{
	struct file file = write_file(sample_trace());
	unsigned count[EVENT_INSTANT + 1] = {0};
	struct message packet;

	for (unsigned i = 0; find_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
		struct message event = decode_message(&packet, PACKET_TRACK_EVENT);
		uint64_t type = decode_number(&event, EVENT_TYPE);

		assert_true(type <= EVENT_INSTANT);
		count[type]++;
	}
	assert_int_equal(count[EVENT_BEGIN], SAMPLE_CALLS + SAMPLE_SCOPES - SAMPLE_MARKS);
	assert_int_equal(count[EVENT_END], count[EVENT_BEGIN]);
	assert_int_equal(count[EVENT_INSTANT], SAMPLE_MARKS + SAMPLE_SOURCES + SAMPLE_MESSAGES);
	free(file.text);
}

/* A reader skips packets of a sequence that did not begin with a cleared table. */
static void every_sequence_begins_cleared(void **state)
{
	struct file file = write_file(sample_trace());
	uint64_t sequence = 0;
	struct field packet;
	size_t offset = 0;

	while (decode_next(&file.message, &offset, &packet)) {
		uint64_t id = decode_number(&packet.message, PACKET_SEQUENCE_ID);
		uint64_t flags = decode_number(&packet.message, PACKET_SEQUENCE_FLAGS);

		assert_true(id == sequence || id == sequence + 1);
		assert_int_equal(flags, id == sequence ? SEQUENCE_NEEDS_STATE
						       : SEQUENCE_NEEDS_STATE | SEQUENCE_CLEARED);
		sequence = id;
	}
	/* The header, the GPU, the process. */
	assert_int_equal(sequence, 3);
	free(file.text);
}

static void names_are_put_out_once_a_sequence(void **state)
{
	struct file file = write_file(sample_trace());
	unsigned times = 0;
	struct message packet;

	for (unsigned i = 0; find_packet(&file, PACKET_INTERNED_DATA, i, &packet); i++) {
		struct message interned = decode_message(&packet, PACKET_INTERNED_DATA);
		struct field entry;

		for (unsigned j = 0; decode_find(&interned, INTERNED_GPU_SPECIFICATIONS, j, &entry);
		     j++) {
			struct message name = decode_message(&entry.message, INTERNED_NAME);

			times += decode_is_text(&name, "void a<int, 4>(int*)");
		}
	}
	assert_int_equal(times, 1);
	free(file.text);
}

static void one_card_in_two_processes_is_one_gpu(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_process processes[2] = {trace->processes[0], trace->processes[0]};
	struct trace_agent agents[3] = {trace->agents[0], trace->agents[1], trace->agents[1]};
	struct message packet, gpus;
	struct field gpu;
	struct file file;

	processes[1].pid = 200;
	agents[2].process = 1;
	trace->processes = processes;
	trace->processes_count = 2;
	trace->agents = agents;
	trace->agents_count = 3;
	file = write_file(trace);
	assert_true(find_packet(&file, PACKET_GPU_INFO, 0, &packet));
	gpus = decode_message(&packet, PACKET_GPU_INFO);
	assert_true(decode_find(&gpus, GPU_INFO_GPUS, 0, &gpu));
	assert_false(decode_find(&gpus, GPU_INFO_GPUS, 1, &gpu));
	free(file.text);
}

static void many_streams_have_a_track_each(void **state)
{
	enum { STREAMS = 500 };
	struct trace *trace = sample_trace();
	static struct trace_stream streams[STREAMS];
	static struct trace_activity activities[2 * STREAMS];
	uint64_t iids[STREAMS];
	struct file file;

	for (uint32_t i = 0; i < 2 * STREAMS; i++) {
		streams[i % STREAMS].ordinal = i % STREAMS;
		activities[i] = trace->activities[0];
		activities[i].stream = i % STREAMS;
	}
	trace->streams = streams;
	trace->streams_count = STREAMS;
	trace->activities = activities;
	trace->activities_count = 2 * STREAMS;
	file = write_file(trace);
	for (uint32_t i = 0; i < 2 * STREAMS; i++) {
		struct message stage = find_stage(&file, i, NULL);
		uint64_t iid = decode_number(&stage, STAGE_QUEUE_IID);

		if (i >= STREAMS)
			assert_int_equal(iid, iids[i - STREAMS]);
		for (uint32_t j = 0; j < i && i < STREAMS; j++)
			assert_true(iid != iids[j]);
		iids[i % STREAMS] = iid;
	}
	free(file.text);
}

static void same_trace_gives_same_bytes(void **state)
{
	struct file first = write_file(sample_trace());
	struct file second = write_file(sample_trace());

	assert_int_equal(first.message.size, second.message.size);
	assert_memory_equal(first.text, second.text, first.message.size);
	free(first.text);
	free(second.text);
}

static void work_without_a_gpu_has_a_place_of_its_own(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_activity activity = trace->activities[6];
	struct message stage;
	struct file file;

	activity.agent = 0;
	trace->activities = &activity;
	trace->activities_count = 1;
	file = write_file(trace);
	stage = find_stage(&file, 0, NULL);
	assert_int_equal(decode_number(&stage, STAGE_GPU_ID), 1);
	free(file.text);
}

/* Flow numbers that begin at calls against those that end at activities. */
static void events_form_has_an_arrow_to_every_activity(void **state)
{
	struct file file = write_form(sample_trace(), &format_perfetto_events);
	uint64_t begun = 0;
	uint64_t ended = 0;
	unsigned slices = 0;
	struct message packet;

	for (unsigned i = 0; find_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
		struct message event = decode_message(&packet, PACKET_TRACK_EVENT);
		struct field flow;

		slices += decode_number(&event, EVENT_TYPE) == EVENT_BEGIN;
		for (unsigned j = 0; decode_find(&event, EVENT_FLOW_IDS, j, &flow); j++) {
			assert_int_equal(begun >> flow.value & 1, 0);
			begun |= UINT64_C(1) << flow.value;
		}
		if (decode_find(&event, EVENT_TERMINATING_FLOW_IDS, 0, &flow))
			ended |= UINT64_C(1) << flow.value;
	}
	assert_int_equal(slices, SAMPLE_CALLS + SAMPLE_SCOPES - SAMPLE_MARKS + SAMPLE_ACTIVITIES);
	assert_int_equal(begun, ended);
	/* All but the orphan. */
	assert_int_equal(__builtin_popcountll(ended), SAMPLE_ACTIVITIES - 1);
	assert_int_equal(count_packets(&file, PACKET_GPU_RENDER_STAGE_EVENT), 0);
	free(file.text);
}

static void empty_trace_can_be_written(void **state)
{
	const char *strings[] = {""};
	const struct trace trace = {.strings = strings, .strings_count = 1};
	struct file file = write_file(&trace);

	assert_int_equal(count_packets(&file, PACKET_GPU_RENDER_STAGE_EVENT), 0);
	free(file.text);
}

static void full_disk_is_reported(void **state)
{
	struct dagtap_error error;
	FILE *out = fopen("/dev/full", "w");

	setbuf(out, NULL);
	assert_int_equal(format_perfetto.write(sample_trace(), out, NULL, &error), -ENOSPC);
	assert_non_null(strstr(error.message, "No space left"));
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_activity_is_one_render_stage),
		cmocka_unit_test(times_are_kept_to_the_nanosecond),
		cmocka_unit_test(graph_kernel_says_where_it_comes_from),
		cmocka_unit_test(copies_and_memsets_say_what_they_moved),
		cmocka_unit_test(untimed_work_stands_where_it_was_submitted),
		cmocka_unit_test(calls_point_to_their_activities),
		cmocka_unit_test(slices_begin_and_end_equally_often),
		cmocka_unit_test(every_sequence_begins_cleared),
		cmocka_unit_test(names_are_put_out_once_a_sequence),
		cmocka_unit_test(one_card_in_two_processes_is_one_gpu),
		cmocka_unit_test(many_streams_have_a_track_each),
		cmocka_unit_test(same_trace_gives_same_bytes),
		cmocka_unit_test(work_without_a_gpu_has_a_place_of_its_own),
		cmocka_unit_test(events_form_has_an_arrow_to_every_activity),
		cmocka_unit_test(empty_trace_can_be_written),
		cmocka_unit_test(full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
