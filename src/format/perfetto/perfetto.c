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

static int put_gpus(struct sequence *sequence, const struct gpus *gpus, enum perfetto_form form)
{
	uint32_t total = count_gpus(sequence->trace, gpus);
	struct perfetto_arrows arrows;
	const struct perfetto_gpus all = {sequence, gpus, &arrows};
	int err = perfetto_arrows_init(&arrows, sequence->trace);

	for (uint32_t gpu = 0; gpu < total && !err; gpu++)
		err = form == PERFETTO_STAGES ? perfetto_put_stages(&all, gpu)
					      : perfetto_put_events(&all, gpu);
	perfetto_arrows_release(&arrows);
	return err;
}

static int put_parts(struct sequence *sequence, const struct gpus *gpus, enum perfetto_form form)
{
	int err = perfetto_put_header(sequence, gpus);

	if (!err)
		err = put_gpus(sequence, gpus, form);
	for (uint32_t process = 0; process < sequence->trace->processes_count && !err; process++)
		err = perfetto_put_process(sequence, process, form);
	return err;
}

static int write_trace(const struct trace *trace, FILE *out, enum perfetto_form form)
{
	struct gpus gpus;
	struct sequence sequence;
	int err = gpus_init(&gpus, trace);

	if (err)
		return err;
	err = sequence_init(&sequence, trace, out);
	if (!err) {
		err = put_parts(&sequence, &gpus, form);
		sequence_release(&sequence);
	}
	gpus_release(&gpus);
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
