/* Writes the packets before the events: clocks, the recording's attributes, the GPUs, the
 * ledger. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfetto/perfetto_parts.h"
#include "trace/ledger/ledger.h"

static void put_clock(struct proto *packet, enum builtin_clock id, uint64_t timestamp)
{
	size_t mark = proto_begin(packet, SNAPSHOT_CLOCKS);

	proto_put_u64(packet, CLOCK_FIELD_ID, id);
	proto_put_u64(packet, CLOCK_FIELD_TIMESTAMP, timestamp);
	proto_end(packet, mark);
}

/* Writes one moment on both clocks, the first process's start. A second snapshot would show how
 * the wall clock was set meanwhile, but readers refuse snapshots that go backwards. */
static void put_clock_snapshot(struct sequence *sequence)
{
	const struct trace_process *first = sequence->trace->processes;
	struct proto *packet = &sequence->packet;
	size_t mark;

	if (sequence->trace->processes_count == 0)
		return;
	sequence_packet_begin(sequence);
	mark = proto_begin(packet, PACKET_CLOCK_SNAPSHOT);
	put_clock(packet, BUILTIN_MONOTONIC, (uint64_t)first->start_ns);
	if (first->start_realtime_ns)
		put_clock(packet, BUILTIN_REALTIME, first->start_realtime_ns);
	proto_put_u64(packet, SNAPSHOT_PRIMARY, BUILTIN_MONOTONIC);
	proto_end(packet, mark);
	sequence_packet_end(sequence);
}

static void put_attribute(struct proto *packet, const char *key, const char *text, int64_t number)
{
	size_t mark = proto_begin(packet, ATTRIBUTES_ATTRIBUTE);

	proto_put_text(packet, ATTRIBUTE_KEY, key);
	if (text)
		proto_put_text(packet, ATTRIBUTE_STRING, text);
	else
		proto_put_i64(packet, ATTRIBUTE_LONG, number);
	proto_end(packet, mark);
}

static void put_attributes(struct sequence *sequence)
{
	const struct trace *trace = sequence->trace;
	struct proto *packet = &sequence->packet;
	uint64_t unexplained = 0;
	uint64_t untimed = 0;
	size_t mark;

	for (uint32_t i = 0; i < trace->sources_count; i++)
		unexplained += trace->sources[i].unexplained;
	for (uint32_t i = 0; i < trace->activities_count; i++)
		untimed += trace->activities[i].untimed != RECORD_UNTIMED_NO;
	sequence_packet_begin(sequence);
	mark = proto_begin(packet, PACKET_TRACE_ATTRIBUTES);
	put_attribute(packet, "dagtap.version", DAGTAP_VERSION, 0);
	put_attribute(packet, "dagtap.command", trace_text(trace, trace->command), 0);
	put_attribute(packet, "dagtap.exit_status", NULL, trace->exit_status);
	put_attribute(packet, "dagtap.state", ledger_state_text(trace), 0);
	put_attribute(packet, "dagtap.activities", NULL, trace->activities_count);
	put_attribute(packet, "dagtap.untimed", NULL, (int64_t)untimed);
	put_attribute(packet, "dagtap.unexplained", NULL, (int64_t)unexplained);
	proto_end(packet, mark);
	sequence_packet_end(sequence);
}

static void put_gpu_extra(struct proto *packet, const char *key, uint64_t value)
{
	char digits[24];
	size_t mark = proto_begin(packet, GPU_EXTRA);

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	proto_put_text(packet, GPU_EXTRA_KEY, key);
	proto_put_text(packet, GPU_EXTRA_VALUE, digits);
	proto_end(packet, mark);
}

static void put_gpu(struct sequence *sequence, const struct trace_agent *agent)
{
	const struct trace *trace = sequence->trace;
	struct proto *packet = &sequence->packet;
	const char *uuid = trace_text(trace, agent->uuid);
	size_t mark = proto_begin(packet, GPU_INFO_GPUS);

	proto_put_text(packet, GPU_NAME, trace_text(trace, agent->product));
	proto_put_text(packet, GPU_ARCHITECTURE, trace_text(trace, agent->name));
	if (uuid[0] != '\0')
		proto_put_bytes(packet, GPU_UUID, uuid, strlen(uuid));
	put_gpu_extra(packet, "ordinal", agent->gpu_ordinal);
	put_gpu_extra(packet, "compute_units", agent->compute_units);
	put_gpu_extra(packet, "wave_size", agent->wave_size);
	put_gpu_extra(packet, "memory_bytes", agent->memory_bytes);
	proto_end(packet, mark);
}

