/*
 * The output of the Perfetto writer, read field by field. That Perfetto's own reader accepts it is
 * tested in tests/conformance.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/format.h"
#include "format/perfetto/perfetto_activity.h"
#include "format/perfetto/perfetto_fields.h"
#include "format/perfetto/perfetto_parts.h"
#include "proto_decode.h"
#include "sample.h"

/* Of the sample's scopes two caused work, and its graph was launched twice. */
enum { PROJECTED = 4 };

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

/* Finds the INDEX-th packet that has FIELD. */
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

/* Returns the render stage event of an activity of the sample; they have the same order. */
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

/* The call has a number that all its activities have, and no other activity. */
static void calls_point_to_their_activities(void **state)
{
	struct file file = write_file(sample_trace());
	uint64_t named = 0;
	unsigned correlated = 0;
	struct message packet;

	for (unsigned i = 0; find_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
		struct message event = decode_message(&packet, PACKET_TRACK_EVENT);
		struct message link = decode_message(&event, EVENT_GPU_CORRELATION);
		struct field number;

		if (link.size == 0)
			continue;
		assert_int_equal(decode_number(&event, EVENT_TYPE), EVENT_BEGIN);
		for (unsigned j = 0; decode_find(&link, CORRELATION_SUBMISSIONS, j, &number); j++) {
			assert_int_equal(named >> number.value & 1, 0);
			named |= UINT64_C(1) << number.value;
			/* The first call launches three kernels. */
			assert_true(correlated > 0 || j < 3);
		}
		correlated++;
	}
	assert_int_equal(correlated, 4);
	for (unsigned i = 0; i < SAMPLE_ACTIVITIES; i++) {
		struct message stage = find_stage(&file, i, NULL);
		uint64_t id = decode_number(&stage, STAGE_EVENT_ID);

		/* All but the orphan, each by exactly one call. */
		assert_int_equal(named >> id & 1, i < SAMPLE_ACTIVITIES - 1);
		named &= ~(UINT64_C(1) << id);
	}
	assert_int_equal(named, 0);
	free(file.text);
}

/* Returns how many activities this one waits for; ret_last gets the last of them, from 0. */
static unsigned waits_of(const struct file *file, unsigned activity, uint64_t *ret_last)
{
	struct message stage = find_stage(file, activity, NULL);
	struct field wait;
	unsigned count = 0;

	for (; decode_find(&stage, STAGE_EVENT_WAIT_IDS, count, &wait); count++)
		*ret_last = wait.value - 1;
	return count;
}

static void graph_kernels_wait_along_the_edges_of_each_replay(void **state)
{
	struct file file = write_file(sample_trace());
	uint64_t last = 0;

	assert_int_equal(waits_of(&file, 0, &last), 0);
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned node = 1; node < 3; node++) {
			assert_int_equal(waits_of(&file, 3 * i + node, &last), 1);
			assert_int_equal(last, 3 * i + node - 1);
		}
	}
	assert_int_equal(waits_of(&file, 3, &last), 0);
	free(file.text);
}

/* A node without an activity is skipped: its incoming edges lead to the nodes after it. */
static void empty_nodes_are_looked_through(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_activity activities[SAMPLE_ACTIVITIES];
	struct file file;
	uint64_t last = 0;

	memcpy(activities, trace->activities, sizeof(activities));
	activities[1].node = TRACE_NONE;
	trace->activities = activities;
	file = write_file(trace);
	assert_int_equal(waits_of(&file, 1, &last), 0);
	assert_int_equal(waits_of(&file, 2, &last), 1);
	assert_int_equal(last, 0);
	free(file.text);
}

/* Call 2 records an event after the replays, and call 3 makes stream 0 wait for it. */
static void stream_that_waits_for_an_event_has_an_arrow(void **state)
{
	struct trace_event event = {.handle = 0x77};
	struct trace_event_record record = {
		.call = 1, .cid = 3, .stream = 1, .event = 0, .node = TRACE_NONE};
	struct trace_wait waits[] = {
		{.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT, .stream = 0},
		{.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT, .producer = TRACE_NONE},
		{.call = 2, .cid = 3, .type = TRACE_WAIT_EVENT, .stream = TRACE_NONE},
	};
	struct trace *trace = sample_trace();
	struct file file;
	uint64_t last = 0;

	trace->events = &event;
	trace->events_count = 1;
	trace->event_records = &record;
	trace->event_records_count = 1;
	trace->waits = waits;
	trace->waits_count = 3;
	file = write_file(trace);
	assert_int_equal(waits_of(&file, 6, &last), 1);
	assert_int_equal(last, 5);
	free(file.text);
}

/*
 * Node 1 of the second replay records the event: the arrow comes from the node before it in that
 * replay.
 */
