/*
 * The output of the Perfetto writer as a whole, read field by field: tracks, slices, flows,
 * interned names and the framing of packets.
 */
#include <errno.h>
#include <string.h>

#include "format/perfetto/perfetto_activity.h"
#include "format/perfetto/perfetto_parts.h"
#include "perfetto_decode.h"

/* Of the sample's scopes two caused work, and its graph was launched twice. */
enum { PROJECTED = 4 };

static void slices_begin_and_end_equally_often(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	unsigned count[EVENT_COUNTER + 1] = {0};
	struct message packet;

	for (unsigned i = 0; perfetto_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
		struct message event = decode_message(&packet, PACKET_TRACK_EVENT);
		uint64_t type = decode_number(&event, EVENT_TYPE);

		assert_true(type <= EVENT_COUNTER);
		count[type]++;
	}
	assert_int_equal(count[EVENT_BEGIN],
			 SAMPLE_CALLS + SAMPLE_SCOPES - SAMPLE_MARKS + PROJECTED);
	assert_int_equal(count[EVENT_END], count[EVENT_BEGIN]);
	assert_int_equal(count[EVENT_INSTANT], SAMPLE_MARKS + SAMPLE_SOURCES + SAMPLE_MESSAGES);
}

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
 * A sequence begins with a cleared state, else a reader skips its packets, and interns whatever its
 * packets refer to before they do.
 */
static void interning_across_state_clear(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
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
}

/* The file is a sequence of field 1 of Trace, up to the last byte. */
static void pftrace_first_byte_and_framing(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
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
}

/* Readers group the tracks of kernels by these. */
static void launches_say_their_device_and_node(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	struct message stage = perfetto_stage(&file, 4, NULL);
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
}

static void names_are_put_out_once_a_sequence(void **state)
{
	struct perfetto_file file = perfetto_write(sample_trace());
	unsigned times = 0;
	struct message packet;

	for (unsigned i = 0; perfetto_packet(&file, PACKET_INTERNED_DATA, i, &packet); i++) {
		struct message interned = decode_message(&packet, PACKET_INTERNED_DATA);
		struct field entry;

		for (unsigned j = 0; decode_find(&interned, INTERNED_GPU_SPECIFICATIONS, j, &entry);
		     j++) {
			struct message name = decode_message(&entry.message, INTERNED_NAME);

			times += decode_is_text(&name, "void a<int, 4>(int*)");
		}
	}
	assert_int_equal(times, 1);
}

static void one_card_in_two_processes_is_one_gpu(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_process processes[2] = {trace->processes[0], trace->processes[0]};
	struct trace_agent agents[3] = {trace->agents[0], trace->agents[1], trace->agents[1]};
	struct message packet, gpus;
	struct field gpu;
	struct perfetto_file file;

	processes[1].pid = 200;
	agents[2].process = 1;
	trace->processes = processes;
	trace->processes_count = 2;
	trace->agents = agents;
	trace->agents_count = 3;
	file = perfetto_write(trace);
	assert_true(perfetto_packet(&file, PACKET_GPU_INFO, 0, &packet));
	gpus = decode_message(&packet, PACKET_GPU_INFO);
	assert_true(decode_find(&gpus, GPU_INFO_GPUS, 0, &gpu));
	assert_false(decode_find(&gpus, GPU_INFO_GPUS, 1, &gpu));
}

static void many_streams_have_a_track_each(void **state)
{
	enum { STREAMS = 500 };
	struct trace *trace = sample_trace();
	static struct trace_stream streams[STREAMS];
	static struct trace_activity activities[2 * STREAMS];
	uint64_t iids[STREAMS];
	struct perfetto_file file;

	for (uint32_t i = 0; i < 2 * STREAMS; i++) {
		streams[i % STREAMS].ordinal = i % STREAMS;
		activities[i] = trace->activities[0];
		activities[i].stream = i % STREAMS;
	}
	trace->streams = streams;
	trace->streams_count = STREAMS;
	trace->activities = activities;
	trace->activities_count = 2 * STREAMS;
	file = perfetto_write(trace);
	for (uint32_t i = 0; i < 2 * STREAMS; i++) {
		struct message stage = perfetto_stage(&file, i, NULL);
		uint64_t iid = decode_number(&stage, STAGE_QUEUE_IID);

		if (i >= STREAMS)
			assert_int_equal(iid, iids[i - STREAMS]);
		for (uint32_t j = 0; j < i && i < STREAMS; j++)
			assert_true(iid != iids[j]);
		iids[i % STREAMS] = iid;
	}
}