static void put_gpu_info(struct sequence *sequence, const struct gpus *gpus)
{
	size_t mark;

	if (gpus->count == 0)
		return;
	sequence_packet_begin(sequence);
	mark = proto_begin(&sequence->packet, PACKET_GPU_INFO);
	for (uint32_t gpu = 0; gpu < gpus->count; gpu++)
		put_gpu(sequence, &sequence->trace->agents[gpus->agents[gpu]]);
	proto_end(&sequence->packet, mark);
	sequence_packet_end(sequence);
}

static void put_count(struct proto *packet, const char *name, uint64_t count)
{
	size_t mark = proto_begin(packet, EVENT_ANNOTATIONS);

	proto_put_text(packet, ANNOTATION_NAME, name);
	proto_put_u64(packet, ANNOTATION_UINT, count);
	proto_end(packet, mark);
}

static void put_note(struct proto *packet, const char *name, const char *text)
{
	size_t mark = proto_begin(packet, EVENT_ANNOTATIONS);

	proto_put_text(packet, ANNOTATION_NAME, name);
	proto_put_text(packet, ANNOTATION_STRING, text);
	proto_end(packet, mark);
}

/* Begins an instant on the ledger's track. The caller adds annotations and ends the event and the
 * packet. */
static size_t begin_ledger_event(struct sequence *sequence, uint32_t process, const char *name)
{
	const struct trace *trace = sequence->trace;
	struct proto *packet = &sequence->packet;
	bool known = process < trace->processes_count;
	/* What belongs to no process is shown at the first process's start. Any other time would
	 * make the trace look longer than it is. */
	uint32_t row = known ? process : 0;
	size_t mark = sequence_event_begin(
		sequence, EVENT_INSTANT, perfetto_track_id(PERFETTO_TRACK_LEDGER, 0, 0),
		trace->processes_count ? trace->processes[row].start_ns : 0);

	proto_put_text(packet, EVENT_NAME, name);
	if (known)
		put_count(packet, "pid", trace->processes[process].pid);
	return mark;
}

static void put_source(struct sequence *sequence, const struct trace_source *source)
{
	const struct trace *trace = sequence->trace;
	struct proto *packet = &sequence->packet;
	size_t mark =
		begin_ledger_event(sequence, source->process, trace_text(trace, source->name));

	if (source->has_expected)
		put_count(packet, "expected", source->expected);
	put_count(packet, "received", source->received);
	put_count(packet, "joined", source->joined);
	put_count(packet, "orphan_calls", source->orphan_calls);
	put_count(packet, "orphan_activities", source->orphan_activities);
	put_count(packet, "untimed", source->untimed);
	put_count(packet, "unexplained", source->unexplained);
	for (uint32_t i = 0; i < source->drop_count; i++) {
		const struct trace_drop *drop = &trace->drops[source->drop_first + i];
		char name[128];

		snprintf(name, sizeof(name), "dropped (%s)", trace_text(trace, drop->cause));
		put_count(packet, name, drop->count);
	}
	put_note(packet, "witness", trace_text(trace, source->witness));
	put_note(packet, "state", trace_text(trace, source->state));
	sequence_event_end(sequence, mark);
}

static void put_message(struct sequence *sequence, const struct trace_message *message)
{
	size_t mark =
		begin_ledger_event(sequence, message->process, message->damage ? "damage" : "note");

	put_note(&sequence->packet, "text", trace_text(sequence->trace, message->text));
	sequence_event_end(sequence, mark);
}

int perfetto_put_header(const struct perfetto *perfetto)
{
	struct sequence *sequence = perfetto->sequence;
	const struct trace *trace = sequence->trace;

	sequence_start(sequence);
	put_clock_snapshot(sequence);
	put_attributes(sequence);
	put_gpu_info(sequence, &perfetto->timeline->gpus);
	sequence_packet_begin(sequence);
	sequence_track_end(sequence, perfetto_track_id(PERFETTO_TRACK_LEDGER, 0, 0), 0,
			   "dagtap ledger");
	for (uint32_t i = 0; i < trace->sources_count; i++)
		put_source(sequence, &trace->sources[i]);
	for (uint32_t i = 0; i < trace->messages_count; i++)
		put_message(sequence, &trace->messages[i]);
	return sequence_error(sequence);
}
