/* The stage of clocks: makes a fit for each agent of a process from its ANCHOR records. */
#include <errno.h>
#include <stdlib.h>

#include "trace/clock_fit.h"
#include "trace/process_load.h"

static uint32_t collect(const struct process_load *load, uint32_t agent_index,
			struct clock_anchor *ret_anchors)
{
	const struct raw_list *list = &load->raw.lists[RECORD_ANCHOR];
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_anchor *record = list->rows[i].record;

		if (record->header.tag != agent_index)
			continue;
		ret_anchors[count++] = (struct clock_anchor){
			.tick = record->tick,
			.host_ns = (int64_t)record->host_ns,
			.uncertainty_ns = record->uncertainty_ns,
		};
	}
	return count;
}

static uint64_t tick_hz(const struct process_load *load, uint32_t agent_index)
{
	const struct raw_list *list = &load->raw.lists[RECORD_AGENT];

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_agent *record = list->rows[i].record;

		if (record->header.tag == agent_index)
			return record->tick_hz;
	}
	return 0;
}

int clocks_load(struct process_load *load)
{
	uint32_t agent_count = load->trace->agents_count - load->first.agents;
	struct clock_anchor *anchors =
		calloc(load->raw.lists[RECORD_ANCHOR].count + 1, sizeof(*anchors));
	int err = anchors ? 0 : -ENOMEM;

	load->clocks = calloc(agent_count + 1, sizeof(*load->clocks));
	if (!load->clocks)
		err = -ENOMEM;
	for (uint32_t i = 0; i < agent_count && err == 0; i++) {
		struct trace_agent *agent = &load->trace->agents[load->first.agents + i];
		struct clock_fit *fit = &load->clocks[i];
		uint32_t count = collect(load, agent->index, anchors);

		err = clock_fit_init(fit, anchors, count, tick_hz(load, agent->index));
		load->clock_count = i + 1;
		if (err == -ENODATA)
			err = 0;
		agent->anchor_count = fit->count;
		agent->fit_error_ns = fit->residual_ns;
	}
	free(anchors);
	return err;
}
