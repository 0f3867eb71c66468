/* The ledger: compares, for every source, the count of an independent witness with the rows.
 *
 * Witnesses: the counts that each writer keeps apart from its records ("writers" in the output),
 * the wrappers' count of entered calls, the counts of the queue gates, the devices' own write
 * indices, the software GPU's counters, the nodes of graphs. Only the writers' counts are always as
 * new as the rows. The other witnesses were written some time before the end, and are left out, in
 * a truncated recording, in one whose last tick of the housekeeper never ended, and where witnesses
 * themselves found no room.
 *
 * A record whose chunk a ring recording reused is a drop like the others, exact by class, but it is
 * no fault. Where one half of a pair (a call and its activity, a submission and its completion) was
 * reused, the other half is neither an orphan nor unexplained, up to the number of reused
 * records. */
#include "trace/ledger/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ledger/ledger_state.h"
#include "trace/load/expect_call.h"

static uint64_t by_source_ns(const struct raw *row)
{
	return ((const struct record_source *)row->record)->ns;
}

/* Of all that a source says about itself the last record counts, whichever thread wrote it. */
static bool is_said_later(const struct raw_list *list, uint32_t at)
{
	const struct record_source *record = list->rows[at].record;

	while (++at < list->count) {
		const struct record_source *later = list->rows[at].record;

		if (!memcmp(later->name, record->name, sizeof(record->name)))
			return true;
	}
	return false;
}

/* Puts what a source says about itself into its line, or into a new line. */
static void add_states(struct ledger *ledger, uint32_t first)
{
	static const char *const states[] = {"on", "on", "partial", "absent"};
	struct process_load *load = ledger->load;
	struct raw_list *list = &load->raw.lists[RECORD_SOURCE];

	if (raw_sort(list, by_source_ns) < 0) {
		ledger->failed = true;
		return;
	}
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_source *record = list->rows[i].record;
		trace_string name =
			strtab_intern_field(load->strings, record->name, sizeof(record->name));
		uint32_t at = first;
		struct trace_source *source;

		if (is_said_later(list, i))
			continue;
		while (at < load->trace->sources_count && load->trace->sources[at].name != name)
			at++;
		source = at < load->trace->sources_count
				 ? &load->trace->sources[at]
				 : ledger_add_source(ledger, load->strings->strings[name]);
		if (!source)
			return;
		source->state = strtab_intern_z(
			load->strings, states[record->header.tag < 4 ? record->header.tag : 0]);
		ledger_say(ledger, source,
			   strtab_intern(load->strings, record->text, record->text_bytes));
	}
}

/* If both vendors' libraries work in one process, HIP's lines stand for both. */
static bool is_cuda_alone(const struct ledger *ledger)
{
	return cuda_is_there(&ledger->load->cuda) && !ledger->totals.gate_count &&
	       !ledger_witness_or_0(ledger, WITNESS_HIP_CALLS);
}

static void add_hsa_and_hip(struct ledger *ledger)
{
	ledger_add_calls(ledger, "hip", RECORD_DOMAIN_HIP);
	ledger_add_hsa(ledger);
	ledger_add_softgpu(ledger);
	if (cuda_is_there(&ledger->load->cuda))
		ledger_add_cuda_losses(ledger);
}

static void add_all(struct ledger *ledger)
{
	uint32_t first = ledger->load->trace->sources_count;

	if (is_cuda_alone(ledger))
		ledger_add_cuda(ledger);
	else
		add_hsa_and_hip(ledger);
	ledger_add_unknown_queues(ledger);
	ledger_add_graphs(ledger);
	ledger_add_launches(ledger);
	ledger_add_class_line(ledger, "scope", RECORD_CLASS_SCOPE, NULL, 0);
	ledger_add_class_line(ledger, "graph.record", RECORD_CLASS_GRAPH, NULL, 0);
	ledger_add_class_line(ledger, "meta", RECORD_CLASS_META, NULL, 0);
	add_states(ledger, first);
}

int ledger_load(struct process_load *load)
{
	struct ledger ledger = {
		.load = load,
		.truncated = load->trace->processes[load->process].state == TRACE_TRUNCATED,
	};
	int err;

	if (load->without_ledger)
		return 0;
	ledger.ended_early =
		ledger.truncated || ledger_witness_or_0(&ledger, WITNESS_SESSION_PARTS_NOT_STOPPED);
	err = ledger_count(&ledger);
	ledger.witnesses_are_late = ledger.ended_early || ledger_losses(&ledger, RECORD_CLASS_META);
	if (err == 0) {
		expect_calls_settle(load);
		ledger.without_call_left = ledger.totals.without_call;
		ledger.cut_left = ledger_packets_cut(&ledger);
		ledger.unrecorded_left = ledger_packets_unrecorded(&ledger);
		add_all(&ledger);
	}
	free(ledger.barriers_of_call);
	free(ledger.stream_tails);
	return ledger.failed ? -ENOMEM : err;
}

static bool is_of_device(const struct trace *trace, const struct trace_source *source)
{
	return !strncmp(trace_text(trace, source->name), "softgpu.", strlen("softgpu."));
}

static bool is_damaged(const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		if (trace->messages[i].damage)
			return true;
	}
	return false;
}

static bool is_closed(const struct trace *trace, bool with_device)
{
	for (uint32_t i = 0; i < trace->sources_count; i++) {
		if (trace->sources[i].unexplained &&
		    (with_device || !is_of_device(trace, &trace->sources[i])))
			return false;
	}
	return !is_damaged(trace);
}

const char *ledger_state_text(const struct trace *trace)
{
	if (is_damaged(trace))
		return "damaged";
	return trace->truncated ? "truncated" : "complete";
}

bool ledger_is_closed(const struct trace *trace)
{
	return is_closed(trace, true);
}

bool ledger_is_device_alone(const struct trace *trace)
{
	return is_closed(trace, false) && !is_closed(trace, true);
}

uint64_t ledger_dropped(const struct trace *trace, const struct trace_source *source)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < source->drop_count; i++)
		sum += trace->drops[source->drop_first + i].count;
	return sum;
}

/* The lines of the software GPU and of launches count records of other lines again, and their drops
 * too. */
static bool is_second_count(const struct trace *trace, const struct trace_source *source)
{
	return is_of_device(trace, source) ||
	       !strcmp(trace_text(trace, source->name), "hip.launch");
}

uint64_t ledger_lost(const struct trace *trace)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < trace->sources_count; i++) {
		const struct trace_source *source = &trace->sources[i];

		if (is_second_count(trace, source))
			continue;
		for (uint32_t at = 0; at < source->drop_count; at++) {
			const struct trace_drop *drop = &trace->drops[source->drop_first + at];

			if (drop->kind == TRACE_DROP_LOST)
				sum += drop->count;
		}
	}
	return sum;
}
