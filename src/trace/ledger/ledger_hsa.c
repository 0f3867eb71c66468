/* Lines of what HSA's queues and copy wrappers brought: dispatches, barrier packets, packets,
 * copies and completions. What CUPTI delivered in the same process is in the lines of its class. */
#include "trace/ledger/ledger_state.h"

static void add_dispatches(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	struct trace_source *source = ledger_add_class_line(
		ledger, "hsa.dispatch", RECORD_CLASS_DISPATCH,
		totals->gate_count ? "queue gates" : NULL,
		totals->gate_dispatches + ledger_witness_or_0(ledger, WITNESS_CUDA_KERNELS));

	if (!source)
		return;
	source->joined = totals->dispatches_joined;
	source->orphan_activities = totals->dispatches - totals->dispatches_joined;
	source->untimed = totals->dispatches_untimed;
	ledger_judge_lost_calls(ledger, source, totals->dispatches_lost_call);
	source->unexplained += ledger->load->tally.duplicates;
}

static void add_copies(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	struct trace_source *source;
	uint64_t started = 0;
	bool is_counted = ledger_find_witness(ledger, WITNESS_HSA_COPIES_STARTED, &started);

	source = ledger_add_class_line(ledger, "hsa.copy", RECORD_CLASS_COPY,
				       is_counted ? "copy wrappers" : NULL,
				       started + ledger_witness_or_0(ledger, WITNESS_CUDA_COPIES));
	if (!source)
		return;
	source->joined = totals->copies_joined;
	source->orphan_activities = totals->copies - totals->copies_joined;
	source->untimed = totals->copies_untimed;
	ledger_judge_lost_calls(ledger, source, totals->copies_lost_call);
}

/* Compares the packets that the gates passed on with the write index up to which the device
 * reads. */
static void add_packets(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;
	uint64_t cut = ledger_packets_cut(ledger);
	uint64_t unrecorded = ledger_packets_unrecorded(ledger);
	struct trace_source *source;

	if (!totals->gate_count || ledger->witnesses_are_late)
		return;
	source = ledger_add_source(ledger, "hsa.packet");
	if (!source)
		return;
	ledger_set_expected(ledger, source, "device write indices", totals->write_indices + cut);
	source->received = totals->gate_dispatches + totals->gate_barriers + totals->gate_others;
	source->joined = source->received;
	ledger_add_drop(ledger, source, TRACE_DROP_EDGE, PACKETS_CUT, cut);
	ledger_add_drop(ledger, source, TRACE_DROP_LOST, PACKETS_UNRECORDED, unrecorded);
	source->unexplained = difference(totals->write_indices, source->received + unrecorded);
}

/* Some of the dropped completions belong to submissions that were dropped too, and a kept
 * completion of a dropped submission has no row. Together they are at most as many as there are
 * dropped submissions. */
static uint64_t unexplained_dones(const struct ledger *ledger, const struct trace_source *source,
				  uint64_t dropped)
{
	uint64_t accounted = source->joined + dropped;
	uint64_t of_nobody = source->orphan_activities;
	uint64_t submissions_lost = ledger_drops(ledger, RECORD_CLASS_DISPATCH) +
				    ledger_drops(ledger, RECORD_CLASS_COPY);

	if (accounted < source->expected)
		return source->expected - accounted + of_nobody;
	of_nobody += accounted - source->expected;
	return of_nobody > submissions_lost ? of_nobody - submissions_lost : 0;
}

/* The ring may have reused either half of a pair of submission and completion. */
static void judge_ringed_dones(struct ledger *ledger, struct trace_source *source)
{
	const struct process_load *load = ledger->load;
	uint64_t submissions_dropped = ledger_ring_dropped(ledger, RECORD_CLASS_DISPATCH) +
				       ledger_ring_dropped(ledger, RECORD_CLASS_COPY);
	uint64_t waiting =
		load->tally.awaited > source->joined ? load->tally.awaited - source->joined : 0;
	uint64_t of_nobody;

	ledger_set_expected(ledger, source, "writers",
			    load->raw.counts.attempted[RECORD_CLASS_DONE]);
	of_nobody = ledger_excuse_edge(ledger, source, source->orphan_activities,
				       submissions_dropped, "completions whose submission was");
	waiting = ledger_excuse_edge(ledger, source, waiting,
				     ledger_ring_dropped(ledger, RECORD_CLASS_DONE),
				     "submissions whose completion was");
	source->orphan_activities = of_nobody;
	source->unexplained = load->raw.counts.missing[RECORD_CLASS_DONE];
	if (!ledger->truncated && !ledger_losses(ledger, RECORD_CLASS_DONE) &&
	    !ledger_losses(ledger, RECORD_CLASS_DISPATCH) &&
	    !ledger_losses(ledger, RECORD_CLASS_COPY))
		source->unexplained += of_nobody + waiting;
}

static void add_dones(struct ledger *ledger)
{
	struct process_load *load = ledger->load;
	struct trace_source *source = ledger_add_source(ledger, "hsa.done");
	uint64_t dropped = ledger_drops(ledger, RECORD_CLASS_DONE);
	uint64_t interrupted = 0;

	if (!source)
		return;
	ledger_set_expected(ledger, source, "submissions", ledger->load->tally.awaited);
	source->received = load->raw.type_counts[RECORD_DISPATCH_DONE] +
			   load->raw.type_counts[RECORD_COPY_DONE];
	source->joined = source->received - load->tally.unmatched_done;
	source->orphan_activities = load->tally.unmatched_done;
	ledger_add_class_drops(ledger, source, RECORD_CLASS_DONE);
	if (ledger_ring_dropped(ledger, RECORD_CLASS_DONE)) {
		judge_ringed_dones(ledger, source);
		return;
	}
	if (ledger->truncated && source->joined + dropped < source->expected) {
		uint64_t unfinished = source->expected - source->joined - dropped;

		ledger_add_drop(ledger, source, TRACE_DROP_EDGE, "recording ends before",
				unfinished);
		dropped += unfinished;
	}
	if (ledger_find_witness(ledger, WITNESS_HSA_COMPLETIONS_UNRECORDED, &interrupted) &&
	    source->joined + dropped < source->expected) {
		uint64_t missing = source->expected - source->joined - dropped;
		uint64_t count = missing < interrupted ? missing : interrupted;

		ledger_add_drop(ledger, source, TRACE_DROP_EDGE,
				"the program ended while they were collected", count);
		dropped += count;
	}
	source->unexplained = unexplained_dones(ledger, source, dropped);
}

void ledger_add_hsa(struct ledger *ledger)
{
	const struct totals *totals = &ledger->totals;

	add_dispatches(ledger);
	ledger_add_class_line(ledger, "hsa.barrier", RECORD_CLASS_BARRIER,
			      totals->gate_count ? "queue gates" : NULL,
			      totals->gate_barriers +
				      ledger_witness_or_0(ledger, WITNESS_CUDA_OTHERS));
	add_packets(ledger);
	add_copies(ledger);
	add_dones(ledger);
}