static void event_of_a_node_has_its_arrow(void **state)
{
	struct trace_event event = {.handle = 0x77};
	struct trace_event_record record = {.call = 1, .cid = 2, .stream = 1, .node = 1};
	struct trace_wait wait = {.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT};
	struct trace *trace = sample_trace();
	struct file file;
	uint64_t last = 0;

	trace->events = &event;
	trace->events_count = 1;
	trace->event_records = &record;
	trace->event_records_count = 1;
	trace->waits = &wait;
	trace->waits_count = 1;
	file = write_file(trace);
	assert_int_equal(waits_of(&file, 6, &last), 1);
	assert_int_equal(last, 3);
	free(file.text);
}

/*
 * Work whose call has no row comes after all work that has one, even if it was submitted earlier.
 */
static void arrows_go_by_submission_though_calls_are_lost(void **state)
{
	struct trace_event event = {.handle = 0x77};
	struct trace_event_record record = {
		.call = 1, .cid = 3, .stream = 1, .event = 0, .node = TRACE_NONE};
	struct trace_wait wait = {.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT};
	struct trace *trace = sample_trace();
	struct trace_activity activities[SAMPLE_ACTIVITIES];
	struct file file;
	uint64_t last = 0;

	memcpy(activities, trace->activities, sizeof(activities));
	activities[8].cid = 1;
	activities[8].stream = 1;
	trace->activities = activities;
	trace->events = &event;
	trace->events_count = 1;
	trace->event_records = &record;
	trace->event_records_count = 1;
	trace->waits = &wait;
	trace->waits_count = 1;
	file = write_file(trace);
	assert_int_equal(waits_of(&file, 6, &last), 1);
	assert_int_equal(last, 5);
	free(file.text);
}

static void slices_begin_and_end_equally_often(void **state)
{
	struct file file = write_file(sample_trace());
	unsigned count[EVENT_COUNTER + 1] = {0};
	struct message packet;

	for (unsigned i = 0; find_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
		struct message event = decode_message(&packet, PACKET_TRACK_EVENT);
		uint64_t type = decode_number(&event, EVENT_TYPE);

		assert_true(type <= EVENT_COUNTER);
		count[type]++;
	}
	assert_int_equal(count[EVENT_BEGIN],
			 SAMPLE_CALLS + SAMPLE_SCOPES - SAMPLE_MARKS + PROJECTED);
	assert_int_equal(count[EVENT_END], count[EVENT_BEGIN]);
	assert_int_equal(count[EVENT_INSTANT], SAMPLE_MARKS + SAMPLE_SOURCES + SAMPLE_MESSAGES);
	free(file.text);
}

/* A reader skips the packets of a sequence that does not begin with a cleared state. */
/* Returns the numbers of all kernels that the packet interns, as bits. */
static uint64_t interned_kernels(const struct message *packet)
{
	struct message interned = decode_message(packet, PACKET_INTERNED_DATA);
	struct field entry;
	uint64_t kernels = 0;

	for (unsigned i = 0; decode_find(&interned, INTERNED_COMPUTE_KERNELS, i, &entry); i++)
		kernels |= UINT64_C(1) << decode_number(&entry.message, INTERNED_IID);
	return kernels;
}

/*
 * A sequence begins with a cleared state, and interns whatever its packets refer to before they do.
 */
static void interning_across_state_clear(void **state)
{
	struct file file = write_file(sample_trace());
	uint64_t sequence = 0;
	uint64_t kernels = 0;
	unsigned used = 0;
	struct field packet;
	size_t offset = 0;

	while (decode_next(&file.message, &offset, &packet)) {
		struct message stage =
			decode_message(&packet.message, PACKET_GPU_RENDER_STAGE_EVENT);
		uint64_t id = decode_number(&packet.message, PACKET_SEQUENCE_ID);
		uint64_t flags = decode_number(&packet.message, PACKET_SEQUENCE_FLAGS);
		uint64_t kernel = decode_number(&stage, STAGE_KERNEL_IID);

		assert_true(id == sequence || id == sequence + 1);
		assert_int_equal(flags, id == sequence ? SEQUENCE_NEEDS_STATE
						       : SEQUENCE_NEEDS_STATE | SEQUENCE_CLEARED);
		kernels = (flags & SEQUENCE_CLEARED ? 0 : kernels) |
			  interned_kernels(&packet.message);
		assert_true(kernel == 0 || kernels >> kernel & 1);
		used += kernel != 0;
		sequence = id;
	}
	/* the header, the GPU, the process, the projections, the GPU's counters together, and each
	 * of the three */
	assert_int_equal(sequence, 8);
	assert_int_equal(used, SAMPLE_KERNELS);
	free(file.text);
}

/* The file is a sequence of field 1 of Trace, up to the last byte. */
static void pftrace_first_byte_and_framing(void **state)
{
	struct file file = write_file(sample_trace());
	struct field packet;
	size_t offset = 0;
	unsigned packets = 0;

	assert_int_equal(file.message.bytes[0], TRACE_PACKET << 3 | 2);
	while (decode_next(&file.message, &offset, &packet)) {
		assert_int_equal(packet.number, TRACE_PACKET);
		assert_true(packet.message.size > 0);
		packets++;
	}
	assert_int_equal(offset, file.message.size);
	assert_true(packets > SAMPLE_ACTIVITIES + SAMPLE_CALLS);
	free(file.text);
}