static void same_trace_gives_same_bytes(void **state)
{
	struct perfetto_file first = perfetto_write(sample_trace());
	struct perfetto_file second = perfetto_write(sample_trace());

	assert_int_equal(first.message.size, second.message.size);
	assert_memory_equal(first.text, second.text, first.message.size);
}

static void work_without_a_gpu_has_a_place_of_its_own(void **state)
{
	struct trace *trace = sample_trace();
	struct trace_activity activity = trace->activities[6];
	struct message stage;
	struct perfetto_file file;

	activity.agent = 0;
	trace->activities = &activity;
	trace->activities_count = 1;
	file = perfetto_write(trace);
	stage = perfetto_stage(&file, 0, NULL);
	assert_int_equal(decode_number(&stage, STAGE_GPU_ID), 1);
}

/*
 * Flows that begin at calls and at activities match those that end at activities: one for each
 * activity with a call, one for each edge of the graph in each of its two replays, and one for each
 * projection.
 */
static void flow_ids_have_both_ends(void **state)
{
	struct perfetto_file file = perfetto_write_as(sample_trace(), &format_perfetto_events);
	uint64_t begun = 0;
	uint64_t ended = 0;
	unsigned slices = 0;
	struct message packet;

	for (unsigned i = 0; perfetto_packet(&file, PACKET_TRACK_EVENT, i, &packet); i++) {
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
	assert_int_equal(perfetto_count(&file, PACKET_GPU_RENDER_STAGE_EVENT), 0);
}

/* Writes the tracks of the projected slices, in their order, to TRACKS. */
static void find_projected(const struct perfetto_file *file, uint64_t tracks[PROJECTED])
{
	struct message packet;
	unsigned count = 0;

	for (unsigned i = 0; perfetto_packet(file, PACKET_TRACK_EVENT, i, &packet); i++) {
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
	struct perfetto_file file = perfetto_write(trace);

	find_projected(&file, tracks);
	for (unsigned i = 1; i < PROJECTED; i++)
		assert_int_equal(tracks[i], tracks[0]);
	memcpy(activities, trace->activities, sizeof(activities));
	activities[3].start_ns = activities[2].end_ns - 1;
	trace->activities = activities;
	file = perfetto_write(trace);
	find_projected(&file, tracks);
	assert_int_equal(tracks[1], tracks[0]);
	assert_int_equal(tracks[2], tracks[0]);
	assert_true(tracks[3] != tracks[0]);
}

static void empty_trace_can_be_written(void **state)
{
	const char *strings[] = {""};
	const struct trace trace = {.strings = strings, .strings_count = 1};
	struct perfetto_file file = perfetto_write(&trace);

	assert_int_equal(perfetto_count(&file, PACKET_GPU_RENDER_STAGE_EVENT), 0);
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
		KEPT_CASE(slices_begin_and_end_equally_often),
		KEPT_CASE(interning_across_state_clear),
		KEPT_CASE(pftrace_first_byte_and_framing),
		KEPT_CASE(launches_say_their_device_and_node),
		KEPT_CASE(names_are_put_out_once_a_sequence),
		KEPT_CASE(one_card_in_two_processes_is_one_gpu),
		KEPT_CASE(many_streams_have_a_track_each),
		KEPT_CASE(same_trace_gives_same_bytes),
		KEPT_CASE(work_without_a_gpu_has_a_place_of_its_own),
		KEPT_CASE(flow_ids_have_both_ends),
		KEPT_CASE(projections_that_overlap_have_tracks_each),
		KEPT_CASE(empty_trace_can_be_written),
		KEPT_CASE(full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
