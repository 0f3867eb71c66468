/* The Perfetto writer: the native trace format in two forms (docs/format/perfetto.md). This file
 * calls the parts in order. */
#include <string.h>

#include "format/format.h"
#include "format/perfetto/perfetto_parts.h"

/* The number of GPUs, plus one if an activity is on no GPU. */
static uint32_t count_gpus(const struct trace *trace, const struct gpus *gpus)
{
	for (uint32_t row = 0; row < trace->activities_count; row++) {
		if (gpus_find(gpus, trace->activities[row].agent) == gpus->host)
			return gpus->count + 1;
	}
	return gpus->count;
}

static int put_parts(const struct perfetto *perfetto)
{
	const struct trace *trace = perfetto->timeline->trace;
	uint32_t gpus = count_gpus(trace, &perfetto->timeline->gpus);
	int err = perfetto_put_header(perfetto);

	for (uint32_t gpu = 0; gpu < gpus && !err; gpu++)
		err = perfetto->form == PERFETTO_STAGES ? perfetto_put_stages(perfetto, gpu)
							: perfetto_put_events(perfetto, gpu);
	for (uint32_t process = 0; process < trace->processes_count && !err; process++)
		err = perfetto_put_process(perfetto, process);
	if (!err)
		err = perfetto_put_projection(perfetto);
	if (!err)
		err = perfetto_put_counters(perfetto);
	return err;
}

static int write_trace(const struct trace *trace, FILE *out, enum perfetto_form form)
{
	struct timeline timeline = {0};
	struct perfetto_arrows arrows = {0};
	struct perfetto_projection projection = {0};
	struct sequence sequence = {0};
	const struct perfetto perfetto = {&sequence, &timeline, &arrows, &projection, form};
	int err = timeline_init(&timeline, trace);

	if (!err)
		err = perfetto_arrows_init(&arrows, trace);
	if (!err)
		err = perfetto_projection_init(&projection, &timeline);
	if (!err)
		err = sequence_init(&sequence, trace, out);
	if (!err) {
		timeline_deal_calls(&timeline);
		timeline_deal_scopes(&timeline, false);
		err = put_parts(&perfetto);
	}
	sequence_release(&sequence);
	perfetto_projection_release(&projection);
	perfetto_arrows_release(&arrows);
	timeline_release(&timeline);
	return err;
}

static int write_stages(const struct trace *trace, FILE *out, const struct format_options *options,
			struct dagtap_error *error)
{
	int code = write_trace(trace, out, PERFETTO_STAGES);

	return code < 0 ? dagtap_error_set(error, code, "perfetto: %s", strerror(-code)) : 0;
}

static int write_events(const struct trace *trace, FILE *out, const struct format_options *options,
			struct dagtap_error *error)
{
	int code = write_trace(trace, out, PERFETTO_EVENTS);

	return code < 0 ? dagtap_error_set(error, code, "perfetto-events: %s", strerror(-code)) : 0;
}

const struct format format_perfetto = {
	.name = "perfetto",
	.extension = ".pftrace",
	.help = "for ui.perfetto.dev and trace_processor (docs/format/perfetto.md)",
	.write = write_stages,
};

const struct format format_perfetto_events = {
	.name = "perfetto-events",
	.extension = ".pftrace",
	.help = "the same for Perfetto before v55: GPU work as track events, with arrows",
	.write = write_events,
};
