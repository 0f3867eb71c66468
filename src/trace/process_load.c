/* The state of loading one process: its release, and messages about it (process_load.h). */
#include "trace/process_load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/clock_fit.h"
#include "trace/create.h"
#include "trace/graph/expect.h"
#include "trace/join/completions.h"
#include "trace/row_table.h"

void activity_runs_release(struct activity_runs *runs)
{
	for (unsigned i = 0; i < WORKERS_MOST; i++)
		free(runs->of_worker[i]);
	free(runs->parts);
	*runs = (struct activity_runs){0};
}

void call_notes_release(struct call_notes *notes)
{
	free(notes->activity_firsts);
	free(notes->programmatic);
	free(notes->stream_apis);
	*notes = (struct call_notes){0};
}

void process_load_release(struct process_load *load)
{
	for (int i = 0; i < RECORD_TYPE_COUNT; i++)
		raw_release(&load->raw.lists[i]);
	free(load->kernels);
	raw_release(&load->raw.functions);
	for (uint32_t i = 0; i < load->clock_count; i++)
		clock_fit_release(&load->clocks[i]);
	free(load->clocks);
	idset_release(&load->raw.cids);
	idset_release(&load->raw.scope_ids);
	idset_release(&load->raw.barrier_ids);
	idset_release(&load->packets.ids);
	idset_release(&load->copies.ids);
	completions_release(load);
	activity_runs_release(&load->raw.runs);
	free(load->tally.expected);
	call_notes_release(&load->call_notes);
	work_table_release(&load->works);
	work_numbering_release(&load->work_numbering);
	graph_input_release(&load->graph_input);
	free(load->call_events.rows);
	free(load->updates.rows);
	switches_release(&load->switches);
	cuda_load_release(&load->cuda);
	if (load->expects)
		expect_release(load->expects, load->trace->graphs_count - load->first.graphs);
}

bool load_has_losses(const struct process_load *load, enum record_class class)
{
	uint64_t lost = load->raw.damage + load->raw.counts.missing[class];

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		lost += load->raw.counts.dropped[class][cause];
	return lost != 0;
}

int load_message(struct process_load *load, bool damage, const char *format, ...)
{
	struct trace_message *message = trace_add(load->trace, messages);
	char text[600];
	va_list args;

	if (!message)
		return -ENOMEM;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	*message = (struct trace_message){
		.process = load->process,
		.damage = damage,
		.text = strtab_intern_z(load->strings, text),
	};
	/* The strings may have moved. The caller goes on reading them. */
	return trace_seal(load->trace);
}
