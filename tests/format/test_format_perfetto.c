/*
 * The activities in the output of the Perfetto writer, read field by field. That Perfetto's own
 * reader accepts it is tested in tests/conformance.
 */
#include <string.h>

#include "perfetto_decode.h"

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
	struct perfetto_file file = perfetto_write(sample_trace());

	assert_int_equal(perfetto_count(&file, PACKET_GPU_RENDER_STAGE_EVENT), SAMPLE_ACTIVITIES);
}

static void times_are_kept_to_the_nanosecond(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	struct message stage;
	uint64_t ns;

	stage = perfetto_stage(&file, 1, &ns);
	assert_int_equal(ns, 1001300);
	assert_int_equal(decode_number(&stage, STAGE_DURATION), 400);
	stage = perfetto_stage(&file, 5, &ns);
	assert_int_equal(ns, 1001900);
	assert_int_equal(decode_number(&stage, STAGE_DURATION), 0);
}

static void graph_kernel_says_where_it_comes_from(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	struct message stage = perfetto_stage(&file, 4, NULL);
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
}

static void copies_and_memsets_say_what_they_moved(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	struct message copy = perfetto_stage(&file, 6, NULL);
	struct message memset = perfetto_stage(&file, 7, NULL);

	expect_extra(&copy, "bytes", "4096");
	expect_extra(&copy, "graph", NULL);
	expect_extra(&copy, "blit_kernel", NULL);
	expect_extra(&memset, "blit_kernel", "__amd_rocclr_fillBufferAligned");
}

static void untimed_work_stands_where_it_was_submitted(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	struct message orphan;
	uint64_t ns;

	orphan = perfetto_stage(&file, 8, &ns);
	assert_int_equal(ns, 1005000);
	assert_int_equal(decode_number(&orphan, STAGE_DURATION), 0);
	expect_extra(&orphan, "untimed", "not finished when tracing ended");
	expect_extra(&orphan, "cid", NULL);
}

/* The call has a number that all its activities have, and no other activity. */
static void calls_point_to_their_activities(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	uint64_t named = 0;
	unsigned correlated = 0;
	struct message packet;

	for (unsigned i = 0; perfetto_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
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
		struct message stage = perfetto_stage(&file, i, NULL);
		uint64_t id = decode_number(&stage, STAGE_EVENT_ID);

		/* All but the orphan, each by exactly one call. */
		assert_int_equal(named >> id & 1, i < SAMPLE_ACTIVITIES - 1);
		named &= ~(UINT64_C(1) << id);
	}
	assert_int_equal(named, 0);
}

/* Returns how many activities this one waits for; ret_last gets the last of them, from 0. */
static unsigned waits_of(const struct perfetto_file *file, unsigned activity, uint64_t *ret_last)
{
	struct message stage = perfetto_stage(file, activity, NULL);
	struct field wait;
	unsigned count = 0;

	for (; decode_find(&stage, STAGE_EVENT_WAIT_IDS, count, &wait); count++)
		*ret_last = wait.value - 1;
	return count;
}

static void graph_kernels_wait_along_the_edges_of_each_replay(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	uint64_t last = 0;

	assert_int_equal(waits_of(&file, 0, &last), 0);
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned node = 1; node < 3; node++) {
			assert_int_equal(waits_of(&file, 3 * i + node, &last), 1);
			assert_int_equal(last, 3 * i + node - 1);
		}
	}
	assert_int_equal(waits_of(&file, 3, &last), 0);
}

/* A node without an activity is skipped: its incoming edges lead to the nodes after it. */
static void empty_nodes_are_looked_through(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_activity activities[SAMPLE_ACTIVITIES];
	struct perfetto_file file;
	uint64_t last = 0;

	memcpy(activities, trace->activities, sizeof(activities));
	activities[1].node = TRACE_NONE;
	trace->activities = activities;
	file = perfetto_write(trace);
	assert_int_equal(waits_of(&file, 1, &last), 0);
	assert_int_equal(waits_of(&file, 2, &last), 1);
	assert_int_equal(last, 0);
}

/* Writes TRACE with a record of its only event and with waits. */
static struct perfetto_file write_with_waits(struct trace *trace, struct trace_event_record *record,
					     struct trace_wait *waits, uint32_t count)
{
	struct trace_event event = {.handle = 0x77};

	trace->events = &event;
	trace->events_count = 1;
	trace->event_records = record;
	trace->event_records_count = 1;
	trace->waits = waits;
	trace->waits_count = count;
	return perfetto_write(trace);
}

/* Call 2 records an event after the replays, and call 3 makes stream 0 wait for it. */
static void stream_that_waits_for_an_event_has_an_arrow(void **state)
{
	struct trace_event_record record = {
		.call = 1, .cid = 3, .stream = 1, .event = 0, .node = TRACE_NONE};
	struct trace_wait waits[] = {
		{.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT, .stream = 0},
		{.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT, .producer = TRACE_NONE},
		{.call = 2, .cid = 3, .type = TRACE_WAIT_EVENT, .stream = TRACE_NONE},
	};
	struct trace *trace = sample_trace();
	struct perfetto_file file;
	uint64_t last = 0;

	file = write_with_waits(trace, &record, waits, 3);
	assert_int_equal(waits_of(&file, 6, &last), 1);
	assert_int_equal(last, 5);
}

/*
 * Node 1 of the second replay records the event: the arrow comes from the node before it in that
 * replay.
 */
static void event_of_a_node_has_its_arrow(void **state)
{
	struct trace_event_record record = {.call = 1, .cid = 2, .stream = 1, .node = 1};
	struct trace_wait wait = {.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT};
	struct trace *trace = sample_trace();
	struct perfetto_file file;
	uint64_t last = 0;

	file = write_with_waits(trace, &record, &wait, 1);
	assert_int_equal(waits_of(&file, 6, &last), 1);
	assert_int_equal(last, 3);
}

/*
 * Work whose call has no row comes after all work that has one, even if it was submitted earlier.
 */
static void arrows_go_by_submission_though_calls_are_lost(void **state)
{
	struct trace_event_record record = {
		.call = 1, .cid = 3, .stream = 1, .event = 0, .node = TRACE_NONE};
	struct trace_wait wait = {.call = 2, .cid = 3, .type = TRACE_WAIT_STREAM_EVENT};
	struct trace *trace = sample_trace();
	struct trace_activity activities[SAMPLE_ACTIVITIES];
	struct perfetto_file file;
	uint64_t last = 0;

	memcpy(activities, trace->activities, sizeof(activities));
	activities[8].cid = 1;
	activities[8].stream = 1;
	trace->activities = activities;
	file = write_with_waits(trace, &record, &wait, 1);
	assert_int_equal(waits_of(&file, 6, &last), 1);
	assert_int_equal(last, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(every_activity_is_one_render_stage),
		KEPT_CASE(times_are_kept_to_the_nanosecond),
		KEPT_CASE(graph_kernel_says_where_it_comes_from),
		KEPT_CASE(copies_and_memsets_say_what_they_moved),
		KEPT_CASE(untimed_work_stands_where_it_was_submitted),
		KEPT_CASE(calls_point_to_their_activities),
		KEPT_CASE(graph_kernels_wait_along_the_edges_of_each_replay),
		KEPT_CASE(empty_nodes_are_looked_through),
		KEPT_CASE(stream_that_waits_for_an_event_has_an_arrow),
		KEPT_CASE(event_of_a_node_has_its_arrow),
		KEPT_CASE(arrows_go_by_submission_though_calls_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