/* Readers group the tracks of kernels by these. */
static void launches_say_their_device_and_node(void **state)
{
	struct file file = write_file(sample_trace());
	struct message stage = find_stage(&file, 4, NULL);
	struct message launch = decode_message(&stage, STAGE_LAUNCH);
	struct field arg;
	unsigned found = 0;

	for (unsigned i = 0; decode_find(&launch, LAUNCH_ARGS, i, &arg); i++) {
		uint64_t name = decode_number(&arg.message, LAUNCH_ARG_NAME_IID) - 1;
		uint64_t value = decode_number(&arg.message, LAUNCH_ARG_UINT);

		found += name == PERFETTO_ARG_DEVICE && value == 0;
		found += name == PERFETTO_ARG_STREAM && value == 1;
		found += name == PERFETTO_ARG_GRAPH && value == 7;
		found += name == PERFETTO_ARG_REPLAY && value == 1;
		found += name == PERFETTO_ARG_NODE && value == 1;
	}
	assert_int_equal(found, 5);
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

/*
 * Flows that begin at calls and at activities match those that end at activities: one for each
 * activity with a call, one for each edge of the graph in each of its two replays, and one for each
 * projection.
 */
static void flow_ids_have_both_ends(void **state)
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
		for (unsigned j = 0; decode_find(&event, EVENT_TERMINATING_FLOW_IDS, j, &flow); j++)
			ended |= UINT64_C(1) << flow.value;
	}
	assert_int_equal(slices, SAMPLE_CALLS + SAMPLE_SCOPES - SAMPLE_MARKS + SAMPLE_ACTIVITIES +
					 PROJECTED);
	assert_int_equal(begun, ended);
	assert_int_equal(__builtin_popcountll(ended), SAMPLE_ACTIVITIES - 1 + 2 * 2 + PROJECTED);
	assert_int_equal(count_packets(&file, PACKET_GPU_RENDER_STAGE_EVENT), 0);
	free(file.text);
}

/* Writes the tracks of the projected slices, in their order, to TRACKS. */
static void find_projected(const struct file *file, uint64_t tracks[PROJECTED])
{
	struct message packet;
	unsigned count = 0;

	for (unsigned i = 0; find_packet(file, PACKET_TRACK_EVENT, i, &packet); i++) {
		struct message event = decode_message(&packet, PACKET_TRACK_EVENT);
		uint64_t track = decode_number(&event, EVENT_TRACK);

		if (track >> 56 != PERFETTO_TRACK_PROJECTED ||
		    decode_number(&event, EVENT_TYPE) != EVENT_BEGIN)
			continue;
		assert_true(count < PROJECTED);
		tracks[count++] = track;
	}
	assert_int_equal(count, PROJECTED);
}

/* Both scopes, and in the inner one the replays, the second of which begins in the first one. */
static void projections_that_overlap_have_tracks_each(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_activity activities[SAMPLE_ACTIVITIES];
	uint64_t tracks[PROJECTED];
	struct file file = write_file(trace);

	find_projected(&file, tracks);
	for (unsigned i = 1; i < PROJECTED; i++)
		assert_int_equal(tracks[i], tracks[0]);
	free(file.text);
	memcpy(activities, trace->activities, sizeof(activities));
	activities[3].start_ns = activities[2].end_ns - 1;
	trace->activities = activities;
	file = write_file(trace);
	find_projected(&file, tracks);
	assert_int_equal(tracks[1], tracks[0]);
	assert_int_equal(tracks[2], tracks[0]);
	assert_true(tracks[3] != tracks[0]);
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
		cmocka_unit_test(graph_kernels_wait_along_the_edges_of_each_replay),
		cmocka_unit_test(empty_nodes_are_looked_through),
		cmocka_unit_test(stream_that_waits_for_an_event_has_an_arrow),
		cmocka_unit_test(event_of_a_node_has_its_arrow),
		cmocka_unit_test(arrows_go_by_submission_though_calls_are_lost),
		cmocka_unit_test(slices_begin_and_end_equally_often),
		cmocka_unit_test(interning_across_state_clear),
		cmocka_unit_test(pftrace_first_byte_and_framing),
		cmocka_unit_test(launches_say_their_device_and_node),
		cmocka_unit_test(names_are_put_out_once_a_sequence),
		cmocka_unit_test(one_card_in_two_processes_is_one_gpu),
		cmocka_unit_test(many_streams_have_a_track_each),
		cmocka_unit_test(same_trace_gives_same_bytes),
		cmocka_unit_test(work_without_a_gpu_has_a_place_of_its_own),
		cmocka_unit_test(flow_ids_have_both_ends),
		cmocka_unit_test(projections_that_overlap_have_tracks_each),
		cmocka_unit_test(empty_trace_can_be_written),
		cmocka_unit_test(full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
